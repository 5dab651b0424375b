/// The steps from an empty database to the newest tables, a file for each of ``SQLiteMigrations``. How many a database has
/// taken is in its table `schema_version`.
enum PostgreSQLMigrations {
    /// The files of `Storage/Migrations`, in the order in which servers got them.
    static let steps: [[UInt8]] = [
        PackageResources.postgres_0001_sql, PackageResources.postgres_0002_sql, PackageResources.postgres_0003_sql,
        PackageResources.postgres_0004_sql, PackageResources.postgres_0005_sql, PackageResources.postgres_0006_sql,
        PackageResources.postgres_0007_sql, PackageResources.postgres_0008_sql, PackageResources.postgres_0009_sql,
        PackageResources.postgres_0011_sql,
    ]

    /// Takes the steps that are missing, each in a transaction of its own. Of several servers one does, and the others wait.
    /// - Parameter isHolder: whether this is the server that has the database. Nobody else changes tables under it.
    /// - Throws: ``ServerError`` `newerDatabase` if the database has more steps than this program knows, `damagedDatabase`
    ///   if it is another program's, `databaseInUse` if a server works on it.
    static func run(on connection: PostgreSQLConnection, isHolder: Bool = false) throws(ServerError) {
        // Nobody works on tables that are only being made.
        let mayStep = if isHolder { true } else { try isNew(connection) }
        while try step(on: connection, mayStep) {}
    }

    private static func isNew(_ connection: PostgreSQLConnection) throws(ServerError) -> Bool {
        _ = try connection.begin(.reading)
        defer { connection.rollback() }
        return try version(of: connection) == 0
    }

    /// Whether steps are missing.
    /// - Throws: as ``run(on:isHolder:)``.
    static func areMissing(on connection: PostgreSQLConnection) throws(ServerError) -> Bool {
        _ = try connection.begin(.reading)
        defer { connection.rollback() }
        return try version(of: connection) < Int64(steps.count)
    }

    /// Requires a database that has them all.
    /// - Throws: as ``run(on:isHolder:)``, and `readOnlyDatabase` if steps are missing.
    static func requireNewest(on connection: PostgreSQLConnection) throws(ServerError) {
        _ = try connection.begin(.reading)
        defer { connection.rollback() }
        let version = try version(of: connection)
        guard version == Int64(steps.count) else {
            throw ServerError(
                .readOnlyDatabase, expected: "a database of version \(steps.count), or one that can be written",
                found: "version \(version)")
        }
    }

    /// Takes the next step.
    /// - Returns: whether there was one.
    private static func step(on connection: PostgreSQLConnection, _ mayStep: Bool) throws(ServerError) -> Bool {
        guard try areMissing(on: connection) else { return false }
        // Its lock is that of whoever writes: nobody else is in the middle of anything.
        _ = try connection.begin(.writing)
        do throws(ServerError) {
            // Another server may have taken it meanwhile.
            let version = try version(of: connection)
            if version == 0 {
                try connection.execute(
                    "CREATE TABLE schema_version (application TEXT NOT NULL PRIMARY KEY, version BIGINT NOT NULL)")
                try connection.run(
                    text: "INSERT INTO schema_version (application, version) VALUES ($1, 0)", [.text(application)])
            }
            if version < Int64(steps.count) {
                if version > 0, !mayStep { try DatabaseHold.requireFree(on: connection) }
                try connection.execute(String(decoding: steps[Int(version)], as: UTF8.self))
                try connection.run(text: "UPDATE schema_version SET version = $1", [.integer(version + 1)])
            }
        } catch {
            connection.rollback()
            throw error
        }
        switch connection.commit() {
        case .done: return true
        case .refused(let error):
            connection.rollback()
            throw error
        // The next start finds out.
        case .unknown: throw PostgreSQLFailure.inDoubt
        }
    }

    private static let application = "holdfast-server"

    private static func version(of connection: PostgreSQLConnection) throws(ServerError) -> Int64 {
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
                text: "SELECT version FROM schema_version WHERE application = $1", [.text(application)]
            ).first
        else {
            throw ServerError(
                .damagedDatabase, expected: "a database of holdfast-server, or an empty one",
                found: "one of another program", remedy: "Name a database that is this server's alone.")
        }
        let version = try row.integer(0)
        guard (1...Int64(steps.count)).contains(version) else {
            throw ServerError(
                .newerDatabase, expected: "at most version \(steps.count)", found: "version \(version)")
        }
        return version
    }
}
