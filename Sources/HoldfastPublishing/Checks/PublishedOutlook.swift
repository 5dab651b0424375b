package import Foundation
import Holdfast

/// Puts what hosts showed to the judge of the publication, and gives each report its answer.
package struct PublishedOutlook {
    /// What clients may hold.
    package let documents: [PublicationOutlook.Document]
    package let platforms: [PublicationOutlook.Platform]
    package let appVersions: PublicationOutlook.AppVersions
    package var staleness: Duration
    /// How soon an end is too soon; nil for only what is now.
    package var watch: ExpiryWatch?
    /// The certificates of the authority, current and announced; nil if nobody has given them.
    package var authority: AuthorityHierarchy?

    /// How far it looks ahead at least, to say until when clients get in.
    private static let span = Duration.seconds(400 * 86_400)

    package init(
        documents: [PublicationOutlook.Document], platforms: [PublicationOutlook.Platform],
        appVersions: PublicationOutlook.AppVersions, staleness: Duration = PublicationTiming.usualStaleness,
        watch: ExpiryWatch? = nil, authority: AuthorityHierarchy? = nil
    ) {
        self.documents = documents
        self.platforms = platforms
        self.appVersions = appVersions
        self.staleness = staleness
        self.watch = watch
        self.authority = authority
    }

    private var watched: Duration { watch?.span ?? .seconds(1) }

    /// Judges all reports together, and writes the answers into them.
    package func judge(_ reports: inout [CheckReport], at now: Date) throws(PublishingError) {
        let (all, open, premises) = try rows(of: reports, at: now)
        let end = now.addingTimeInterval(watched.inSeconds)
        let renewals = try renewals(
            of: reports, at: Date(wholeSeconds: now.wholeSeconds), span: max(Self.span, watched))
        for (index, rows) in all.enumerated() where reports[index].error == nil {
            let counted = rows.filter { $0.counts(until: end) }
            reports[index].take(counted, of: documents.map(\.name), at: now, watchedUntil: end, open: open)
            reports[index].premises = premises
            if let renewal = renewals[index] { reports[index].take(renewal, watchedUntil: end) }
        }
        try judgeIssuerPins(of: &reports, at: now)
    }

    /// Says of each host whether its pins of issuers let in what the authority may issue next.
    private func judgeIssuerPins(of reports: inout [CheckReport], at now: Date) throws(PublishingError) {
        let inputs = inputs(of: reports, at: now, span: watched)
        let coverage = try IssuerPinCoverage(judging: inputs.all, issuedBy: authority)
        for index in reports.indices where reports[index].error == nil {
            reports[index].take(
                IssuerPinReport(coverage, ofHost: inputs.places[index].host, isGiven: authority != nil),
                isGiven: authority != nil)
        }
    }

    /// The inputs of an outlook, and where among them each report is.
    private func inputs(
        of reports: [CheckReport], at now: Date, span: Duration
    ) -> (all: PublicationOutlook.Inputs, places: [(host: Int, chain: Int)]) {
        let (hosts, places) = Self.hosts(of: reports, at: now)
        let all = PublicationOutlook.Inputs(
            documents: documents, hosts: hosts, platforms: platforms, appVersions: appVersions,
            staleness: staleness, span: span, now: now)
        return (all, places)
    }

    /// The hosts with what they showed, and where among them each report is.
    package static func hosts(
        of reports: [CheckReport], at now: Date
    ) -> (hosts: [PublicationOutlook.Host], places: [(host: Int, chain: Int)]) {
        var hosts: [PublicationOutlook.Host] = []
        var places: [(host: Int, chain: Int)] = []
        for report in reports {
            // The reports of a host stand together.
            let isKnown = hosts.last.map { $0.name.utf8.elementsEqual(report.host.utf8) && $0.port == report.port }
            if isKnown != true { hosts.append(.init(report.host, port: report.port, shown: [])) }
            let index = hosts.endIndex - 1
            places.append((index, hosts[index].shown.count))
            hosts[index].shown.append(report.presentation(at: now))
        }
        return (hosts, places)
    }

    /// What was judged about each report; what is unknown about the clients whatever hosts show, nil if nothing is; and
    /// what all of it rests on.
    package func rows(
        of reports: [CheckReport], at now: Date
    ) throws(PublishingError) -> (rows: [[PublicationOutlook.Row]], open: String?, premises: [String]) {
        let (inputs, places) = inputs(of: reports, at: now, span: max(Self.span, watched))
        let outlook = try PublicationOutlook(judging: inputs)
        var byPlace = Dictionary(grouping: outlook.rows.indices) { index in
            [outlook.rows[index].hostIndex ?? -1, outlook.rows[index].presentation ?? -1]
        }
        let rows = places.map { place in
            (byPlace.removeValue(forKey: [place.host, place.chain]) ?? []).map { outlook.rows[$0] }
        }
        let open = outlook.rows.first { $0.hostIndex == nil && $0.verdict == .unknown }?.cause?.words
        return (rows, open, outlook.premises)
    }
}

