import ArgumentParser

/// What an outlook needs to know that no host shows: which builds are in the field, what clients may still hold, and
/// where they run.
struct OutlookOptions: ParsableArguments {
    @OptionGroup
    var clients: ClientOptions

    var held: HeldDocumentOptions { clients.held }
    var platforms: PlatformOptions { clients.platforms }

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

    var isEmpty: Bool { held.isEmpty && platforms.isEmpty && renewedEvery == nil }
}
