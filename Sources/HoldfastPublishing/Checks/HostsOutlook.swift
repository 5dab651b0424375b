package import Foundation
import Holdfast

/// Evaluates if clients that hold documents can connect to their hosts, for commands that publish, renew, export or
/// monitor documents. An unevaluated case is never good.
package struct HostsOutlook: Sendable {
    /// A problem of a host. Its fields are those of the JSON object.
    package struct Finding: Sendable, Hashable, Encodable {
        /// The kind of problem.
        package enum Kind: String, Sendable, Encodable {
            /// Clients are locked out.
            case refused
            /// A host could not be probed, so it is unknown if clients can connect.
            case unreachable
            /// Clients can connect, but not until the end of the monitored time, or only by grace.
            case ending
        }

        package let kind: Kind
        /// The host with its port; absent if the finding is about all hosts.
        package let host: String?
        /// The description, which names the host.
        package let text: String
        /// When access ends, in ISO 8601; absent if that is unknown.
        package let until: String?

        package init(kind: Kind, host: String?, text: String, until: String? = nil) {
            self.kind = kind
            self.host = host
            self.text = text
            self.until = until
        }
    }

    /// The findings in the order of the hosts; empty if every client can connect.
    package let findings: [Finding]
    /// The assumptions of the answer, one sentence each.
    package let premises: [String]
    /// The findings about hosts that only earlier documents name.
    let unasked: [Finding]
    /// The evaluated outlook.
    let outlook: PublicationOutlook

    /// The worst kind among the findings; nil if every client can connect.
    package var worst: Finding.Kind? {
        [Finding.Kind.refused, .unreachable, .ending].first { kind in findings.contains { $0.kind == kind } }
    }

    /// The usual length of the evaluated time.
    package static let usualSpan = Duration.seconds(400 * 86_400)

    /// Evaluates the documents.
    /// - Parameters:
    ///   - documents: the documents that clients hold. Those of a repository dial the hosts that it or an earlier
    ///     document names.
    ///   - earlier: the documents of clients that have not fetched for a while.
    ///   - hosts: the hosts that clients dial, with the chains that they present now.
    ///   - platforms: the platforms of clients.
    ///   - appVersions: the builds in the field.
    ///   - staleness: the maximum time since a client last fetched a document.
    ///   - watch: decides which ends are too soon; nil to evaluate only the present.
    ///   - span: the minimum time to evaluate, to find out until when clients can connect.
    /// - Throws: ``PublishingError`` `invalidInput`.
    package init(
        of documents: [PublicationOutlook.Document], after earlier: EarlierDocuments = EarlierDocuments(),
        at hosts: [PublicationOutlook.Host], platforms: [PublicationOutlook.Platform],
        appVersions: PublicationOutlook.AppVersions, staleness: Duration = PublicationTiming.usualStaleness,
        watch: Duration? = nil, lookingAhead span: Duration = Self.usualSpan, at now: Date
    ) throws(PublishingError) {
        let watched = watch ?? .seconds(1)
        let before = earlier.documents.map { $0.ofOwnHosts(at: now) }
        let current = documents.map { $0.ofOwnHosts(at: now) }
        let known = before.flatMap { $0.hosts ?? [] }
        let dialed = zip(documents, current).map { given, own in
            var document = own
            if given.hosts == nil { document.hosts = own.hosts.map { $0 + known } }
            return document
        }
        outlook = try PublicationOutlook(
            judging: .init(
                documents: dialed + before, hosts: hosts, platforms: platforms,
                appVersions: appVersions, staleness: staleness, span: max(span, watched), now: now))
        premises = outlook.premises + earlier.premises + earlier.gaps
        let (end, names) = (now.addingTimeInterval(watched.inSeconds), outlook.documentNames)
        var findings: [Finding] = []
        for (index, host) in hosts.enumerated() {
            let rows = outlook.rows.filter { $0.hostIndex == index }
            for (position, shown) in host.shown.enumerated() {
                let mine = rows.filter { $0.presentation == position }
                if let finding = Self.finding(mine, at: shown, of: host, names: names, now, end) {
                    findings.append(finding)
                }
            }
            findings += rows.filter { $0.presentation == nil }.map { row in
                Finding(
                    kind: .unreachable, host: Self.name(host),
                    text: "\(Self.name(host)): \(row.cause?.words ?? "it was not judged")")
            }
        }
        findings += outlook.rows.filter { $0.hostIndex == nil }.map { row in
            Finding(kind: .unreachable, host: nil, text: row.cause?.words ?? "nothing was judged")
        }
        findings += earlier.gaps.map { Finding(kind: .unreachable, host: nil, text: $0) }
        unasked = Self.dropped(by: current, after: before, asked: hosts)
        self.findings = findings + unasked
    }

    /// Hosts that only earlier documents name. Clients that hold those still connect there, but the hosts were not
    /// probed.
    private static func dropped(
        by documents: [PublicationOutlook.Document], after earlier: [PublicationOutlook.Document],
        asked hosts: [PublicationOutlook.Host]
    ) -> [Finding] {
        var known = Set((documents.flatMap { $0.hosts ?? [] } + hosts.map(\.name)).map { $0.lowercased() })
        return earlier.flatMap { document in
            (document.hosts ?? []).filter { known.insert($0.lowercased()).inserted }.map { name in
                Finding(
                    kind: .unreachable, host: nil,
                    text:
                        "clients with \(document.name) still connect to \(name), which was not asked: what is published "
                        + "now does not name it")
            }
        }
    }

    /// The worst result for one chain; nil if every client can connect.
    static func finding(
        _ rows: [PublicationOutlook.Row], at shown: PublicationOutlook.Presentation, of host: PublicationOutlook.Host,
        names: [String], _ now: Date, _ end: Date
    ) -> Finding? {
        let (name, place) = (Self.name(host), Self.place(of: shown, host))
        if let problem = shown.problem {
            // An address that presented one certificate may have another, of the other kind of key.
            let isSeen = host.shown.contains { $0.chain != nil && $0.place.utf8.elementsEqual(shown.place.utf8) }
            let words = isSeen ? ": \(problem)" : " could not be asked: \(problem)"
            return Finding(kind: .unreachable, host: name, text: place + words)
        }
        let verdicts = rows.filter { $0.counts(until: end) }.map { row in
            PublishedVerdict(row, of: row.document.map { names[$0] } ?? "the document", at: now, watchedUntil: end)
        }
        guard let worst = PublishedVerdict.worst(of: verdicts) else {
            return Finding(kind: .unreachable, host: name, text: "\(place): what clients get is unknown")
        }
        let kind: Finding.Kind
        switch PublicationOutlook.Verdict(rawValue: worst.verdict) {
        case .in: return nil
        case .ending: kind = .ending
        case .out: kind = .refused
        case .unknown, nil: kind = .unreachable
        }
        return Finding(kind: kind, host: name, text: "\(place): \(worst.text)", until: worst.until)
    }

    /// The host, and the address that presented a chain, as text.
    static func place(of shown: PublicationOutlook.Presentation, _ host: PublicationOutlook.Host) -> String {
        shown.place.utf8.elementsEqual(host.name.utf8) ? name(host) : "\(name(host)) at \(shown.place)"
    }

    /// A host with its port, in the form that findings use.
    package static func name(_ host: PublicationOutlook.Host) -> String {
        let name = host.name.contains(":") ? "[\(host.name)]" : host.name
        return host.port.map { "\(name):\($0)" } ?? host.name
    }
}
