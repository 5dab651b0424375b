import Foundation
import Holdfast

/// Makes the rows of an outlook from its inputs.
struct OutlookJudge {
    /// The maximum age of a chain in seconds. Older chains are unknown.
    static let longestSinceSeen: TimeInterval = 3_600

    private let inputs: PublicationOutlook.Inputs
    private let begins: Int64
    private let ends: Int64
    private let documents: [HeldDocument]
    private let periods: [[HoldingPeriod]]
    private let platforms: [ClientPlatform]
    /// The documents that clients keep because they refuse the replacement, as text.
    let kept: [String]
    /// The hosts that documents in builds do not name, by document.
    private var unnamed: [Int: [String]] = [:]
    private(set) var rows: [PublicationOutlook.Row] = []

    init(_ inputs: PublicationOutlook.Inputs) throws(PublishingError) {
        try OutlookLimits.check(inputs)
        self.inputs = inputs
        begins = inputs.now.wholeSeconds
        ends = begins + max(1, inputs.span.components.seconds)
        documents = try inputs.documents.indices.map { index throws(PublishingError) in
            try HeldDocument(index, inputs)
        }
        platforms = try inputs.platforms.map { platform throws(PublishingError) in try ClientPlatform(platform) }
        var periods: [[HoldingPeriod]] = []
        var kept: [String] = []
        for held in documents {
            let refusal = Self.refusal(of: held, among: documents, at: begins)
            if let refusal { kept.append(refusal) }
            periods.append(HoldingPeriod.all(of: held, among: documents, isStuck: refusal != nil, inputs))
        }
        (self.periods, self.kept) = (periods, kept)
    }

    /// Why clients of a replaced document keep it; nil if they take the replacement.
    private static func refusal(of held: HeldDocument, among all: [HeldDocument], at begins: Int64) -> String? {
        guard let replaced = held.document.replaced else { return nil }
        let successors = all.filter { held.isSucceeded(by: $0) }
        let time = max(replaced, Date(wholeSeconds: begins))
        for successor in successors {
            guard let words = held.refusal(of: successor, at: time) else { return nil }
            guard successor.index == successors.last?.index else { continue }
            return "clients that hold \(held.document.name) refuse \(successor.document.name): \(words)"
        }
        return nil
    }

    // MARK: Rows

    mutating func judge() throws(PublishingError) {
        judgeVersions()
        for index in inputs.hosts.indices { try judgeHost(index) }
        if inputs.hosts.isEmpty { rows.append(unknown(.nothingToJudge, "no host is given")) }
    }

    private mutating func judgeVersions() {
        switch inputs.appVersions {
        case .unknown:
            rows.append(unknown(.appVersions, "app versions unknown: nobody has said which builds are in the field"))
        case .noShippedPins: break
        case .versions(let versions):
            for version in versions where version.carriesDocument && version.isUsed(at: inputs.now) {
                let isKnown = documents.contains { held in
                    held.document.appVersions.contains { $0.utf8.elementsEqual(version.name.utf8) }
                }
                guard !isKnown else { continue }
                rows.append(unknown(.appVersions, "what app version \(version.name.quoted) carries is not given"))
            }
        }
    }

    private mutating func judgeHost(_ index: Int) throws(PublishingError) {
        let input = inputs.hosts[index]
        let host: DialedHost
        do throws(HostError) {
            host = try DialedHost(input.name, port: input.port)
        } catch {
            throw PublishingError(.invalidInput, of: input.name.quoted, expected: error.expected, found: error.found)
        }
        let dialed = HeldDocument.deciding(about: host, among: documents)
        let indices = Set(dialed.map(\.index))
        for held in documents
        where held.isDialed(host) && held.document.isCarriedAlone && !indices.contains(held.index) {
            unnamed[held.index, default: []].append(host.description)
        }
        if dialed.isEmpty || platforms.isEmpty {
            let words = dialed.isEmpty ? "no client of the documents dials it" : "no platform is given"
            rows.append(unknown(.nothingToJudge, words, host, index))
        }
        if let gap = firstGap(between: input.shown) {
            let words =
                gap == begins
                ? "what it shows now is not given"
                : "what it shows from \(Date(wholeSeconds: gap).formatted(.iso8601)) on is not given"
            rows.append(unknown(.notSeen, words, host, index))
        }
        for (position, shown) in input.shown.enumerated() {
            if let problem = problem(of: shown) {
                rows.append(unknown(.notSeen, problem, host, index, shown, position))
            } else {
                judge(shown, position, of: host, index, dialed)
            }
        }
    }

