package import Foundation
import Holdfast

/// Whether clients that hold documents get in with what their hosts show, for verbs that publish, renew, export or watch
/// them. What was not judged is never good.
package struct HostsOutlook: Sendable {
    /// Something about a host that is not good. Its fields are those of the JSON object.
    package struct Finding: Sendable, Hashable, Encodable {
        /// What it is.
        package enum Kind: String, Sendable, Encodable {
            /// Clients are locked out.
            case refused
            /// A host could not be asked, so nobody knows what clients get.
            case unreachable
            /// Clients get in, but not until the end of the time that is watched, or by grace alone.
            case ending
        }

        package let kind: Kind
        /// The host with its port; absent for what concerns all of them.
        package let host: String?
        /// What it is, in words that name the host.
        package let text: String
        /// When it ends, in ISO 8601; absent if that is not known.
        package let until: String?

        package init(kind: Kind, host: String?, text: String, until: String? = nil) {
            self.kind = kind
            self.host = host
            self.text = text
            self.until = until
        }
    }

    /// The findings in the order of the hosts; empty if every client gets in.
    package let findings: [Finding]
    /// What the answer rests on, a sentence each.
    package let premises: [String]
    /// Those of the findings that are about hosts which only earlier documents name.
    let unasked: [Finding]
    /// What was judged.
    let outlook: PublicationOutlook

    /// The worst finding that there is; nil if every client gets in.
    package var worst: Finding.Kind? {
        [Finding.Kind.refused, .unreachable, .ending].first { kind in findings.contains { $0.kind == kind } }
    }

    /// How far it looks ahead, to say until when.
    package static let usualSpan = Duration.seconds(400 * 86_400)

    /// Judges.
    /// - Parameters:
    ///   - documents: what clients hold. Those of a repository dial what it or an earlier document names.
    ///   - earlier: what those may hold that have not asked for a while.
    ///   - hosts: what they dial, with what it shows now.
    ///   - platforms: where clients run.
    ///   - appVersions: the builds in the field.
    ///   - staleness: for how long a client may not have asked.
    ///   - watch: how soon an end is too soon; nil for only what is now.
    ///   - span: how far to look at least, to say until when clients get in.
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

    /// Hosts that only earlier documents name: clients that hold those still connect there, and nobody has asked them.
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

    /// The worst of what was judged about one chain; nil if every client gets in.
    static func finding(
        _ rows: [PublicationOutlook.Row], at shown: PublicationOutlook.Presentation, of host: PublicationOutlook.Host,
        names: [String], _ now: Date, _ end: Date
    ) -> Finding? {
        let (name, place) = (Self.name(host), Self.place(of: shown, host))
        if let problem = shown.problem {
            // An address that showed one certificate may have another, of the other kind of key.
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

    /// Where a host showed a chain, in words.
    static func place(of shown: PublicationOutlook.Presentation, _ host: PublicationOutlook.Host) -> String {
        shown.place.utf8.elementsEqual(host.name.utf8) ? name(host) : "\(name(host)) at \(shown.place)"
    }

    /// A host with its port, as findings name it.
    package static func name(_ host: PublicationOutlook.Host) -> String {
        let name = host.name.contains(":") ? "[\(host.name)]" : host.name
        return host.port.map { "\(name):\($0)" } ?? host.name
    }
}
