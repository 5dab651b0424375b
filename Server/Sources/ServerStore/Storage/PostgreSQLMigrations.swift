import ServerFoundation

/// The steps from an empty database to the newest tables, one file for each of ``SQLiteMigrations``. The table
/// `schema_version` contains the number of steps taken, and the number that a program must know to work on the tables.
package struct PostgreSQLMigrations: Sendable {
    /// One step.
    struct Step: Sendable {
        /// Its statements.
        let bytes: [UInt8]
        /// Whether programs that do not know it can continue to read and write: it only adds tables, or columns that
        /// may be null or have a default, and changes nothing that they read or write.
        let isAdditive: Bool
    }

    /// The lock that a program holds while it takes steps.
    enum Right: Sendable {
        /// None: a command, or a program that creates a new database.
        case none
        /// The shared lock of a server.
        case beside
        /// The exclusive lock of a server.
        case alone
    }

    /// The files of `Storage/Migrations`, in the order of their release.
    static let steps: [[UInt8]] = [
        PackageResources.postgres_0001_sql, PackageResources.postgres_0002_sql, PackageResources.postgres_0003_sql,
        PackageResources.postgres_0004_sql, PackageResources.postgres_0005_sql, PackageResources.postgres_0006_sql,
        PackageResources.postgres_0007_sql, PackageResources.postgres_0008_sql, PackageResources.postgres_0009_sql,
        PackageResources.postgres_0010_sql, PackageResources.postgres_0011_sql, PackageResources.postgres_0012_sql,
    ]
    /// The steps that older programs support. Up to the tenth, only one server used a database. The twelfth deletes
    /// rows that older programs store again with the next probe.
    private static let additive: Set<Int> = [11, 12]

    /// The steps of this program.
    static let newest = PostgreSQLMigrations(
        known: steps.enumerated().map { Step(bytes: $1, isAdditive: additive.contains($0 + 1)) })

    /// The steps that a program knows.
    let known: [Step]

    /// Takes the missing steps, each in a separate transaction. Of several servers one does, and the others wait.
    /// - Parameters:
    ///   - right: the lock of the caller. Tables must not change under a server that does not support the change.
    /// - Throws: ``ServerError`` `newerDatabase` if the database has more steps than this program knows,
    ///   `damagedDatabase` if it belongs to another program, `databaseInUse` if a server works on it.
    func run(on connection: PostgreSQLConnection, _ right: Right = .none) throws(ServerError) {
        let isNew = try missing(on: connection).count == known.count
        // No server works on tables that are just being created.
        while try step(on: connection, isNew ? .alone : right) {}
    }

    /// The steps that are missing.
    /// - Throws: as ``run(on:_:)``.
    func missing(on connection: PostgreSQLConnection) throws(ServerError) -> ArraySlice<Step> {
        _ = try connection.begin(.reading)
        defer { connection.rollback() }
        return known[Int(try version(of: connection))...]
    }

    /// Requires a database that has them all.
    /// - Throws: as ``run(on:_:)``, and `readOnlyDatabase` if steps are missing.
    func requireNewest(on connection: PostgreSQLConnection) throws(ServerError) {
        let missing = try missing(on: connection)
        guard missing.isEmpty else {
            throw ServerError(
                .readOnlyDatabase, expected: "a database of version \(known.count), or one that can be written",
                found: "version \(known.count - missing.count)")
        }
    }

    /// Requires, in a transaction, tables that this program supports, although another program may have taken steps
    /// since.
    /// - Throws: ``ServerError`` `newerDatabase`.
    func requireLivable(on connection: PostgreSQLConnection) throws(ServerError) {
        guard try Self.saysOldest(connection) else { return }
        let row = try connection.execute("SELECT CAST(oldest AS text), CAST(version AS text) FROM schema_version").first
        guard let row, let oldest = Int(try row.text(0)), oldest > known.count else { return }
        throw ServerError(
            .newerDatabase, expected: "tables that programs of version \(known.count) can work on",
            found: "version \(try row.text(1)), which needs programs of version \(oldest)")
    }

    /// Takes the next step.
    /// - Returns: whether there was one.
    private func step(on connection: PostgreSQLConnection, _ right: Right) throws(ServerError) -> Bool {
        guard try !missing(on: connection).isEmpty else { return false }
        // It takes the lock of writers, so no other transaction is writing.
        let ticket = try connection.begin(.writing)
        do throws(ServerError) {
            guard ticket?.isHeld ?? true else { throw DatabaseLock.lost }
            // Another server may have taken the step since.
            let version = Int(try version(of: connection))
            if version == 0 {
                try connection.execute(
                    "CREATE TABLE schema_version (application TEXT NOT NULL PRIMARY KEY, version BIGINT NOT NULL)")
                try connection.run(
                    text: "INSERT INTO schema_version (application, version) VALUES ($1, 0)", [.text(Self.application)])
            }
            if version < known.count { try take(known[version], after: version, right, on: connection) }
        } catch {
            connection.rollback()
            throw error
        }
        switch connection.commit() {
        case .done: return true
        case .refused(let error):
            connection.rollback()
            throw error
        // The next start determines the outcome.
        case .unknown: throw PostgreSQLFailure.inDoubt
        }
    }

    private func take(
        _ step: Step, after version: Int, _ right: Right, on connection: PostgreSQLConnection
    ) throws(ServerError) {
        switch right {
        case .alone: break
        case .beside where step.isAdditive: break
        case .beside, .none: try DatabaseLock.requireFree(on: connection)
        }
        if try !Self.saysOldest(connection) {
            try connection.execute("ALTER TABLE schema_version ADD COLUMN oldest BIGINT NOT NULL DEFAULT 1")
        }
        try connection.execute(String(decoding: step.bytes, as: UTF8.self))
        try connection.run(text: "UPDATE schema_version SET version = $1", [.integer(Int64(version + 1))])
        guard !step.isAdditive else { return }
        try connection.run(text: "UPDATE schema_version SET oldest = $1", [.integer(Int64(version + 1))])
    }

    private static let application = "holdfast-server"

    /// Whether the database states the number of steps that a program must know to work on it.
    private static func saysOldest(_ connection: PostgreSQLConnection) throws(ServerError) -> Bool {
        let rows = try connection.execute(
            """
            SELECT 'yes' FROM pg_attribute WHERE attrelid = to_regclass('schema_version') AND attname = 'oldest' \
            AND NOT attisdropped
            """)
        return !rows.isEmpty
    }

    private func version(of connection: PostgreSQLConnection) throws(ServerError) -> Int64 {
        let tables = try connection.run(
            text: """
                SELECT relname FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace \
                WHERE nspname = current_schema()) AND relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT EXISTS \
                (SELECT 1 FROM pg_depend WHERE classid = CAST('pg_class' AS regclass) AND objid = pg_class.oid \
                AND deptype = 'e')
                """)
        guard !tables.isEmpty else { return 0 }
        guard tables.contains(StorageRow([.text("schema_version")])),
            let row = try connection.run(
                text: "SELECT version FROM schema_version WHERE application = $1", [.text(Self.application)]
            ).first
        else {
            throw ServerError(
                .damagedDatabase, expected: "a database of holdfast-server, or an empty one",
                found: "one of another program", remedy: "Name a database that is this server's alone.")
        }
        let version = try row.integer(0)
        guard (1...Int64(known.count)).contains(version) else {
            throw ServerError(
                .newerDatabase, expected: "at most version \(known.count)", found: "version \(version)")
        }
        return version
    }
}
