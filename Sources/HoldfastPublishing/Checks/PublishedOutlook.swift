package import Foundation
import Holdfast

/// Evaluates the chains that hosts presented for the published documents, and adds the answer to each report.
package struct PublishedOutlook {
    /// The documents that clients may hold.
    package let documents: [PublicationOutlook.Document]
    package let platforms: [PublicationOutlook.Platform]
    package let appVersions: PublicationOutlook.AppVersions
    package var staleness: Duration
    /// Decides which ends are too soon; nil to evaluate only the present.
    package var watch: ExpiryWatch?
    /// The certificates of the authority, current and announced; nil if they were not given.
    package var authority: AuthorityHierarchy?

    /// The minimum length of the evaluated time, to find out until when clients can connect.
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

    /// Evaluates all reports together, and writes the answers into them.
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

    /// Evaluates for each host if its pins of issuers accept every certificate that the authority may issue next.
    private func judgeIssuerPins(of reports: inout [CheckReport], at now: Date) throws(PublishingError) {
        let inputs = inputs(of: reports, at: now, span: watched)
        let coverage = try IssuerPinCoverage(judging: inputs.all, issuedBy: authority)
        for index in reports.indices where reports[index].error == nil {
            reports[index].take(
                IssuerPinReport(coverage, ofHost: inputs.places[index].host, isGiven: authority != nil),
                isGiven: authority != nil)
        }
    }

    /// The inputs of an outlook, and the position of each report among them.
    private func inputs(
        of reports: [CheckReport], at now: Date, span: Duration
    ) -> (all: PublicationOutlook.Inputs, places: [(host: Int, chain: Int)]) {
        let (hosts, places) = Self.hosts(of: reports, at: now)
        let all = PublicationOutlook.Inputs(
            documents: documents, hosts: hosts, platforms: platforms, appVersions: appVersions,
            staleness: staleness, span: span, now: now)
        return (all, places)
    }

    /// The hosts with their presented chains, and the position of each report among them.
    package static func hosts(
        of reports: [CheckReport], at now: Date
    ) -> (hosts: [PublicationOutlook.Host], places: [(host: Int, chain: Int)]) {
        var hosts: [PublicationOutlook.Host] = []
        var places: [(host: Int, chain: Int)] = []
        for report in reports {
            // The reports of a host are adjacent.
            let isKnown = hosts.last.map { $0.name.utf8.elementsEqual(report.host.utf8) && $0.port == report.port }
            if isKnown != true { hosts.append(.init(report.host, port: report.port, shown: [])) }
            let index = hosts.endIndex - 1
            places.append((index, hosts[index].shown.count))
            hosts[index].shown.append(report.presentation(at: now))
        }
        return (hosts, places)
    }

    /// The rows of each report; the facts about clients that are unknown regardless of the hosts, nil if there are
    /// none; and the assumptions of all results.
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
    /// - Parameter isGiven: whether the authority's certificates were given; only then is an incomplete set a bad
    ///   answer.
    fileprivate mutating func take(_ issuerPins: IssuerPinReport?, isGiven: Bool) {
        guard let issuerPins else { return }
        self.issuerPins = issuerPins
        isIssuerPinningIncomplete = isGiven && issuerPins.isKnown && !issuerPins.isComplete
        issuerPinLines = issuerPins.lines(isGiven: isGiven)
        if isGiven, !issuerPins.isKnown, outcome == .trusted { outcome = .unknown }
    }

    /// - Parameter renewal: the evaluation of a certificate that is renewed with the same key.
    fileprivate mutating func take(_ renewal: SameKeyRenewal, watchedUntil end: Date) {
        self.renewal = renewal
        // If a renewal with the same key postpones an end, the pins do not end.
        guard renewal.getsIn, published?.cause == PublicationOutlook.Cause.Code.certificate.rawValue else { return }
        published?.expiresSoon = renewal.end.map { $0 < end } ?? false
        for index in (publishedVersions ?? []).indices
        where publishedVersions?[index].cause == PublicationOutlook.Cause.Code.certificate.rawValue {
            publishedVersions?[index].expiresSoon = renewal.end.map { $0 < end } ?? false
        }
    }

    /// The chain that the host presented, for the outlook.
    fileprivate func presentation(at now: Date) -> PublicationOutlook.Presentation {
        let place = address ?? proxy ?? host
        guard let presented else { return .init(unreadable: place, because: error?.message ?? "it was not asked") }
        return .init(presented, at: place, keyKind: chain?.first?.key ?? "", seen: now)
    }

    /// - Parameters:
    ///   - rows: the rows about this chain.
    ///   - names: the names of the documents.
    ///   - open: the facts about clients that are unknown regardless of the host; nil if there are none.
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
