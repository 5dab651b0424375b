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
    init(new data: Data, live: Data?, path: String, at now: Date, until end: Date) throws(CommandFailure) {
        name = "\(path)/draft/pins.json"
        self.data = data
        self.now = now
        rules = PinPublicationCheck(
            new: try PinFileReading.pinFile(data, named: name), live: live.flatMap { try? PinFile(json: $0) }, at: now,
            until: end)
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
        var documents = [published.document]
        if let later = try laterFile() { documents.append(try pins(Data(later.json), named: name).document) }
        let outlook = PublishedOutlook(
            documents: documents,
            platforms: OutlookOptions.platform(anchors, named: connection.ca ?? "this machine's anchors"),
            appVersions: .versions(documents.flatMap(\.appVersions).map { .init($0) }))
        var rows = try outlook.rows(of: all.flatMap(\.reports), at: now).rows[...]
        let findings = all.flatMap { host, reports in
            rules.findings(of: host, reports.map { Self.answer($0, rows.popFirst() ?? []) })
        }
        return (findings, remarks)
    }

    /// The pins of a file, for apps that have it: the repository's clients enforce the same file.
    private func pins(_ data: Data, named name: String) throws(CommandFailure) -> PublishedPins {
        try CommandFailure.rethrowing { () throws(PublishingError) in
            try PublishedPins(pinFile: data, named: name, carriedBy: [name], at: now)
        }
    }

    /// The pins that are left when the timestamp expires; nil if all are.
    private func laterFile() throws(CommandFailure) -> PinFile? {
        do throws(PinFileError) {
            return try rules.laterFile()
        } catch {
            throw CommandFailure(.invalidList, "\(name): \(error)")
        }
    }

    /// - Parameter rows: what was judged: of the new pins, and of those that are left later if some are not.
    private static func answer(
        _ report: CheckReport, _ rows: [PublicationOutlook.Row]
    ) -> PinPublicationCheck.Answer {
        let outcome: PinPublicationCheck.Answer.Outcome
        if let error = report.error {
            outcome = .unreachable(error.message)
        } else if let refused = rows.first(where: { $0.document == 0 && $0.verdict == .out }) {
            outcome = .refused(refused.cause?.words ?? "")
        } else if rows.contains(where: { $0.document == 0 && $0.verdict != .unknown }) {
            outcome = .letIn
        } else {
            outcome = .unreachable("what clients get is unknown")
        }
        let later = rows.filter { $0.document == 1 }
        return PinPublicationCheck.Answer(
            outcome, address: report.address, path: report.path,
            isLetInLater: later.isEmpty ? nil : later.allSatisfy { $0.verdict != .out && $0.verdict != .unknown })
    }
}
