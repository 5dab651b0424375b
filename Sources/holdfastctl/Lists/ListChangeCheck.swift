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
        let open = old.namesThatCannotBeDialed.filter { changed.contains(ASCIIText.lowercased($0)) }
        if !open.isEmpty {
            let names = open.map { SafeText.escapedLine($0) }.joined(separator: ", ")
            Output.standard.complain("warning: not asked, because they name no host that can be dialed: \(names)")
        }
        guard !hosts.isEmpty else { return }
        let anchors = try await connection.anchors()
        let validator = PathValidator(anchors: anchors)
        let lookup = try RevocationLookup(lists: [], fetches: false, within: .seconds(connection.timeout))
        let probe = try await connection.probe(validator)
        let examinations = try hosts.map { host in
            let dialed = try connection.dialed(host)
            return HostExamination(
                policy: try new.policy(of: dialed), host: dialed,
                report: CheckReport(host: dialed, time: now, pins: new.pins(of: dialed, at: now)), watch: nil)
        }
        let reports = await SideBySide.map(examinations, atMost: Self.hostsAtOnce) { examination in
            await examination.run(probe, validator, lookup)
        }.flatMap(\.self)
        let outlook = PublishedOutlook(
            documents: [new.document, old.document],
            platforms: OutlookOptions.platform(anchors, named: connection.ca ?? "this machine's anchors"),
            appVersions: .noShippedPins)
        let rows = try outlook.rows(of: reports, at: now).rows
        var found: [Override] = []
        for (report, rows) in zip(reports, rows) {
            let place = "\(report.server)\(report.address.map { " at \($0)" } ?? "")"
            if let error = report.error {
                found += complain(.unreachable, "\(place) could not be asked: \(error.message)")
                continue
            }
            // What was not judged is never good.
            guard rows.contains(where: { $0.document == 0 && $0.verdict != .unknown }) else {
                found += complain(.unreachable, "\(place): what clients get is unknown")
                continue
            }
            func isOut(_ document: Int) -> PublicationOutlook.Row? {
                rows.first { $0.document == document && $0.verdict == .out }
            }
            guard isOut(1) == nil, let refused = isOut(0) else { continue }
            found += complain(
                .refused, "\(place): clients get in now, and would be locked out (\(refused.cause?.words ?? ""))")
        }
        guard found.isEmpty else {
            Output.standard.complain("\(list) is left as it is")
            throw NegativeAnswer(status: found.contains(.refused) ? .negativeAnswer : .couldNotFindOut)
        }
    }

    /// - Returns: what was found, unless it was overridden.
    private func complain(_ kind: Override, _ text: String) -> [Override] {
        let isOverridden = force.contains(kind)
        Output.standard.complain("\(isOverridden ? "warning: " : "")\(kind.rawValue): \(SafeText.escapedLine(text))")
        return isOverridden ? [] : [kind]
    }
}