extension CheckReport {
    /// - Parameter isGiven: whether the authority's certificates were given; only then an incomplete set is a bad answer.
    fileprivate mutating func take(_ issuerPins: IssuerPinReport?, isGiven: Bool) {
        guard let issuerPins else { return }
        self.issuerPins = issuerPins
        isIssuerPinningIncomplete = isGiven && issuerPins.isKnown && !issuerPins.isComplete
        issuerPinLines = issuerPins.lines(isGiven: isGiven)
        if isGiven, !issuerPins.isKnown, outcome == .trusted { outcome = .unknown }
    }

    /// - Parameter renewal: what was judged of a certificate that is renewed with the same key.
    fileprivate mutating func take(_ renewal: SameKeyRenewal, watchedUntil end: Date) {
        self.renewal = renewal
        // An end that a renewal with the same key puts off is no end of the pins.
        guard renewal.getsIn, published?.cause == PublicationOutlook.Cause.Code.certificate.rawValue else { return }
        published?.expiresSoon = renewal.end.map { $0 < end } ?? false
        for index in (publishedVersions ?? []).indices
        where publishedVersions?[index].cause == PublicationOutlook.Cause.Code.certificate.rawValue {
            publishedVersions?[index].expiresSoon = renewal.end.map { $0 < end } ?? false
        }
    }

    /// What the host showed, for the outlook.
    fileprivate func presentation(at now: Date) -> PublicationOutlook.Presentation {
        let place = address ?? proxy ?? host
        guard let presented else { return .init(unreadable: place, because: error?.message ?? "it was not asked") }
        return .init(presented, at: place, keyKind: chain?.first?.key ?? "", seen: now)
    }

    /// - Parameters:
    ///   - rows: what was judged about this chain.
    ///   - names: the names of the documents.
    ///   - open: what is unknown about the clients, whatever the host shows; nil if nothing is.
    fileprivate mutating func take(
        _ rows: [PublicationOutlook.Row], of names: [String], at now: Date, watchedUntil end: Date, open: String?
    ) {
        var verdicts: [PublishedVerdict] = []
        for document in names.indices {
            let judged = rows.filter { $0.document == document }
                .map { PublishedVerdict($0, of: names[document], at: now, watchedUntil: end) }
            if let worst = PublishedVerdict.worst(of: judged) { verdicts.append(worst) }
        }
        verdicts += rows.filter { $0.document == nil }
            .map { PublishedVerdict(verdict: .unknown, text: $0.cause?.words ?? "nothing was judged") }
        guard var worst = PublishedVerdict.worst(of: verdicts) else { return }
        if let open, !worst.isLockedOut {
            worst = PublishedVerdict(verdict: .unknown, text: "\(worst.text), but \(open)")
        }
        published = worst
        publishedVersions = verdicts.count > 1 ? verdicts : nil
        switch worst.verdict {
        case PublicationOutlook.Verdict.out.rawValue: outcome = .untrusted
        case PublicationOutlook.Verdict.unknown.rawValue where outcome == .trusted: outcome = .unknown
        default: break
        }
    }
}
