import ArgumentParser
import Foundation
import HoldfastPublishing

/// The documents that clients may hold and no host presents: earlier publications, and pins in builds of the app.
struct HeldDocumentOptions {
    let builds: ShippedPinOptions
    let earlier: ReplacedDocumentOptions
    /// The time that a client may go without updating; nil if no option states it.
    let givenStaleness: TimeSpan?

    var isEmpty: Bool { builds.isEmpty && earlier.isEmpty }

    /// The time that any client may go without updating.
    var staleness: TimeSpan { givenStaleness ?? .usualStaleness }

    /// The time that a client of documents may go without updating.
    func staleness(of documents: [PublicationOutlook.Document], at time: Date) -> Duration {
        givenStaleness.map { .seconds($0.seconds) }
            ?? PublicationOutlook.Inputs.usualStaleness(of: documents, at: time)
    }
}

/// The clients that must be able to connect, for verbs that publish pins or monitor them.
struct ClientOptions {
    let held: HeldDocumentOptions
    let platforms: PlatformOptions

    var isEmpty: Bool { held.isEmpty && platforms.isEmpty }
}

/// The maximum age of the documents that clients hold.
struct StalenessOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The longest time for which a client may not have asked for a new document. Without it 7 days, or what the "
                + "refresh of a repository's pins says if that is longer.", valueName: "span"),
        transform: TimeSpan.read)
    var staleness: TimeSpan?
}

extension TimeSpan {
    /// The time that a client may go without updating, if no option states it.
    static let usualStaleness = TimeSpan(seconds: PublicationTiming.usualStaleness.components.seconds)
}

/// Whether hosts are probed.
struct OfflineOptions: ParsableArguments {
    @Flag(help: "Ask no host: say only what is certain whatever the hosts show.")
    var offline = false
}

/// A verb with options for the clients that it evaluates.
///
/// It declares each group of options by itself: a debug build of ArgumentParser checks a group several times for each
/// group that holds it, and needs seconds for three groups within each other.
protocol ChoosesClients {
    var builds: ShippedPinOptions { get }
    var earlier: ReplacedDocumentOptions { get }
    var age: StalenessOptions { get }
    var platforms: PlatformOptions { get }
}

extension ChoosesClients {
    var held: HeldDocumentOptions {
        HeldDocumentOptions(builds: builds, earlier: earlier, givenStaleness: age.staleness)
    }

    var clients: ClientOptions { ClientOptions(held: held, platforms: platforms) }
}
