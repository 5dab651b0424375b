import HoldfastPublishing
import ServerFoundation

/// An outlook, stored when its change was proposed: the verdicts for clients at each host. Here it is only read and
/// arranged in rows; nothing is evaluated again.
struct StoredOutlook: Sendable, Hashable {
    /// The verdict for clients of one kind and age at a host, for the worst of its chains.
    struct Fare: Sendable, Hashable {
        let verdict: PublicationOutlook.Verdict
        /// The first second at which the verdict no longer holds, in seconds since 1970; nil if it holds until the end.
        let until: Int64?
        /// The cause; nil for clients that can connect.
        let cause: String?

        /// The rank of the verdict in outlooks, the worst highest.
        fileprivate var severity: Int {
            switch verdict {
            case .out: 3
            case .unknown: 2
            case .ending: 1
            case .in: 0
            }
        }

        fileprivate func isWorse(than other: Fare) -> Bool {
            (severity, other.until ?? .max) > (other.severity, until ?? .max)
        }
    }

    /// The verdicts for clients of one kind at a host.
    struct Row: Sendable, Hashable {
        /// The dialed host; empty for a row about all hosts.
        let host: String
        /// The kind of client by its name; empty if no document was evaluated.
        let client: String
        var fares: [PublicationOutlook.Holders: Fare]
    }

    let verdict: PublicationOutlook.Verdict
    /// The rows in the order of the outlook.
    private(set) var rows: [Row]
    /// The number of rows, including those that were left out.
    let rowCount: Int
    let premises: [String]

    /// The maximum size in bytes and the maximum number of rows; no proposed outlook is larger.
    private static let maximumSize = 64 << 20
    private static let maximumCount = 1_000_000

    /// Reads the output of ``PublicationOutlook/json``.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`.
    init(_ bytes: [UInt8]) throws(ServerError) {
        var fields = try JSONFields(try JSONReader.read(bytes, "outlook", limit: Self.maximumSize), "outlook")
        verdict = try fields.text("verdict", "a verdict") { PublicationOutlook.Verdict(bytes: $0) }
        premises = try fields.array("premises", atMost: Self.maximumCount) { value, path throws(ServerError) in
            guard case .text(let text) = value else {
                throw ServerError(.malformed, of: path, expected: "a text", found: "another value")
            }
            return String(decoding: text, as: UTF8.self)
        }
        var rows: [Row] = []
        var places: [[String]: Int] = [:]
        for row in try fields.array("rows", atMost: Self.maximumCount, Self.row) {
            let key = [row.host, row.client]
            guard let place = places[key] else {
                places[key] = rows.count
                rows.append(row)
                continue
            }
            rows[place].fares.merge(row.fares) { $1.isWorse(than: $0) ? $1 : $0 }
        }
        self.rows = rows
        rowCount = rows.count
    }

    /// The same outlook with only its first rows.
    func shortened(to count: Int) -> StoredOutlook {
        var shorter = self
        shorter.rows = Array(rows.prefix(count))
        return shorter
    }

    private static func row(_ value: CanonicalJSON, _ path: String) throws(ServerError) -> Row {
        var fields = try JSONFields(value, path)
        func text(_ bytes: [UInt8]?) -> String { bytes.map { String(decoding: $0, as: UTF8.self) } ?? "" }
        let holders = try fields.text("holders", "who holds it") { PublicationOutlook.Holders(bytes: $0) }
        let verdict = try fields.text("verdict", "a verdict") { PublicationOutlook.Verdict(bytes: $0) }
        let until = try fields.optionalText("until").flatMap { UTCText.decode($0) }
        var cause: String?
        if let value = fields.optional("cause") {
            var members = try JSONFields(value, fields.place("cause"))
            let (code, words) = (try members.text("code"), try members.text("words"))
            cause = text(words.isEmpty ? code : words)
        }
        return Row(
            host: text(try fields.optionalText("dialed")), client: text(try fields.optionalText("client")),
            fares: [holders: Fare(verdict: verdict, until: until, cause: cause)])
    }
}
