import ServerFoundation

/// The steps from an empty database to the newest tables, one file each. Steps are only added: a database of any
/// earlier version takes the missing ones.
enum SQLiteMigrations {
    /// The files of `Storage/Migrations`, in the order of their release.
    static let steps: [[UInt8]] = [
        PackageResources.sqlite_0001_sql, PackageResources.sqlite_0002_sql, PackageResources.sqlite_0003_sql,
        PackageResources.sqlite_0004_sql, PackageResources.sqlite_0005_sql, PackageResources.sqlite_0006_sql,
        PackageResources.sqlite_0007_sql, PackageResources.sqlite_0008_sql,
        PackageResources.sqlite_0009_sql, PackageResources.sqlite_0010_sql, PackageResources.sqlite_0011_sql,
        PackageResources.sqlite_0012_sql,
    ]

    /// Marks the file as this program's (`PRAGMA application_id`): "HFS1".
    private static let application: Int64 = 0x4846_5331

    /// Takes the missing steps, each in a separate transaction.
    /// - Throws: ``ServerError`` `newerDatabase` if the file has more steps than this program knows, `damagedDatabase`
    ///   if it belongs to another program.
    static func run(on connection: SQLiteConnection) throws(ServerError) {
        let version = try version(of: connection)
        try take(from: version, on: connection)
    }

    /// Requires a database that has them all.
    /// - Throws: as ``run(on:)``, and `readOnlyDatabase` if steps are missing.
    static func requireNewest(on connection: SQLiteConnection) throws(ServerError) {
        let version = try version(of: connection)
        guard version == Int64(steps.count) else {
            throw ServerError(
                .readOnlyDatabase, expected: "a database of version \(steps.count), or one that can be written",
                found: "version \(version)")
        }
    }

    private static func version(of connection: SQLiteConnection) throws(ServerError) -> Int64 {
        let version = try number("PRAGMA user_version", connection)
        let owner = try number("PRAGMA application_id", connection)
        let tables = try number("SELECT count(*) FROM sqlite_schema", connection)
        guard owner == application || (owner == 0 && version == 0 && tables == 0) else {
            throw ServerError(
                .damagedDatabase, expected: "a database of holdfast-server, or an empty one",
                found: "one of another program", remedy: "Name the data folder of holdfast-server.")
        }
        guard (0...Int64(steps.count)).contains(version) else {
            throw ServerError(
                .newerDatabase, expected: "at most version \(steps.count)", found: "version \(version)")
        }
        return version
    }

    private static func take(from version: Int64, on connection: SQLiteConnection) throws(ServerError) {
        for step in steps.indices.dropFirst(Int(clamping: version)) {
            do throws(ServerError) {
                try connection.execute("BEGIN IMMEDIATE")
                // Another process may have taken the step since.
                if try number("PRAGMA user_version", connection) == Int64(step) {
                    try connection.execute(String(decoding: steps[step], as: UTF8.self))
                    try connection.execute("PRAGMA user_version = \(step + 1)")
                    try connection.execute("PRAGMA application_id = \(application)")
                }
                try connection.execute("COMMIT")
            } catch {
                try? connection.execute("ROLLBACK")
                throw error
            }
        }
    }

    private static func number(_ text: String, _ connection: SQLiteConnection) throws(ServerError) -> Int64 {
        try connection.run(text: text).first?.integer(0) ?? 0
    }
}
