import Foundation
import Holdfast
import HoldfastOutput
import HoldfastProbe
import HoldfastPublishing

/// Probes the hosts of documents, and computes whether clients with these documents can connect.
struct AskedHosts {
    /// The problems of clients; empty if every client can connect.
    let findings: [HostsOutlook.Finding]
    /// The premises of the answer; nil if no host was probed.
    let premises: [String]?
    /// Hosts and addresses that could not be probed and why that may not matter, one sentence each.
    let remarks: [String]

    private static let hostsAtOnce = 8

    /// - Parameters:
    ///   - published: the documents that clients hold.
    ///   - earlier: the documents of clients that have not updated for a while.
    ///   - clients: the options about clients.
    ///   - root: the root of builds that carry a bundle, if the options do not name another; nil if none is known.
    ///   - watch: how soon an end is too soon; nil for only the present.
    init(
        of published: [PublishedPins], after earlier: EarlierDocuments = EarlierDocuments(),
        in clients: ClientOptions, builtWith root: Data? = nil, by connection: ConnectionOptions,
        watch: TimeSpan? = nil, at now: Date
    ) async throws(CommandFailure) {
        let published = published + (try clients.held.builds.documents(builtWith: root, at: now))
        let documents = published.map(\.document)
        let versions = clients.held.builds.appVersions(carrying: documents)
        let (hosts, open) = Self.hosts(of: published)
        guard !hosts.isEmpty else {
            // Without a host to probe, nothing is known.
            let words =
                open.isEmpty
                ? "no host can be asked, since the pins are for none"
                : "no host can be asked, since they are patterns: \(open)"
            findings = [.init(kind: .unreachable, host: nil, text: words)]
            (premises, remarks) = (nil, [])
            return
        }
        var remarks = open.isEmpty ? [] : ["not asked, since they name no host: \(open)"]
        let shown = try await Self.shown(by: hosts, connection, at: now)
        remarks += shown.remarks
        let anchors = try await connection.anchors()
        let platforms = try clients.platforms.platforms(anchors, named: connection.ca ?? "this machine's anchors")
        let outlook = try CommandFailure.rethrowing { () throws(PublishingError) in
            try HostsOutlook(
                of: documents, after: earlier, at: shown.hosts,
                platforms: platforms, appVersions: versions,
                staleness: .seconds(clients.held.staleness.seconds),
                watch: watch.map { .seconds($0.seconds) }, at: SystemWallClock().now)
        }
        if versions == .unknown { remarks.append(ShippedPinOptions.remedy) }
        (findings, premises, self.remarks) = (outlook.findings, outlook.premises, remarks)
    }

    /// The hosts of pins, each once, and the names that cannot be dialed, for people.
    static func hosts(of published: [PublishedPins]) -> (dialed: [DialedHost], others: String) {
        var hosts: [DialedHost] = []
        var undialed: [String] = []
        for pins in published {
            hosts += pins.hosts.filter { !hosts.contains($0) }
            undialed += pins.namesThatCannotBeDialed.map { SafeText.escapedLine($0) }.filter { !undialed.contains($0) }
        }
        return (hosts, undialed.joined(separator: ", "))
    }

    /// The chains that hosts present at every address, and for each kind of key.
    static func shown(
        by hosts: [DialedHost], _ connection: ConnectionOptions, at now: Date
    ) async throws(CommandFailure) -> (hosts: [PublicationOutlook.Host], remarks: [String]) {
        let probe = try await connection.probe()
        var dialed: [DialedHost] = []
        do {
            for host in hosts { dialed.append(try connection.dialed(host)) }
        } catch {
            throw CommandFailure(.wrongUsage, "\(error)")
        }
        let all = await SideBySide.map(dialed, atMost: hostsAtOnce) { await probe.ask($0) }
        let remarks = all.compactMap { findings in findings.remark.map { "\(findings.host): \($0)" } }
        let shown = zip(dialed, all).map { host, findings in
            PublicationOutlook.Host(host.name, port: host.port, shown: findings.presentations(at: now))
        }
        return (shown, remarks)
    }
}
