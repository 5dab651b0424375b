import ArgumentParser
import Foundation
import HoldfastPublishing

/// What clients may hold that no host shows: what was published before, and what builds of the app carry.
struct HeldDocumentOptions {
    let builds: ShippedPinOptions
    let earlier: ReplacedDocumentOptions
    /// For how long a client may not have asked; nil if nobody says it.
    let givenStaleness: TimeSpan?

    var isEmpty: Bool { builds.isEmpty && earlier.isEmpty }

    /// For how long a client may not have asked, whatever it holds.
    var staleness: TimeSpan { givenStaleness ?? .usualStaleness }

    /// For how long a client of documents may not have asked.
    func staleness(of documents: [PublicationOutlook.Document], at time: Date) -> Duration {
        givenStaleness.map { .seconds($0.seconds) }
            ?? PublicationOutlook.Inputs.usualStaleness(of: documents, at: time)
    }
}

/// Which clients must get in, for verbs that publish pins or watch them.
struct ClientOptions {
    let held: HeldDocumentOptions
    let platforms: PlatformOptions

    var isEmpty: Bool { held.isEmpty && platforms.isEmpty }
}

/// How old what clients hold may be.
struct StalenessOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The longest time for which a client may not have asked for a new document. Without it 7 days, or what the "
                + "refresh of a repository's pins says if that is longer.", valueName: "span"),
        transform: TimeSpan.read)
    var staleness: TimeSpan?
}

extension TimeSpan {
    /// For how long a client may not have asked, if nobody says it.
    static let usualStaleness = TimeSpan(seconds: PublicationTiming.usualStaleness.components.seconds)
}

/// Whether hosts are asked.
struct OfflineOptions: ParsableArguments {
    @Flag(help: "Ask no host: say only what is certain whatever the hosts show.")
    var offline = false
}

/// A verb that is told for which clients it judges.
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
