import ArgumentParser

/// The renewal interval of a repository, which none of its files states.
struct RenewalOptions: ParsableArguments {
    @Option(
        name: .customLong("renewed-every"),
        help: ArgumentHelp(
            "Of a repository: the longest time between two renewals, which must be going on. Without it, the end of its "
                + "timestamp counts.", valueName: "span"),
        transform: TimeSpan.read)
    var renewedEvery: TimeSpan?

    @Option(
        name: .customLong("lifetime"),
        help: ArgumentHelp("Of a repository: how long each renewal makes the timestamp last.", valueName: "span"),
        transform: TimeSpan.read)
    var lifetime = TimeSpan.days(14)
}
