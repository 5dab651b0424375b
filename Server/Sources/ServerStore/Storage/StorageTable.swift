package import ServerFoundation

/// A table that is copied from one engine to another. Both have taken the same steps, so SQLite's columns are those of
/// both.
package struct StorageTable: Sendable, Hashable {
    /// Its name.
    package let name: String
    /// The names of its columns.
    package let columns: [String]

    package init(name: String, columns: [String]) {
        self.name = name
        self.columns = columns
    }

    private var list: String { columns.joined(separator: ", ") }

    /// The number of rows in memory at once: a row may contain a whole document.
    private static let part: Int64 = 100

    /// The tables of a database, each after those that its rows refer to.
    package static func all(of connection: SQLiteConnection) throws(ServerError) -> [StorageTable] {
        try connection.run(
            text: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
        ).map { row throws(ServerError) in
            let name = try row.text(0)
            let columns = try connection.run(text: "SELECT name FROM pragma_table_info($1)", [.text(name)])
                .map { row throws(ServerError) in try row.text(0) }
            return StorageTable(name: name, columns: columns)
        }
    }

    /// Reads all rows in parts.
    package func forEachPart(
        of connection: SQLiteConnection, _ body: ([StorageRow]) throws(ServerError) -> Void
    ) throws(ServerError) {
        var last = Int64.min
        while true {
            let rows = try connection.run(
                text: "SELECT rowid, \(list) FROM \(name) WHERE rowid > $1 ORDER BY rowid LIMIT \(Self.part)",
                [.integer(last)])
            guard let end = rows.last else { return }
            last = try end.integer(0)
            try body(rows.map { row in StorageRow((1..<row.count).map { row[$0] }) })
        }
    }

    /// Reads all rows in parts, in the current transaction of a connection.
    package func forEachPart(
        of connection: PostgreSQLConnection, _ body: ([StorageRow]) throws(ServerError) -> Void
    ) throws(ServerError) {
        try connection.run(text: "DECLARE copying NO SCROLL CURSOR FOR SELECT \(list) FROM \(name)")
        while case let rows = try connection.run(text: "FETCH \(Self.part) FROM copying"), !rows.isEmpty {
            try body(rows)
        }
        try connection.run(text: "CLOSE copying")
    }

    /// Adds rows to a table of SQLite.
    package func insert(_ rows: [StorageRow], into connection: SQLiteConnection) throws(ServerError) {
        for row in rows { try connection.run(text: insertion, values(of: row)) }
    }

    /// Adds rows to a table of PostgreSQL.
    package func insert(_ rows: [StorageRow], into connection: PostgreSQLConnection) throws(ServerError) {
        for row in rows { try connection.run(text: insertion, values(of: row)) }
    }

    /// Sets the counter of a PostgreSQL table's ids to continue after its rows.
    package func renumber(_ connection: PostgreSQLConnection) throws(ServerError) {
        guard columns.contains("id"),
            let sequence = try connection.run(
                text: "SELECT pg_get_serial_sequence($1, 'id')", [.text(name)]
            ).first?.optionalText(0)
        else { return }
        try connection.run(
            text: "SELECT setval(CAST($1 AS regclass), (SELECT coalesce(max(id), 0) + 1 FROM \(name)), false)",
            [.text(sequence)])
    }

    private var insertion: String {
        let places = columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
        return "INSERT INTO \(name) (\(list)) VALUES (\(places))"
    }

    private func values(of row: StorageRow) -> [StorageValue] { columns.indices.map { row[$0] } }
}
