package import Foundation
import Holdfast

/// Whether a change of a list locks clients out that get in without it, by the outlook.
package struct ListChangeJudgment {
    /// How far it looks ahead.
    private static let span = Duration.seconds(400 * 86_400)

    /// Why the change should not be made, in the order of the hosts. Clients that are refused get in now. `ending` is only
    /// a warning: clients would get in, but for a shorter time than without the change.
    package let findings: [HostsOutlook.Finding]

    /// - Parameters:
    ///   - old: the list as clients have it.
    ///   - new: the list as it would be.
    ///   - hosts: those whose entries change, with what they show.
    ///   - platforms: where clients run.
    package init(
        from old: PublishedPins, to new: PublishedPins, hosts: [PublicationOutlook.Host],
        platforms: [PublicationOutlook.Platform], at now: Date
    ) throws(PublishingError) {
        let outlook = try PublicationOutlook(
            judging: PublicationOutlook.Inputs(
                documents: [new.document, old.document], hosts: hosts, platforms: platforms,
                appVersions: .noShippedPins, staleness: .seconds(30 * 86_400), span: Self.span, now: now))
        var findings: [HostsOutlook.Finding] = []
        for (index, host) in hosts.enumerated() {
            for (position, shown) in host.shown.enumerated() {
                let rows = outlook.rows.filter { $0.hostIndex == index && $0.presentation == position }
                let name = host.port.map { "\(host.name):\($0)" } ?? host.name
                let place = shown.place.utf8.elementsEqual(host.name.utf8) ? name : "\(name) at \(shown.place)"
                func isOut(_ document: Int) -> PublicationOutlook.Row? {
                    rows.first { $0.document == document && $0.verdict == .out }
                }
                func end(_ document: Int) -> Date? {
                    rows.filter { $0.document == document && $0.verdict == .ending }.compactMap(\.verdictEnd).min()
                }
                if let problem = shown.problem {
                    findings.append(
                        .init(kind: .unreachable, host: name, text: "\(place) could not be asked: \(problem)"))
                } else if !rows.contains(where: { $0.document == 0 && $0.verdict != .unknown }) {
                    // What was not judged is never good.
                    findings.append(
                        .init(kind: .unreachable, host: name, text: "\(place): what clients get is unknown"))
                } else if isOut(1) == nil, let refused = isOut(0) {
                    findings.append(
                        .init(
                            kind: .refused, host: name,
                            text:
                                "\(place): clients get in now, and would be locked out (\(refused.cause?.words ?? ""))")
                    )
                } else if isOut(1) == nil, let sooner = end(0), sooner < end(1) ?? .distantFuture {
                    let before = end(1).map { "until \($0.formatted(.iso8601))" } ?? "for longer"
                    let until = sooner.formatted(.iso8601)
                    findings.append(
                        .init(
                            kind: .ending, host: name,
                            text: "\(place): clients would get in only until \(until); now they get in \(before)",
                            until: until))
                }
            }
        }
        self.findings = findings
    }
}
