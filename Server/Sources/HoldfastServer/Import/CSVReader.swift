/// Takes CSV apart as PostgreSQL's `COPY … (FORMAT csv)` writes it, which is RFC 4180 with one addition: a field without
/// quotation marks and without bytes is null, and a quoted one without bytes is an empty text.
///
/// Everything that such a writer never writes is refused, because a file that was edited or cut off is one that nobody
/// knows the meaning of. No error shows what a field has: it may be a private key in the wrong place.
struct CSVReader {
    /// How much is read, whoever wrote it.
    struct Limits: Sendable {
        /// All apps of a large installation with a certificate's PEM each, several times over.
        var bytes = 64 << 20
        /// As large as any PEM of a chain.
        var field = 64 << 10
        /// More columns than any table has that is read.
        var fields = 32
        /// More rows than a content may have certificates.
        var rows = 1_000_000
    }

    /// A line of the file, which has several lines of text where a quoted field has line feeds.
    struct Row: Sendable, Hashable {
        /// Where it begins; the first line is 1.
        let line: Int
        /// The fields; nil for null.
        let fields: [[UInt8]?]
    }

    private let bytes: [UInt8]
    private let subject: String
    private let limits: Limits
    private var place = 0
    private var line = 1
    private var rows = 0

    /// - Parameters:
    ///   - bytes: the whole file.
    ///   - subject: what it is, for errors.
    ///   - limits: how much is read.
    /// - Throws: ``ServerError`` `malformed` for a file that is too large.
    init(_ bytes: [UInt8], _ subject: String, limits: Limits = Limits()) throws(ServerError) {
        guard bytes.count <= limits.bytes else {
            throw ServerError(
                .malformed, of: subject, expected: "at most \(limits.bytes) bytes", found: "\(bytes.count)",
                remedy: "Export one application at a time.")
        }
        self.bytes = bytes
        self.subject = subject
        self.limits = limits
    }

    /// The next row; nil at the end.
    /// - Throws: ``ServerError`` `malformed`, with the line and the number of the field.
    mutating func row() throws(ServerError) -> Row? {
        guard place < bytes.count else { return nil }
        rows += 1
        let start = line
        guard rows <= limits.rows else {
            throw malformed(nil, "at most \(limits.rows) rows", "more", "Export one application at a time.")
        }
        var fields: [[UInt8]?] = []
        while true {
            let number = fields.count + 1
            guard number <= limits.fields else {
                throw malformed(number, "at most \(limits.fields) fields", "more", Self.usualRemedy)
            }
            fields.append(try field(number))
            guard place < bytes.count else {
                throw malformed(number, "a line feed after the last row", "the end of the file", Self.cutRemedy)
            }
            let byte = bytes[place]
            place += 1
            if byte == UInt8(ascii: ",") { continue }
            // psql on Windows ends lines with both.
            if byte == UInt8(ascii: "\r"), place < bytes.count, bytes[place] == UInt8(ascii: "\n") { place += 1 }
            guard bytes[place - 1] == UInt8(ascii: "\n") else {
                throw malformed(number, "a comma or the end of the line", "another byte", Self.usualRemedy)
            }
            line += 1
            return Row(line: start, fields: fields)
        }
    }

    private mutating func field(_ number: Int) throws(ServerError) -> [UInt8]? {
        guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else { return try plain(number) }
        place += 1
        var field: [UInt8] = []
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            if byte == UInt8(ascii: "\"") {
                // A mark that is doubled is one of the text (RFC 4180 2.7).
                guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else { return field }
                place += 1
            }
            if byte == UInt8(ascii: "\n") { line += 1 }
            try take(byte, into: &field, number)
        }
        throw malformed(number, "a closing quotation mark", "the end of the file", Self.cutRemedy)
    }

    private mutating func plain(_ number: Int) throws(ServerError) -> [UInt8]? {
        var field: [UInt8] = []
        while place < bytes.count,
            ![UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(bytes[place])
        {
            guard bytes[place] != UInt8(ascii: "\"") else {
                throw malformed(number, "quotation marks around the whole field", "one inside", Self.usualRemedy)
            }
            try take(bytes[place], into: &field, number)
            place += 1
        }
        return field.isEmpty ? nil : field
    }

    private func take(_ byte: UInt8, into field: inout [UInt8], _ number: Int) throws(ServerError) {
        // PostgreSQL has no text with it.
        guard byte != 0 else { throw malformed(number, "a text", "the byte zero", Self.usualRemedy) }
        guard field.count < limits.field else {
            throw malformed(number, "at most \(limits.field) bytes", "more", Self.usualRemedy)
        }
        field.append(byte)
    }

    private static let usualRemedy = "Export the table again with the \\copy line of docs/server/operating.md."
    private static let cutRemedy = "The file was cut off: export the table again, and check the free space."

    private func malformed(
        _ field: Int?, _ expected: String, _ found: String, _ remedy: String
    ) -> ServerError {
        let place = field.map { ", field \($0)" } ?? ""
        return ServerError(
            .malformed, of: "\(subject), line \(line)\(place)", expected: expected, found: found, remedy: remedy)
    }
}
