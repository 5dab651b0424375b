import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning

/// Asks the hosts that a change of a list concerns, and judges by the outlook whether it locks clients out that get in
/// without it, and whether all others get in.
struct ListChangeCheck: ParsableArguments {
    @OptionGroup
    var overrides: HostOverrides

    @OptionGroup
    var builds: ShippedPinOptions

    @OptionGroup
    var earlier: ReplacedDocumentOptions

    @OptionGroup
    var platforms: PlatformOptions

    /// Whether all options have their defaults.
    var isEmpty: Bool { overrides.force.isEmpty && builds.isEmpty && earlier.isEmpty && platforms.isEmpty }

    /// - Parameters:
    ///   - change: the list as it is, and as it would be.
    ///   - names: the names whose entries change. Those that are no hosts cannot be asked.
    ///   - key: the key that signs the list.
    ///   - staleness: how long a client may go on with an older list.
    /// - Returns: what there is to say after the change; nil if no host was asked.
    /// - Throws: `NegativeAnswer` after everything was said, if the change must not be made.
    func check(
        _ change: (old: PublishedPins, new: PublishedPins), concerning names: [String], of list: String,
        signedBy key: DocumentPublicKey, staleness: TimeSpan, by connection: ConnectionOptions, at now: Date
    ) async throws -> SettledChange? {
        let (old, new) = change
        let changed = Set(names.map { ASCIIText.lowercased($0) })
        // A name may be new, and its clients have had the entries of a wildcard so far.
        let hosts = (old.hosts + new.hosts.filter { !old.hosts.contains($0) })
            .filter { changed.contains(ASCIIText.lowercased($0.name)) }
        let undialed = old.namesThatCannotBeDialed.filter { changed.contains(ASCIIText.lowercased($0)) }
        if !undialed.isEmpty {
            let names = undialed.map { SafeText.escapedLine($0) }.joined(separator: ", ")
            Output.standard.remark("warning: not asked, because they name no host that can be dialed: \(names)")
        }
        guard !hosts.isEmpty else { return nil }
        guard !overrides.isOffline else {
            Output.standard.remark("warning: offline: no host was asked whether clients get in")
            return nil
        }
        let carried = try builds.documents(at: now).map(\.document)
        var subject = ChangeOutlook.Subject(
            from: [old.document], to: [new.document], after: try held(signedBy: key, at: now), beside: carried,
            appVersions: builds.appVersions(carrying: carried), staleness: .seconds(staleness.seconds))
        subject.isCompared = true
        let shown = try await AskedHosts.shown(by: hosts, connection, at: now)
        let asked = try await AskedChange(
            subject, at: shown.hosts, on: platforms, by: connection, remarks: shown.remarks)
        return try overrides.settle(asked, else: "\(list) is left as it is")
    }

    /// What clients may hold from before the list.
    private func held(signedBy key: DocumentPublicKey, at now: Date) throws(CommandFailure) -> EarlierDocuments {
        var held = EarlierDocuments(premises: [
            "what was published before the list as it is now is not known: name it with --replaced"
        ])
        held.name(
            try earlier.documents { data, name throws(CommandFailure) in
                try CommandFailure.rethrowing { () throws(PublishingError) in
                    [try PublishedPins(list: data, named: name, key: key, at: now).document]
                }
            })
        return held
    }
}
