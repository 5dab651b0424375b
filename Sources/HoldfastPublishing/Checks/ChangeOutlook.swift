package import Foundation
import Holdfast

/// The effect of a change of published pins on every client: those that get the new documents, and those that hold
/// others, such as the replaced document, an earlier one, or the pins of their build. For commands that sign or
/// publish.
///
/// A change cannot help clients that hold other documents until they fetch again. Their lockout is therefore no
/// objection, since otherwise a change that fixes a lockout could not be published. It is still reported, and it is
/// never good.
package struct ChangeOutlook: Sendable {
    /// The published documents, their replacements, and other documents that clients may hold.
    package struct Subject: Sendable {
        /// The published documents; empty if nothing is published.
        package var old: [PublicationOutlook.Document]
        /// The documents that replace them, for apps that get them.
        package var new: [PublicationOutlook.Document]
        /// Whether it is no objection if `new` locks out clients that `old` already locks out.
        package var isCompared = false
        /// The documents from before `old` that clients may hold.
        package var earlier: EarlierDocuments
        /// The documents in builds.
        package var builds: [PublicationOutlook.Document]
        /// The builds in the field.
        package var appVersions: PublicationOutlook.AppVersions
        /// Maximum time since a client last fetched a document.
        package var staleness: Duration

        package init(
            from old: [PublicationOutlook.Document], to new: [PublicationOutlook.Document],
            after earlier: EarlierDocuments = EarlierDocuments(), beside builds: [PublicationOutlook.Document] = [],
            appVersions: PublicationOutlook.AppVersions, staleness: Duration = PublicationTiming.usualStaleness
        ) {
            self.old = old
            self.new = new
            self.earlier = earlier
            self.builds = builds
            self.appVersions = appVersions
            self.staleness = staleness
        }
    }

    /// The objections to the change, in the order of the hosts: `refused` for clients that get the new documents and
    /// would be locked out, `unreachable` for unknown results. If the subject is compared, also `ending` for clients
    /// that could connect for a shorter time than without the change, which is only a warning.
    package let objections: [HostsOutlook.Finding]
    /// Findings that do not depend on the change or are checked elsewhere: `refused` or `ending` for clients that hold
    /// other documents, `unreachable` for hosts that only earlier documents name.
    package let standing: [HostsOutlook.Finding]
    /// All clients after the change, in the form that commands use to monitor published documents.
    package let after: HostsOutlook

    /// - Parameters:
    ///   - hosts: the hosts of the change, with the chains that they present.
    ///   - platforms: the platforms of clients.
    package init(
        of subject: Subject, at hosts: [PublicationOutlook.Host], platforms: [PublicationOutlook.Platform], at now: Date
    ) throws(PublishingError) {
        let now = Date(wholeSeconds: now.wholeSeconds)
        var earlier = subject.earlier
        earlier.documents.insert(contentsOf: subject.old.map { $0.replaced(at: now) }, at: 0)
        after = try HostsOutlook(
            of: subject.new + subject.builds, after: earlier, at: hosts, platforms: platforms,
            appVersions: subject.appVersions, staleness: subject.staleness, at: now)
        let before =
            subject.isCompared && !subject.old.isEmpty
            ? try PublicationOutlook(
                judging: .init(
                    documents: subject.old, hosts: hosts, platforms: platforms, appVersions: .versions([]),
                    staleness: subject.staleness, span: HostsOutlook.usualSpan, now: now)
            ).rows
            : []
        let (rows, names, end) = (after.outlook.rows, after.outlook.documentNames, now.addingTimeInterval(1))
        let unasked = after.unasked
        var objections = after.findings.filter { $0.kind == .unreachable && !unasked.contains($0) }
        var standing: [HostsOutlook.Finding] = []
        for (index, host) in hosts.enumerated() {
            for (position, shown) in host.shown.enumerated() where shown.problem == nil {
                var chain = Chain(host, shown)
                func isOfChain(_ row: PublicationOutlook.Row) -> Bool {
                    row.hostIndex == index && row.presentation == position
                }
                let former = before.filter(isOfChain)
                for row in rows.filter(isOfChain) where row.counts(until: end) {
                    let isNew = row.document.map(subject.new.indices.contains) ?? false
                    chain.add(row, isNew: isNew, former: former.filter { $0.isAlike(row) })
                }
                objections += chain.objections
                guard !chain.rest.isEmpty,
                    let finding = HostsOutlook.finding(
                        chain.rest, at: shown, of: host, names: names, now, end)
                else { continue }
                if finding.kind != .unreachable {
                    standing.append(finding)
                } else if !objections.contains(finding) {
                    objections.append(finding)
                }
            }
        }
        (self.objections, self.standing) = (objections, standing + unasked)
    }

    /// The results about one chain.
    private struct Chain {
        private let place: String
        private let name: String
        private(set) var refused: HostsOutlook.Finding?
        private(set) var ending: HostsOutlook.Finding?
        /// The rows that are no objection.
        private(set) var rest: [PublicationOutlook.Row] = []

        var objections: [HostsOutlook.Finding] { (refused ?? ending).map { [$0] } ?? [] }

        init(_ host: PublicationOutlook.Host, _ shown: PublicationOutlook.Presentation) {
            place = HostsOutlook.place(of: shown, host)
            name = HostsOutlook.name(host)
        }

        /// - Parameter former: the results of the same clients without the change; empty if they are not compared.
        mutating func add(_ row: PublicationOutlook.Row, isNew: Bool, former: [PublicationOutlook.Row]) {
            let wasOut = former.contains { $0.verdict == .out }
            guard isNew, !wasOut else { return rest.append(row) }
            if row.verdict == .out {
                let now = former.isEmpty ? "clients" : "clients get in now, and"
                let words = "\(place): \(now) would be locked out (\(row.cause?.words ?? ""))"
                if refused == nil { refused = .init(kind: .refused, host: name, text: words) }
                return
            }
            rest.append(row)
            guard !former.isEmpty, row.verdict == .ending, let end = row.verdictEnd else { return }
            let before = former.filter { $0.verdict == .ending }.compactMap(\.verdictEnd).min()
            guard end < before ?? .distantFuture, ending == nil else { return }
            let (until, instead) = (
                end.formatted(.iso8601), before.map { "until \($0.formatted(.iso8601))" } ?? "for longer"
            )
            ending = .init(
                kind: .ending, host: name,
                text: "\(place): clients would get in only until \(until); now they get in \(instead)", until: until)
        }
    }
}

extension PublicationOutlook.Row {
    /// Whether both are about the same clients on the same platform.
    fileprivate func isAlike(_ other: Self) -> Bool {
        client == other.client && holders == other.holders
            && (platform ?? "").utf8.elementsEqual((other.platform ?? "").utf8)
    }
}

extension PublicationOutlook.Document {
    /// The document as held by clients that have not fetched since it was replaced.
    fileprivate func replaced(at time: Date) -> Self {
        var document = self
        (document.published, document.replaced) = (.distantPast, time)
        return document
    }
}
