import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning

/// Probes the hosts of new pins to find out whether clients with these pins can connect.
struct RepositoryPinCheck {
    let rules: PinPublicationCheck
    private let data: Data
    private let name: String
    private let now: Date

    private static let hostsAtOnce = 8

    /// - Parameters:
    ///   - path: the folder's name for messages.
    ///   - end: the end of the timestamp that is published with the pins.
    init(new data: Data, live: PinFile?, path: String, at now: Date, until end: Date) throws(CommandFailure) {
        name = "\(path)/draft/pins.json"
        self.data = data
        self.now = now
        rules = PinPublicationCheck(
            new: try PinFileReading.pinFile(data, named: name), live: live, at: now, until: end)
    }

    /// Connects to every host that can be dialed, at each of its addresses.
    /// - Parameters:
    ///   - change: the other documents that clients may hold.
    ///   - platforms: the platforms of clients.
    /// - Returns: the objections to the publication, each with its name for `--force`; other remarks about the clients;
    ///   and the hosts that were not probed.
    func ask(
        _ connection: ConnectionOptions, about change: RepositoryChange, on platforms: PlatformOptions
    ) async throws -> (findings: [RepositoryOverride.Objection], asked: AskedChange?, remarks: [String]) {
        let published = try pins(data, named: "the new pin file")
        var remarks: [String] = []
        let open = published.namesThatCannotBeDialed
        if !open.isEmpty { remarks.append("not asked, since they name no host: \(open.joined(separator: ", "))") }
        let anchors = try await connection.anchors()
        let checking = try ChainChecking(trusting: anchors)
        let probe = try await connection.probe(checking)
        let examinations = try published.hosts.map { host in
            let dialed = try connection.dialed(host)
            return HostExamination(
                policy: try published.policy(of: dialed), host: dialed,
                report: CheckReport(host: dialed, time: now, pins: published.pins(of: dialed, at: now)))
        }
        let all = await SideBySide.map(examinations, atMost: Self.hostsAtOnce) { examination in
            (host: examination.host, reports: await examination.run(probe, checking))
        }
        remarks += all.flatMap { host, reports in reports.flatMap { $0.remarks ?? [] }.map { "\(host): \($0)" } }
        let named = try platforms.platforms(anchors, named: connection.ca ?? "this machine's anchors")
        let found = try CommandFailure.rethrowing { () throws(PublishingError) in
            try rules.findings(of: published, all, platforms: named)
        }
        let findings = found.map(RepositoryOverride.objection)
        let mine = PublishedOutlook.hosts(of: all.flatMap(\.reports), at: now).hosts
        let others = AskedHosts.hosts(of: change.builds).dialed.filter { !published.hosts.contains($0) }
        let shown = try await AskedHosts.shown(by: others, connection, at: now)
        remarks += shown.remarks
        guard !(mine + shown.hosts).isEmpty else { return (findings, nil, remarks) }
        let asked = try await AskedChange(
            change.subject, at: mine + shown.hosts, on: platforms, by: connection)
        // The findings already include those of the new pins' hosts.
        let known = Set(all.map(\.host.description))
        let unknown = asked.objections.filter { finding in
            finding.kind == .unreachable && !(finding.host.map(known.contains) ?? false)
        }
        return (findings + unknown.map { (kind: .unreachable, text: $0.text) }, asked, remarks + asked.remarks)
    }

    /// The pins of a file, for apps that have it: the repository's clients enforce the same file.
    private func pins(_ data: Data, named name: String) throws(CommandFailure) -> PublishedPins {
        try CommandFailure.rethrowing { () throws(PublishingError) in
            try PublishedPins(pinFile: data, named: name, carriedBy: [name], at: now)
        }
    }
}
