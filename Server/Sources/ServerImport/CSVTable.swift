import Holdfast
import ServerFoundation

/// A table exported as CSV with the names of its columns in the first row.
package struct CSVTable: Sendable {
    /// The name and the columns of a table.
    struct Schema: Sendable, Hashable {
        /// The name of the table.
        let name: String
        /// All of its columns, in any order.
        let columns: [String]
        /// The additional columns of later versions of the other server.
        var laterColumns: [String] = []

        /// All columns that it may have.
        var known: [String] { columns + laterColumns }
    }

    /// A row of a table. Its values are read field by field, and errors never contain them.
    package struct Row: Sendable {
        private let schema: Schema
        private let line: Int
        private let fields: [String: [UInt8]?]

        fileprivate init(_ row: CSVReader.Row, at line: Int, _ schema: Schema, columns: [String]) {
            self.schema = schema
            self.line = line
            fields = Dictionary(zip(columns, row.fields)) { first, _ in first }
        }

        /// A field that a closure reads; null is refused.
        /// - Parameter read: returns nil for an invalid value.
        func value<Value>(
            _ column: String, _ expected: String, remedy: String? = nil, _ read: ([UInt8]) -> Value?
        ) throws(ServerError) -> Value {
            guard let bytes = fields[column] ?? nil, let value = read(bytes) else {
                throw error(column, expected, remedy)
            }
            return value
        }

        /// A field that a closure reads; nil for null and for an empty text.
        func optional<Value>(
            _ column: String, _ expected: String, _ read: ([UInt8]) -> Value?
        ) throws(ServerError) -> Value? {
            guard let bytes = fields[column] ?? nil, !bytes.isEmpty else { return nil }
            return try value(column, expected) { _ in read(bytes) }
        }

        /// A number without sign and leading zeros.
        func number(_ column: String) throws(ServerError) -> Int64 {
            try value(column, "a number") { LineReader.number($0[...]) }
        }

        /// A text of UTF-8.
        func text(_ column: String, _ count: ClosedRange<Int>) throws(ServerError) -> String {
            try value(column, "\(count.lowerBound) to \(count.upperBound) bytes of UTF-8") { bytes in
                count.contains(bytes.count) ? String(validating: bytes, as: UTF8.self) : nil
            }
        }

        /// An error about a field, without its content.
        func error(_ column: String, _ expected: String, found: String? = nil, _ remedy: String? = nil) -> ServerError {
            let bytes = fields[column] ?? nil
            return ServerError(
                .invalidValue, of: "\(schema.name), line \(line), field \(column)", expected: expected,
                found: found ?? bytes.map { "another value of \($0.count) bytes" } ?? "nothing",
                remedy: remedy ?? "Correct it in the old server, and export the table again.")
        }

        /// Adds the row and the field to an error of another part of the server.
        func locating<Value>(_ column: String, _ body: () throws(ServerError) -> Value) throws(ServerError) -> Value {
            do throws(ServerError) {
                return try body()
            } catch let failure {
                throw error(column, failure.expected, failure.remedy)
            }
        }
    }

    /// The name and the columns of the table.
    let schema: Schema
    /// Its rows.
    let rows: [Row]

    private static let maximumName = 64

    /// Reads a table.
    /// - Parameters:
    ///   - reader: a reader positioned before the names of the columns.
    ///   - schema: the table.
    ///   - isEnd: whether a row is the first one after the table. That row is stored in `next`.
    ///   - next: the row after the table; nil for none.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`: an unknown column is an error, because its data would
    ///   be lost.
    init(
        _ reader: inout CSVReader, _ schema: Schema, until isEnd: (CSVReader.Row) -> Bool = { _ in false },
        next: inout CSVReader.Row?
    ) throws(ServerError) {
        guard let header = try reader.row() else {
            throw ServerError(
                .malformed, of: schema.name, expected: "the names of the columns", found: "nothing",
                remedy: "Export the table with \"header\", as the \\copy line of docs/server/operating.md has it.")
        }
        let columns = try Self.columns(of: header, schema)
        var rows: [Row] = []
        next = nil
        while let row = try reader.row() {
            if isEnd(row) {
                next = row
                break
            }
            // Counted from the names of the columns, as in a file with only this table.
            let line = row.line - header.line + 1
            guard row.fields.count == columns.count else {
                throw ServerError(
                    .malformed, of: "\(schema.name), line \(line)", expected: "\(columns.count) fields",
                    found: "\(row.fields.count)",
                    remedy: "Export the table again with the \\copy line of docs/server/operating.md.")
            }
            rows.append(Row(row, at: line, schema, columns: columns))
        }
        self.schema = schema
        self.rows = rows
    }

    private static func columns(of header: CSVReader.Row, _ schema: Schema) throws(ServerError) -> [String] {
        var columns: [String] = []
        for (index, field) in header.fields.enumerated() {
            let bytes = field ?? []
            if let known = schema.known.first(where: { $0.utf8.elementsEqual(bytes) }), !columns.contains(known) {
                columns.append(known)
                continue
            }
            let name =
                ASCIIText.isName(bytes, 1...maximumName, others: "_-")
                ? String(decoding: bytes, as: UTF8.self) : "\(index + 1), whose name has \(bytes.count) bytes"
            let isEncryption = bytes.prefix(maximumName).map { $0 | 0x20 }.contains(Array("encrypt".utf8))
            throw ServerError(
                .invalidValue, of: "\(schema.name), line 1, field \(name)",
                expected: isEncryption
                    ? "private keys that the old server has not encrypted"
                    : "the columns \(schema.known.joined(separator: ", ")), each once",
                found: isEncryption ? "a column about their encryption" : "another column, or one twice",
                remedy: isEncryption
                    ? "Decrypt the keys as the old server's manual says, and export them without this column."
                    : "Leave it out of the \\copy line if apps do not depend on it, or use a newer holdfast-server.")
        }
        if let missing = schema.columns.first(where: { !columns.contains($0) }) {
            throw ServerError(
                .invalidValue, of: "\(schema.name), line 1, field \(missing)",
                expected: "the columns \(schema.columns.joined(separator: ", "))", found: "a table without it",
                remedy: "Export it as well; \"NULL::text AS \(missing)\" where the old server's table has none.")
        }
        return columns
    }
}