    /// The first second of the outlook without a given chain; nil if all are covered.
    private func firstGap(between shown: [PublicationOutlook.Presentation]) -> Int64? {
        var covered = begins
        let spans = shown.map { ($0.start?.wholeSeconds ?? .min, $0.end?.wholeSeconds ?? .max) }
        for (first, last) in spans.sorted(by: { $0.0 < $1.0 }) where first <= covered { covered = max(covered, last) }
        return covered < ends ? covered : nil
    }

    /// Why the chain of a server is unknown; nil if it is known.
    private func problem(of shown: PublicationOutlook.Presentation) -> String? {
        guard shown.chain != nil else { return shown.problem ?? "it could not be read" }
        guard shown.start == nil else { return nil }
        guard let seen = shown.seen else { return "it was not seen" }
        // This comparison treats NaN as too long ago.
        guard abs(inputs.now.timeIntervalSince(seen)) <= Self.longestSinceSeen else {
            return seen < inputs.now
                ? "it was last seen at \(seen.formatted(.iso8601)), more than an hour ago: probe the host again"
                : "it was seen at \(seen.formatted(.iso8601)), which is yet to come: the clock was changed, so probe the "
                    + "host again"
        }
        return nil
    }

    private mutating func judge(
        _ shown: PublicationOutlook.Presentation, _ position: Int, of host: DialedHost, _ index: Int,
        _ dialed: [HeldDocument]
    ) {
        let chain = PresentedChain((shown.chain ?? []).map { [UInt8]($0) })
        let first = max(begins, shown.start?.wholeSeconds ?? .min)
        let last = min(ends, shown.end?.wholeSeconds ?? .max)
        let certificates = chain.certificates.compactMap { try? X509Certificate(der: $0) }
        let ofChain = ClientPlatform.boundaries(of: certificates)
        for platform in platforms {
            for held in dialed {
                for period in periods[held.index] {
                    let (from, to) = (max(first, period.begins), min(last, period.ends))
                    guard from < to else { continue }
                    let boundaries = Set(ofChain + platform.boundaries + held.boundaries)
                        .filter { from < $0 && $0 < to }.sorted()
                    let search = SpanSearch(begins: from, ends: to, boundaries: boundaries)
                    for (client, pinning) in held.clients {
                        let trial = ClientTrial(
                            held, pinning: pinning, isBeginning: period.holders == .beginning, host: host,
                            chain: chain, validator: platform.validator)
                        rows.append(
                            PublicationOutlook.Row(
                                host: host.description, hostIndex: index, place: shown.label, presentation: position,
                                document: held.index, client: client, holders: period.holders,
                                appVersions: held.document.appVersions, platform: platform.name,
                                spans: search.spans(of: trial), graceEnd: held.end))
                    }
                }
            }
        }
    }

    /// The hosts that pins in builds do not restrict, one sentence for each document.
    var unrestricted: [String] {
        documents.compactMap { held in
            guard let hosts = unnamed[held.index] else { return nil }
            let names = hosts.prefix(3).joined(separator: ", ")
            let more = hosts.count > 3 ? " and \(hosts.count - 3) more" : ""
            return "\(held.document.name) does not name \(names)\(more): "
                + "there, the platform or another source of the app decides"
        }
    }

    private func unknown(
        _ code: PublicationOutlook.Cause.Code, _ words: String, _ host: DialedHost? = nil, _ index: Int? = nil,
        _ shown: PublicationOutlook.Presentation? = nil, _ position: Int? = nil
    ) -> PublicationOutlook.Row {
        PublicationOutlook.Row(
            host: host?.description, hostIndex: index, place: shown?.label, presentation: position,
            cause: PublicationOutlook.Cause(code, at: Date(wholeSeconds: begins), words))
    }
}

extension PublicationOutlook.Presentation {
    /// The location, with the kind of the key.
    var label: String { keyKind.isEmpty ? place : "\(place) \(keyKind)" }
}

extension PublicationOutlook.AppVersion {
    func isUsed(at time: Date) -> Bool { usedUntil.map { time < $0 } ?? true }
}
