/// Reads a text of lines with one spelling only: every line ends with one line feed, also the last, and all bytes are
/// printable ASCII.
package struct LineReader {
    /// Maximum length of a line: the Base64 of an RSA key has 740 bytes.
    package static let lineBytes = 2_048

    private var rest: ArraySlice<UInt8>
    private let subject: String

    /// - Parameters:
    ///   - bytes: the whole text.
    ///   - subject: the subject of errors.
    ///   - limit: the maximum number of bytes.
    package init(_ bytes: [UInt8], _ subject: String, limit: Int) throws(ServerError) {
        self.subject = subject
        rest = bytes[...]
        guard bytes.count <= limit else {
            throw ServerError(.malformed, of: subject, expected: "at most \(limit) bytes", found: "\(bytes.count)")
        }
        guard bytes.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x0A }) else {
            throw ServerError(
                .malformed, of: subject, expected: "printable ASCII and line feeds", found: "another byte")
        }
    }

    /// The next line, without its line feed.
    /// - Parameter field: the name of the line, for errors.
    package mutating func line(_ field: String) throws(ServerError) -> ArraySlice<UInt8> {
        guard let end = rest.firstIndex(of: 0x0A), end > rest.startIndex, end - rest.startIndex <= Self.lineBytes
        else { throw malformed(field, "a line") }
        defer { rest = rest[(end + 1)...] }
        return rest[..<end]
    }

    /// Requires that the next line is a text.
    package mutating func line(_ field: String, equalTo text: String) throws(ServerError) {
        guard try line(field).elementsEqual(text.utf8) else { throw malformed(field, text) }
    }

    /// The next line, read by a closure that returns nil for an invalid one.
    package mutating func line<Value>(
        _ field: String, _ expected: String, _ read: (ArraySlice<UInt8>) -> Value?
    ) throws(ServerError) -> Value {
        guard let value = read(try line(field)) else { throw malformed(field, expected) }
        return value
    }

    /// The next line as a number without sign and leading zeros.
    package mutating func number(_ field: String, in range: ClosedRange<Int64>) throws(ServerError) -> Int64 {
        try line(field, "a number from \(range.lowerBound) to \(range.upperBound)") { bytes in
            Self.number(bytes).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Requires the end of the text.
    package func finish() throws(ServerError) {
        guard rest.isEmpty else { throw malformed("end", "nothing after the last line") }
    }

    /// A number in its canonical spelling, of at most 53 bits.
    package static func number(_ bytes: ArraySlice<UInt8>) -> Int64? {
        guard bytes.count <= 16, let text = Int64(String(decoding: bytes, as: UTF8.self)),
            text >= 0, text <= CanonicalJSON.maximumInteger, String(text).utf8.elementsEqual(bytes)
        else { return nil }
        return text
    }

    private func malformed(_ field: String, _ expected: String) -> ServerError {
        ServerError(.malformed, of: "\(subject), \(field)", expected: expected, found: "another line")
    }
}
