import Foundation
import Holdfast
import HoldfastPublishing

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
        let published = try PublishedPins(pinFile: data, named: "the new pin file")
        var remarks: [String] = []
        let open = published.namesThatCannotBeDialed
        if !open.isEmpty { remarks.append("not asked, since they name no host: \(open.joined(separator: ", "))") }
        let lookup = try RevocationLookup(lists: [], fetches: false, within: .seconds(connection.timeout))
        let validator = PathValidator(anchors: try await connection.anchors())
        let probe = try await connection.probe(validator)
        let later = try laterPins()
        let examinations = try published.hosts.map { host in
            let dialed = try connection.dialed(host)
            return HostExamination(
                policy: try published.policy(of: dialed), host: dialed,
                report: CheckReport(host: dialed, time: now, pins: published.pins(of: dialed, at: now)), watch: nil,
                pins: PublishedPinVersions([published]), later: try later?.policy(of: dialed))
        }
        let all = await SideBySide.map(examinations, atMost: Self.hostsAtOnce) { examination in
            (host: examination.host, reports: await examination.run(probe, validator, lookup))
        }
        remarks += all.flatMap { host, reports in reports.flatMap { $0.remarks ?? [] }.map { "\(host): \($0)" } }
        return (all.flatMap { rules.findings(of: $0.host, $0.reports.map(Self.answer)) }, remarks)
    }

    /// The policies of the pins that are left when the timestamp expires; nil if all are.
    private func laterPins() throws(CommandFailure) -> PublishedPins? {
        do throws(PinFileError) {
            return try rules.laterFile().map { PublishedPins(pinFile: $0, named: name) }
        } catch {
            throw CommandFailure(.invalidList, "\(name): \(error)")
        }
    }

    private static func answer(_ report: CheckReport) -> PinPublicationCheck.Answer {
        let outcome: PinPublicationCheck.Answer.Outcome
        if report.outcome == .trusted {
            outcome = .letIn
        } else if let error = report.error {
            outcome = .unreachable(error.message)
        } else {
            outcome = .refused(
                report.failure.map { "\($0.code), expected \($0.expected)" } ?? report.published?.text ?? "")
        }
        return PinPublicationCheck.Answer(
            outcome, address: report.address, path: report.path, isLetInLater: report.isTrustedLater)
    }
}
