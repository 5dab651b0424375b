package import Foundation
package import ServerFoundation

/// The tables of a Wultra mobile utility server, exported as CSV. Its accounts are not taken over, as tokens replace
/// them, nor are its version rules and their texts.
package struct MobileUtilityTables: Sendable {
    /// The tables to read, in any order.
    package enum Table: String, Sendable, CaseIterable {
        case app = "mus_mobile_app"
        case domain = "mus_mobile_domain"
        case certificate = "mus_certificate"

        var schema: CSVTable.Schema {
            let columns =
                switch self {
                case .app: ["id", "name", "display_name", "sign_private_key", "sign_public_key"]
                case .domain: ["id", "app_id", "domain"]
                case .certificate: ["id", "fingerprint", "expires", "mobile_domain_id", "pem"]
                }
            // Version 2.0 of the other server added them.
            let laterColumns =
                switch self {
                case .domain: ["ssl_pinning_required"]
                case .certificate: ["depth"]
                case .app: [String]()
                }
            return CSVTable.Schema(name: rawValue, columns: columns, laterColumns: laterColumns)
        }
    }

    private let tables: [Table: [CSVTable.Row]]

    /// Maximum size of all tables together.
    package static let maximumSize = CSVReader.Limits().bytes

    /// Reads all tables from one stream. Each follows a line with its name.
    /// - Throws: ``ServerError``, with line, field, the expected value and the remedy, but without the content of a
    ///   field.
    package init(stream: [UInt8]) throws(ServerError) {
        var reader = try CSVReader(stream, "the export")
        var tables: [Table: [CSVTable.Row]] = [:]
        var next = try reader.row()
        while let row = next {
            guard let table = Self.table(row) else {
                throw ServerError(
                    .malformed, of: "the export, line \(row.line)",
                    expected: "one of \(Self.names) on a line of its own", found: "another line",
                    remedy: "Export the tables as docs/server/operating.md has it, with \\echo before each \\copy.")
            }
            let read = try CSVTable(&reader, table.schema, until: { Self.table($0) != nil }, next: &next)
            guard tables.updateValue(read.rows, forKey: table) == nil else {
                throw ServerError(
                    .malformed, of: table.rawValue, expected: "the table once", found: "it is there twice",
                    remedy: "Export each table once.")
            }
        }
        try self.init(tables)
    }

    /// Reads the files `TABLE.csv` of a folder, each of mode 0600.
    /// - Throws: ``ServerError``.
    package init(folder: URL) throws(ServerError) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let files = Table.allCases.map { "\($0.rawValue).csv" }
        if let stranger = names.filter({ $0.hasSuffix(".csv") && !files.contains($0) }).min() {
            throw ServerError(
                .invalidValue, of: folder.path, expected: files.joined(separator: ", "),
                found: ASCIIText.isPrintable(stranger.utf8, 1...64) ? stranger : "a file with another name",
                remedy: "Leave out what is not taken over: accounts become tokens (token add), rules for versions end.")
        }
        var tables: [Table: [CSVTable.Row]] = [:]
        for table in Table.allCases where names.contains("\(table.rawValue).csv") {
            let bytes = try PrivateInput.file(
                folder.appending(path: "\(table.rawValue).csv"), limit: Self.maximumSize)
            var reader = try CSVReader(bytes, "\(table.rawValue).csv")
            var next: CSVReader.Row?
            tables[table] = try CSVTable(&reader, table.schema, next: &next).rows
        }
        try self.init(tables)
    }

    private init(_ tables: [Table: [CSVTable.Row]]) throws(ServerError) {
        let missing = Table.allCases.filter { tables[$0] == nil }.map(\.rawValue)
        guard missing.isEmpty else {
            throw ServerError(
                .malformed, of: "the export", expected: "the tables \(Self.names)",
                found: "none called \(missing.joined(separator: ", "))",
                remedy: "Export all of them; a table without rows has the names of its columns.")
        }
        self.tables = tables
    }

    private static let names = Table.allCases.map(\.rawValue).joined(separator: ", ")

    /// A line with only a table's name is not a row, because every table has several columns.
    private static func table(_ row: CSVReader.Row) -> Table? {
        guard row.fields.count == 1, let name = row.fields[0] else { return nil }
        return Table(bytes: name)
    }

    package func rows(_ table: Table) -> [CSVTable.Row] { tables[table] ?? [] }
}
