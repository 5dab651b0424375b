public import Foundation
import Holdfast

/// The judge of a publication: whether every client that may be out there gets in, until when, and what ends it first.
///
/// ```swift
/// let outlook = try PublicationOutlook(
///     judging: .init(
///         documents: [.init("pins.json", kind: .shippedPins, octets: file, published: release, appVersions: ["7.4"])],
///         hosts: [.init("api.example.com", port: 443, shown: [.init(chain, at: "192.0.2.1", seen: now)])],
///         platforms: [.init("company root", anchors: [root])], appVersions: .versions([.init("7.4")]), now: now))
/// guard outlook.verdict == .in else { return report(outlook) }
/// ```
/// It runs the clients' own code on the documents that they may hold and on the chains that they may meet. Time is not
/// sampled: every instant at which something begins or ends is judged, and the second before it. A good verdict is
/// relative to the inputs, which ``premises`` says in words. It performs no I/O, and takes no time but that of the
/// inputs: the same inputs give the same ``json``.
public struct PublicationOutlook: StoredValue {
    /// What it is called in stored JSON.
    public static var storedName: String { "publicationOutlook" }

    /// The worst of all rows that count, after what is unknown: `out`, `unknown`, `ending`, `in`, in this order.
    ///
    /// A row that begins later and is out at its beginning makes it `ending`.
    public let verdict: Verdict
    /// The row that decided, as an index of ``rows``; nil for `in`.
    public let decisive: Int?
    /// All rows: by host, chain, platform, document, holders and client, in the order of the inputs.
    public let rows: [Row]
    /// What the verdict rests on, a sentence each: versions, documents, staleness, addresses, anchors, clock.
    public let premises: [String]
    /// Where ``json`` gets them from.
    let inputs: Inputs

    /// What people call the documents, in the order of the inputs.
    public var documentNames: [String] { inputs.documents.map(\.name) }

    /// When each document was published, in the order of the inputs.
    public var publicationTimes: [Date] { inputs.documents.map(\.published) }

    /// Judges a publication.
    /// - Parameter inputs: everything that the outlook rests on.
    /// - Throws: ``PublishingError`` `invalidInput` for inputs that contradict themselves or exceed the limits. A document
    ///   that its clients refuse is no error: they do not get in.
    public init(judging inputs: Inputs) throws(PublishingError) {
        var judge = try OutlookJudge(inputs)
        try judge.judge()
        self.inputs = inputs
        rows = judge.rows
        (verdict, decisive) = Self.verdict(of: judge.rows, at: inputs.now, until: .distantFuture)
        premises = OutlookPremises.sentences(inputs, judge.rows, kept: judge.kept + judge.unrestricted)
    }

    /// The verdict on the first part of the span, and the row that decided. An outlook that looks far ahead, to say until
    /// when clients get in, need not call everything `ending` that ends at some time.
    /// - Parameter span: the length of the part.
    /// - Returns: what ``verdict`` and ``decisive`` were if only this part had been judged. Clients that hold a replaced
    ///   document and are let in by grace until they ask again have a newer one to ask for, so for them nothing ends.
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

    /// The worst of the rows that count, and the first of them; of several that end, the one that ends first.
    private static func verdict(
        of rows: [Row], at now: Date, until end: Date, ignoringGrace ignoresGrace: Bool = false
    ) -> (Verdict, decisive: Int?) {
        let counted = rows.indices.filter { rows[$0].counts(until: end) }
        let verdicts = rows.map { row in
            ignoresGrace && row.hasNewerDocument ? .in : row.verdict(until: end)
        }
        // A row whose time is yet to come is no reason to call anybody locked out now.
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
    /// Whether the row counts for a verdict on the time before an end.
    func counts(until end: Date) -> Bool { holders != .older && start.map { $0 < end } ?? true }

    /// Whether its clients get in, if only by grace, until they ask for the document that took the place of theirs.
    fileprivate var hasNewerDocument: Bool {
        verdict == .ending && holders == .replaced && spans.allSatisfy(\.getsIn)
    }

    /// What the spans before an end amount to.
    package func verdict(until end: Date) -> PublicationOutlook.Verdict {
        guard verdict == .ending, let first = spans.first, !first.isGrace else { return verdict }
        return spans.contains { $0.start < end && (!$0.getsIn || $0.isGrace) } ? .ending : .in
    }
}
