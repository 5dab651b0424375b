import Foundation
import Holdfast

@testable import PinChanges
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

extension Catalog {
    /// Leaves announcements as versions recorded them that kept no origins.
    func forgetOrigins(on host: CatalogHost, of app: AppName) async throws {
        try await transact { step throws(ServerError) in
            let id = try Self.id(of: host, app, step.session, step.ledger)
            try step.session.run("UPDATE next_chain SET announced_by = NULL WHERE host_id = $1", [.integer(id)])
            try step.session.run("UPDATE next_key SET announced_by = NULL WHERE host_id = $1", [.integer(id)])
            try Self.recordNext(id, host, app, &step, by: "operator")
        }
    }
}

/// Makes the database of an earlier version of the program from one of the newest: with its tables, and with everything
/// that they could hold.
enum OldDatabase {
    /// - Parameters:
    ///   - version: how many steps it has taken then.
    ///   - file: the database, which no process has open.
    static func make(_ version: Int, of file: URL) throws {
        let old = file.deletingLastPathComponent().appending(path: "old.db")
        try copy(file, to: old, version)
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
        try FileManager.default.moveItem(at: old, to: file)
    }

    /// How many steps a database has taken.
    static func version(of file: URL) throws -> Int64 {
        let connection = try SQLiteConnection(file.path, clock: SystemWallClock())
        return try connection.run(text: "PRAGMA user_version")[0].integer(0)
    }

    /// Says that a database is of another version.
    static func setVersion(_ version: Int64, of file: URL) throws {
        let connection = try SQLiteConnection(file.path, clock: SystemWallClock())
        try connection.execute("PRAGMA user_version = \(version)")
    }

    private static func copy(_ file: URL, to old: URL, _ version: Int) throws {
        let source = try SQLiteConnection(file.path, clock: SystemWallClock())
        let target = try SQLiteConnection(old.path, clock: SystemWallClock())
        for step in SQLiteMigrations.steps.prefix(version) {
            try target.execute(String(decoding: step, as: UTF8.self))
        }
        let application = try source.run(text: "PRAGMA application_id")[0].integer(0)
        try target.execute("PRAGMA user_version = \(version); PRAGMA application_id = \(application); BEGIN")
        for table in try target.run(text: "SELECT name FROM sqlite_schema WHERE type = 'table'") {
            let table = try table.text(0)
            let columns = try target.run(text: "SELECT name FROM pragma_table_info('\(table)')")
                .map { try $0.text(0) }.joined(separator: ", ")
            for row in try source.run(text: "SELECT \(columns) FROM \(table)") {
                let places = (1...row.count).map { "$\($0)" }.joined(separator: ", ")
                try target.run(
                    text: "INSERT INTO \(table) (\(columns)) VALUES (\(places))", (0..<row.count).map { row[$0] })
            }
        }
        try target.execute("COMMIT")
    }
}
