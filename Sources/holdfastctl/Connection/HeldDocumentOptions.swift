import ArgumentParser

/// What clients may hold that no host shows: what was published before, and what builds of the app carry.
struct HeldDocumentOptions: ParsableArguments {
    @OptionGroup
    var builds: ShippedPinOptions

    @OptionGroup
    var earlier: ReplacedDocumentOptions

    @Option(
        help: ArgumentHelp(
            "The longest time for which a client may not have asked for a new document.", valueName: "span"),
        transform: TimeSpan.read)
    var staleness = TimeSpan.days(30)

    var isEmpty: Bool { builds.isEmpty && earlier.isEmpty }
}

/// Which clients must get in, for verbs that publish pins or watch them.
struct ClientOptions: ParsableArguments {
    @OptionGroup
    var held: HeldDocumentOptions

    @OptionGroup
    var platforms: PlatformOptions
}

/// Whether hosts are asked, and for which clients, for verbs that only report what clients get.
struct AskingOptions: ParsableArguments {
    @Flag(help: "Ask no host: say only what is certain whatever the hosts show.")
    var offline = false

    @OptionGroup
    var clients: ClientOptions

    var held: HeldDocumentOptions { clients.held }
    var platforms: PlatformOptions { clients.platforms }
}
