import Foundation
import Holdfast
import Testing

@testable import ServerFoundation
@testable import ServerStore

@Suite("Files of SQLite")
struct SQLiteFileTests {
    private func run(_ engine: SQLiteEngine, _ query: Query, _ values: [StorageValue] = []) async throws(ServerError)
        -> [StorageRow]
    {
        try await engine.write { session throws(ServerError) in try session.run(query, values) }
    }

    @Test("A database is made with mode 0600, write-ahead log and full synchronization, and opens again")
    func settings() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "server.db")
            for _ in 0..<2 {
                let engine = try SQLiteEngine(file, clock: SystemWallClock())
                let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
                #expect(mode == 0o600)
                #expect(try await run(engine, "PRAGMA journal_mode") == [StorageRow([.text("wal")])])
                #expect(try await run(engine, "PRAGMA synchronous") == [StorageRow([.integer(2)])])
                #expect(try await run(engine, "PRAGMA foreign_keys") == [StorageRow([.integer(1)])])
                let loose = try await run(
                    engine,
                    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite_%'"
                )
                #expect(loose.isEmpty)
                await engine.close()
            }
        }
    }

    @Test("A database of a newer version, and one of another program, is refused and stays as it is")
    func foreign() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "server.db")
            let engine = try SQLiteEngine(file, clock: SystemWallClock())
            await engine.close()
            let connection = try SQLiteConnection(file.path, clock: SystemWallClock())
            try connection.execute("PRAGMA user_version = 99")
            expectError(.newerDatabase) { try SQLiteEngine(file, clock: SystemWallClock()) }
            #expect(try connection.run(text: "PRAGMA user_version") == [StorageRow([.integer(99)])])
            let other = folder.appending(path: "other.db")
            let stranger = try SQLiteConnection(other.path, clock: SystemWallClock())
            try stranger.execute("CREATE TABLE theirs (a)")
            expectError(.damagedDatabase) { try SQLiteEngine(other, clock: SystemWallClock()) }
            #expect(try stranger.run(text: "SELECT count(*) FROM sqlite_schema") == [StorageRow([.integer(1)])])
        }
    }

    @Test("A full database says so, and keeps nothing of the transaction")
    func full() async throws {
        try await withFolder { folder in
            let engine = try SQLiteEngine(folder.appending(path: "server.db"), clock: SystemWallClock())
            let pages = try await run(engine, "PRAGMA page_count")[0].integer(0)
            #expect(pages < 200)
            _ = try await run(engine, "PRAGMA max_page_count = 200")
            await expectError(.fullDatabase) {
                try await run(
                    engine, "INSERT INTO chain (digest, certificates) VALUES ($1, $2)",
                    [.bytes([UInt8](repeating: 1, count: 32)), .bytes([UInt8](repeating: 7, count: 2 << 20))])
            }
            #expect(try await run(engine, "SELECT count(*) FROM chain") == [StorageRow([.integer(0)])])
        }
    }

    @Test("A database that another program has locked says so, and works again afterwards")
    func locked() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "server.db")
            let engine = try SQLiteEngine(file, clock: SystemWallClock(), patience: .zero)
            let other = try SQLiteConnection(file.path, clock: SystemWallClock())
            try other.execute("BEGIN IMMEDIATE")
            await expectError(.lockedDatabase) { try await run(engine, "DELETE FROM chain") }
            #expect(
                try await engine.read { session throws(ServerError) in
                    try session.run("SELECT count(*) FROM chain", []).count
                } == 1)
            try other.execute("ROLLBACK")
            _ = try await run(engine, "DELETE FROM chain")
        }
    }

    @Test("A damaged file and one that is no database say so")
    func damaged() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "server.db")
            try Data("no database, but a text of some length that is none".utf8).write(to: file)
            expectError(.damagedDatabase) { try SQLiteEngine(file, clock: SystemWallClock()) }
            expectError(.file) { try SQLiteEngine(folder.appending(path: "none/server.db"), clock: SystemWallClock()) }

            let good = folder.appending(path: "good.db")
            let engine = try SQLiteEngine(good, clock: SystemWallClock())
            await engine.close()
            var bytes = try Data(contentsOf: good)
            for index in bytes.indices where index >= 100 { bytes[index] = 0xAA }
            try bytes.write(to: good)
            expectError(.damagedDatabase) { try SQLiteEngine(good, clock: SystemWallClock()) }
        }
    }
}
