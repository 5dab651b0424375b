import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning

/// Asks the hosts that a change of a list concerns, and judges by the outlook whether it locks clients out that get in
/// without it.
struct ListChangeCheck: ParsableArguments {
    @OptionGroup
    var overrides: HostOverrides

    /// - Parameters:
    ///   - change: the list as it is, and as it would be.
    ///   - names: the names whose entries change. Those that are no hosts cannot be asked.
    /// - Throws: `NegativeAnswer` after everything was said, if the change must not be made.
    func check(
        _ change: (old: PublishedPins, new: PublishedPins), concerning names: [String], of list: String,
        by connection: ConnectionOptions, at now: Date
    ) async throws {
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
        guard !hosts.isEmpty else { return }
        guard !overrides.isOffline else {
            Output.standard.remark("warning: offline: no host was asked whether clients get in")
            return
        }
        let anchors = try await connection.anchors()
        let shown = try await AskedHosts.shown(by: hosts, connection, at: now).hosts
        let judgment = try ListChangeJudgment(
            from: old, to: new, hosts: shown,
            platforms: [.init(connection.ca ?? "this machine's anchors", trusting: anchors)], at: now)
        try overrides.settle(judgment.findings, else: "\(list) is left as it is")
    }
}
