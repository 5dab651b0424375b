import Foundation

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
public struct PublicationOutlook: Sendable, Hashable {
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

    /// Judges a publication.
    /// - Parameter inputs: everything that the outlook rests on.
    /// - Throws: ``PublishingError`` `invalidInput` for inputs that contradict themselves or exceed the limits. A document
    ///   that its clients refuse is no error: they do not get in.
    public init(judging inputs: Inputs) throws(PublishingError) {
        var judge = try OutlookJudge(inputs)
        try judge.judge()
        self.inputs = inputs
        rows = judge.rows
        (verdict, decisive) = Self.verdict(of: judge.rows, at: inputs.now)
        premises = OutlookPremises.sentences(inputs, judge.rows, kept: judge.kept)
    }

    /// The worst of the rows that count, and the first of them; of several that end, the one that ends first.
    private static func verdict(of rows: [Row], at now: Date) -> (Verdict, decisive: Int?) {
        let counted = rows.indices.filter { rows[$0].holders != .older }
        // A row whose time is yet to come is no reason to call anybody locked out now.
        func isOutNow(_ row: Row) -> Bool { row.verdict == .out && row.begins.map { $0 <= now } ?? true }
        if let index = counted.first(where: { isOutNow(rows[$0]) }) { return (.out, index) }
        if let index = counted.first(where: { rows[$0].verdict == .unknown }) { return (.unknown, index) }
        func end(_ row: Row) -> Date {
            (row.verdict == .out ? row.begins : row.until) ?? row.ends ?? .distantFuture
        }
        let ending = counted.filter { rows[$0].verdict != .in }
        guard let first = ending.min(by: { end(rows[$0]) < end(rows[$1]) }) else {
            return counted.isEmpty ? (.unknown, nil) : (.in, nil)
        }
        return (.ending, first)
    }
}
