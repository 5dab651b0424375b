import ServerFoundation

/// Reads CSV as PostgreSQL's `COPY … (FORMAT csv)` writes it, which is RFC 4180 with one addition: an empty field
/// without quotation marks is null, and a quoted empty field is an empty text.
///
/// It rejects everything that this writer never produces, because the meaning of an edited or truncated file is
/// uncertain. No error contains the content of a field: it may be a misplaced private key.
struct CSVReader {
    /// Limits for any file.
    struct Limits: Sendable {
        /// Maximum file size, several times that of all apps of a large installation with the PEM of a certificate
        /// each.
        var bytes = 64 << 20
        /// Maximum field size, for the PEM of a chain.
        var field = 64 << 10
        /// Maximum number of columns, more than any known table has.
        var fields = 32
        /// Maximum number of rows, more than a content may have certificates.
        var rows = 1_000_000
    }

    /// A row of the file, which spans several lines if a quoted field has line feeds.
    struct Row: Sendable, Hashable {
        /// The line where it begins; the first line is 1.
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
    ///   - subject: the subject of errors.
    ///   - limits: the limits.
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
            // psql on Windows ends lines with CR LF.
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
                // A doubled quotation mark stands for one in the text (RFC 4180 2.7).
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
        // PostgreSQL texts contain no NUL.
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
