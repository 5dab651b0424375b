import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning

/// Probes the hosts that a change of a list concerns, and evaluates whether it locks out clients that can connect now,
/// and whether all other clients can connect.
struct ListChangeCheck: ParsableArguments {
    @OptionGroup
    var overrides: HostOverrides

    @OptionGroup
    var builds: ShippedPinOptions

    @OptionGroup
    var earlier: ReplacedDocumentOptions

    @OptionGroup
    var platforms: PlatformOptions

    /// - Parameters:
    ///   - change: the current list, or nil if it does not exist, and the changed list.
    ///   - names: the names whose entries change. Names that are not hosts cannot be probed.
    ///   - key: the key that signs the list.
    ///   - staleness: how long a client may continue to use an older list.
    /// - Returns: the remarks for after the change; nil if no host was probed.
    /// - Throws: `NegativeAnswer` after all findings were printed, if the change must not be made.
    func check(
        _ change: (old: PublishedPins?, new: PublishedPins), concerning names: [String], of list: String,
        signedBy key: DocumentPublicKey, staleness: TimeSpan, by connection: ConnectionOptions, at now: Date
    ) async throws -> SettledChange? {
        let (old, new) = change
        let changed = Set(names.map { ASCIIText.lowercased($0) })
        // For a new name, clients have used the entries of a wildcard so far.
        let before = old?.hosts ?? []
        let hosts = (before + new.hosts.filter { !before.contains($0) })
            .filter { changed.contains(ASCIIText.lowercased($0.name)) }
        let undialed = (old ?? new).namesThatCannotBeDialed.filter { changed.contains(ASCIIText.lowercased($0)) }
        let patterns = undialed.map { SafeText.escapedLine($0) }.joined(separator: ", ")
        if !undialed.isEmpty {
            Output.standard.remark("warning: not asked, because they name no host that can be dialed: \(patterns)")
        }
        guard !overrides.isOffline else {
            guard !(hosts.isEmpty && undialed.isEmpty) else { return nil }
            Output.standard.remark("warning: offline: no host was asked whether clients get in")
            return nil
        }
        let consequence = "\(list) is \(old == nil ? "not made" : "left as it is")"
        guard !hosts.isEmpty else {
            guard !undialed.isEmpty else { return nil }
            let words = "no host can be asked, since they are patterns: \(patterns)"
            try overrides.settle([.init(kind: .unreachable, host: nil, text: words)], else: consequence)
            return nil
        }
        let carried = try builds.documents(at: now).map(\.document)
        var subject = ChangeOutlook.Subject(
            from: (old.map { [$0.document] }) ?? [], to: [new.document],
            after: try held(before: old, signedBy: key, at: now), beside: carried,
            appVersions: builds.appVersions(carrying: carried), staleness: .seconds(staleness.seconds))
        subject.isCompared = true
        let shown = try await AskedHosts.shown(by: hosts, connection, at: now)
        let asked = try await AskedChange(
            subject, at: shown.hosts, on: platforms, by: connection, remarks: shown.remarks)
        return try overrides.settle(asked, else: consequence)
    }

    /// The documents that clients may hold from before the list.
    private func held(
        before old: PublishedPins?, signedBy key: DocumentPublicKey, at now: Date
    ) throws(CommandFailure) -> EarlierDocuments {
        var held = EarlierDocuments(premises: [
            old == nil
                ? "it is the first list: nothing was published before it that --replaced does not name"
                : "what was published before the list as it is now is not known: name it with --replaced"
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
