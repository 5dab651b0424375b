public import Foundation
import Holdfast

/// Evaluates a publication: if every client in the field can connect, until when, and what ends that first.
///
/// ```swift
/// let outlook = try PublicationOutlook(
///     judging: .init(
///         documents: [.init("pins.json", kind: .shippedPins, octets: file, published: release, appVersions: ["7.4"])],
///         hosts: [.init("api.example.com", port: 443, shown: [.init(chain, at: "192.0.2.1", seen: now)])],
///         platforms: [.init("company root", anchors: [root])], appVersions: .versions([.init("7.4")]), now: now))
/// guard outlook.verdict == .in else { return report(outlook) }
/// ```
/// It runs the clients' own code on the documents that they may hold and on the chains that they may be presented. Time
/// is not sampled: every instant at which something begins or ends is evaluated, and the second before it. A good
/// verdict is relative to the inputs, which ``premises`` describes. It performs no I/O and uses only the time of the
/// inputs: the same inputs give the same ``json``.
public struct PublicationOutlook: StoredValue {
    /// The name of the outlook in stored JSON.
    public static var storedName: String { "publicationOutlook" }

    /// The worst verdict of all rows that are not about older clients: `out`, `unknown`, `ending`, `in`, in this order.
    ///
    /// A row that begins later and is out at its beginning makes it `ending`.
    public let verdict: Verdict
    /// The row that decided, as an index of ``rows``; nil for `in`.
    public let decisive: Int?
    /// All rows: by host, chain, platform, document, holders and client, in the order of the inputs.
    public let rows: [Row]
    /// The assumptions of the verdict, one sentence each: versions, documents, staleness, addresses, anchors, clock.
    public let premises: [String]
    /// The inputs that ``json`` contains.
    let inputs: Inputs

    /// The names of the documents, in the order of the inputs.
    public var documentNames: [String] { inputs.documents.map(\.name) }

    /// When each document was published, in the order of the inputs.
    public var publicationTimes: [Date] { inputs.documents.map(\.published) }

    /// Evaluates a publication.
    /// - Parameter inputs: all inputs of the outlook.
    /// - Throws: ``PublishingError`` `invalidInput` for inputs that contradict themselves or exceed the limits. A
    ///   document that its clients refuse is no error: they cannot connect.
    public init(judging inputs: Inputs) throws(PublishingError) {
        var judge = try OutlookJudge(inputs)
        try judge.judge()
        self.inputs = inputs
        rows = judge.rows
        (verdict, decisive) = Self.verdict(of: judge.rows, at: inputs.now, until: .distantFuture)
        premises = OutlookPremises.sentences(inputs, judge.rows, kept: judge.kept + judge.unrestricted)
    }

    /// The verdict on the first part of the span, and the row that decided. An outlook over a long time, made to find
    /// out until when clients can connect, then need not report every later end as `ending`.
    /// - Parameter span: the length of the part.
    /// - Returns: the values of ``verdict`` and ``decisive`` if only this part were evaluated. Clients that hold a
    ///   replaced document and can connect by grace until they fetch have a newer one to fetch, so for them nothing
    ///   ends.
    public func verdict(within span: Duration) -> (verdict: Verdict, decisive: Int?) {
        Self.verdict(
            of: rows, at: inputs.now, until: inputs.now.addingTimeInterval(max(1, span.inSeconds)), ignoringGrace: true)
    }

    private enum CodingKeys: CodingKey {
        case verdict, decisive, rows, premises, inputs
    }

    /// Reads a stored outlook. Its indices must be those of its own rows and inputs.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        verdict = try container.decode(Verdict.self, forKey: .verdict)
        decisive = try container.decodeIfPresent(Int.self, forKey: .decisive)
        rows = try container.decode([Row].self, forKey: .rows)
        premises = try container.decode([String].self, forKey: .premises)
        inputs = try container.decode(Inputs.self, forKey: .inputs)
        let inputs = inputs
        guard rows.allSatisfy({ $0.isAbout(inputs) }), decisive.map(rows.indices.contains) ?? true else {
            throw PublishingError.contradiction(
                in: Self.storedName, "indices of its own rows and inputs", found: "others")
        }
    }

    /// The worst verdict of the relevant rows, and the first row that has it; of several that end, the one that ends
    /// first.
    private static func verdict(
        of rows: [Row], at now: Date, until end: Date, ignoringGrace ignoresGrace: Bool = false
    ) -> (Verdict, decisive: Int?) {
        let counted = rows.indices.filter { rows[$0].counts(until: end) }
        let verdicts = rows.map { row in
            ignoresGrace && row.hasNewerDocument ? .in : row.verdict(until: end)
        }
        // A row that begins in the future does not mean that clients are locked out now.
        func isOutNow(_ index: Int) -> Bool { verdicts[index] == .out && rows[index].start.map { $0 <= now } ?? true }
        if let index = counted.first(where: isOutNow) { return (.out, index) }
        if let index = counted.first(where: { verdicts[$0] == .unknown }) { return (.unknown, index) }
        func instant(_ row: Row) -> Date {
            (row.verdict == .out ? row.start : row.verdictEnd) ?? row.end ?? .distantFuture
        }
        let ending = counted.filter { verdicts[$0] != .in }
        guard let first = ending.min(by: { instant(rows[$0]) < instant(rows[$1]) }) else {
            return counted.isEmpty ? (.unknown, nil) : (.in, nil)
        }
        return (.ending, first)
    }
}

extension PublicationOutlook.Row {
    /// Whether the row is relevant for a verdict on the time before an end.
    func counts(until end: Date) -> Bool { holders != .older && start.map { $0 < end } ?? true }

    /// Whether its clients can connect, even if only by grace, until they fetch the document that replaced theirs.
    fileprivate var hasNewerDocument: Bool {
        verdict == .ending && holders == .replaced && spans.allSatisfy(\.getsIn)
    }

    /// The summary of the spans before an end.
    package func verdict(until end: Date) -> PublicationOutlook.Verdict {
        guard verdict == .ending, let first = spans.first, !first.isGrace else { return verdict }
        return spans.contains { $0.start < end && (!$0.getsIn || $0.isGrace) } ? .ending : .in
    }
}
