import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastProbe
import HoldfastPublishing
import HoldfastSigning

/// Asks the hosts that a change of a list concerns, and judges by the outlook whether it locks clients out that get in
/// without it.
struct ListChangeCheck: ParsableArguments {
    /// What `--force` overrides.
    enum Override: String, ExpressibleByArgument, CaseIterable {
        /// Clients would be locked out of a host that was asked.
        case refused
        /// A host could not be asked at an address, so nobody knows.
        case unreachable
    }

    @Option(
        help: ArgumentHelp(
            "Change the list even if clients would be locked out (refused) or a host could not be asked (unreachable). "
                + "Repeatable.", valueName: "name"))
    var force: [Override] = []

    private static let hostsAtOnce = 8

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
        let anchors = try await connection.anchors()
        let probe = try await connection.probe()
        let dialed = try hosts.map { try connection.dialed($0) }
        let shown = await SideBySide.map(dialed, atMost: Self.hostsAtOnce) { host in
            PublicationOutlook.Host(
                host.name, port: host.port, shown: await probe.ask(host).presentations(at: now))
        }
        let judgment = try ListChangeJudgment(
            from: old, to: new, hosts: shown,
            platforms: [.init(connection.ca ?? "this machine's anchors", trusting: anchors)], at: now)
        var open: [Override] = []
        for finding in judgment.findings {
            let kind: Override = finding.kind == .refused ? .refused : .unreachable
            let isOverridden = force.contains(kind)
            if !isOverridden { open.append(kind) }
            Output.standard.complain(
                "\(isOverridden ? "warning: " : "")\(kind.rawValue): \(SafeText.escapedLine(finding.text))")
        }
        guard open.isEmpty else {
            Output.standard.complain("\(list) is left as it is")
            throw NegativeAnswer(status: open.contains(.refused) ? .negativeAnswer : .couldNotFindOut)
        }
    }
}
