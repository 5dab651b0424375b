/// Takes a text of lines apart that has one spelling only: every line ends with one line feed, the last one too, and no
/// octet is outside printable ASCII.
struct LineReader {
    /// Longer than any line that this program writes: the Base64 of an RSA key has 740 octets.
    static let lineOctets = 2_048

    private var rest: ArraySlice<UInt8>
    private let subject: String

    /// - Parameters:
    ///   - octets: the whole text.
    ///   - subject: what it is, for errors.
    ///   - limit: how many octets it may have.
    init(_ octets: [UInt8], _ subject: String, limit: Int) throws(ServerError) {
        self.subject = subject
        rest = octets[...]
        guard octets.count <= limit else {
            throw ServerError(.malformed, of: subject, expected: "at most \(limit) octets", found: "\(octets.count)")
        }
        guard octets.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x0A }) else {
            throw ServerError(
                .malformed, of: subject, expected: "printable ASCII and line feeds", found: "another octet")
        }
    }

    /// The next line, without its line feed.
    /// - Parameter field: what it is, for errors.
    mutating func line(_ field: String) throws(ServerError) -> ArraySlice<UInt8> {
        guard let end = rest.firstIndex(of: 0x0A), end > rest.startIndex, end - rest.startIndex <= Self.lineOctets
        else { throw malformed(field, "a line") }
        defer { rest = rest[(end + 1)...] }
        return rest[..<end]
    }

    /// The next line, which must be this one.
    mutating func line(_ field: String, equalTo text: String) throws(ServerError) {
        guard try line(field).elementsEqual(text.utf8) else { throw malformed(field, text) }
    }

    /// The next line, read by a closure that returns nil for what is not allowed there.
    mutating func line<Value>(
        _ field: String, _ expected: String, _ read: (ArraySlice<UInt8>) -> Value?
    ) throws(ServerError) -> Value {
        guard let value = read(try line(field)) else { throw malformed(field, expected) }
        return value
    }

    /// The next line as a number without sign and leading zeros.
    mutating func number(_ field: String, in range: ClosedRange<Int64>) throws(ServerError) -> Int64 {
        try line(field, "a number from \(range.lowerBound) to \(range.upperBound)") { octets in
            Self.number(octets).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Nothing may follow.
    func finish() throws(ServerError) {
        guard rest.isEmpty else { throw malformed("end", "nothing after the last line") }
    }

    /// A number in its only spelling, of at most 53 bits.
    static func number(_ octets: ArraySlice<UInt8>) -> Int64? {
        guard octets.count <= 16, let text = Int64(String(decoding: octets, as: UTF8.self)),
            text >= 0, text <= CanonicalJSON.greatestInteger, String(text).utf8.elementsEqual(octets)
        else { return nil }
        return text
    }

    private func malformed(_ field: String, _ expected: String) -> ServerError {
        ServerError(.malformed, of: "\(subject), \(field)", expected: expected, found: "another line")
    }
}
