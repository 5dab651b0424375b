import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning

/// Asks the hosts of new pins what clients with these pins would get from them.
struct RepositoryPinCheck {
    let rules: PinPublicationCheck
    private let data: Data
    private let name: String
    private let now: Date

    private static let hostsAtOnce = 8

    /// - Parameters:
    ///   - path: the folder's name for messages.
    ///   - end: when the timestamp expires that is published with the pins.
    init(new data: Data, live: PinFile?, path: String, at now: Date, until end: Date) throws(CommandFailure) {
        name = "\(path)/draft/pins.json"
        self.data = data
        self.now = now
        rules = PinPublicationCheck(
            new: try PinFileReading.pinFile(data, named: name), live: live, at: now, until: end)
    }

    /// Connects to every host that can be dialed, at each of its addresses.
    func ask(_ connection: ConnectionOptions) async throws -> (
        findings: [PinPublicationCheck.Finding], remarks: [String]
    ) {
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
        let findings = try CommandFailure.rethrowing { () throws(PublishingError) in
            try rules.findings(
                of: published, all,
                platforms: [.init(connection.ca ?? "this machine's anchors", trusting: anchors)])
        }
        return (findings, remarks)
    }

    /// The pins of a file, for apps that have it: the repository's clients enforce the same file.
    private func pins(_ data: Data, named name: String) throws(CommandFailure) -> PublishedPins {
        try CommandFailure.rethrowing { () throws(PublishingError) in
            try PublishedPins(pinFile: data, named: name, carriedBy: [name], at: now)
        }
    }
}
