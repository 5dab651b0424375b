import Foundation
import HoldfastTesting
import Testing

@testable import ServerFoundation
@testable import ServerStore

/// Requirements for every engine.
@Suite("Storage, on every engine", .besidePostgres)
struct StorageSuite {
    static func withEngine(
        _ kind: StorageKind, _ body: (any StorageEngine, ManualClock) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let clock = ManualClock(now: Date(timeIntervalSince1970: TimeInterval(Story.now)))
            let engine: any StorageEngine =
                if let address = try await kind.address() {
                    try await PostgreSQLEngine.open(address, clock: clock)
                } else {
                    try SQLiteEngine(folder.appending(path: "server.db"), clock: clock)
                }
            do {
                try await body(engine, clock)
            } catch {
                await engine.close()
                throw error
            }
            await engine.close()
        }
    }

    static let insert: Query = "INSERT INTO app (name, display_name, created_at) VALUES ($1, $2, {now})"
    static let names: Query = "SELECT name, created_at FROM app ORDER BY name {lock}"

    @Test(
        "What a transaction wrote is there afterwards, and what one that failed wrote is not",
        arguments: StorageKind.tested)
    func transactions(_ kind: StorageKind) async throws {
        try await Self.withEngine(kind) { engine, clock in
            try await engine.write { session throws(ServerError) in
                _ = try session.run(Self.insert, [.text("bank"), .text("Bank")])
            }
            await expectError(.constraint) {
                try await engine.write { session throws(ServerError) in
                    _ = try session.run(Self.insert, [.text("shop"), .text("Shop")])
                    _ = try session.run(Self.insert, [.text("bank"), .text("Again")])
                }
            }
            let rows = try await engine.read { session throws(ServerError) in try session.run(Self.names, []) }
            #expect(rows == [StorageRow([.text("bank"), .integer(Story.now)])])
            clock.advance(by: .seconds(60))
            #expect(try await engine.read { session throws(ServerError) in try session.now() } == Story.now + 60)
        }
    }

    @Test("A transaction that reads writes nothing", arguments: StorageKind.tested)
    func reading(_ kind: StorageKind) async throws {
        try await Self.withEngine(kind) { engine, _ in
            await expectError(.readOnlyDatabase) {
                try await engine.read { session throws(ServerError) in
                    _ = try session.run(Self.insert, [.text("bank"), .text("Bank")])
                }
            }
        }
    }

    @Test(
        "Values come back as they were written: empty bytes, quotes in texts, the greatest numbers",
        arguments: StorageKind.tested)
    func values(_ kind: StorageKind) async throws {
        try await Self.withEngine(kind) { engine, _ in
            let bytes: [[UInt8]] = [[], [0], [UInt8](repeating: 0xFF, count: 100_000)]
            try await engine.write { session throws(ServerError) in
                for (index, bytes) in bytes.enumerated() {
                    _ = try session.run(
                        "INSERT INTO chain (digest, certificates) VALUES ($1, $2)",
                        [.bytes([UInt8](repeating: UInt8(index), count: 32)), .bytes(bytes)])
                }
                _ = try session.run(
                    "INSERT INTO app (name, display_name, created_at) VALUES ($2, $1, $3)",
                    [.text("aé'; DROP TABLE app"), .text("bank"), .integer(.max)])
            }
            let (chains, apps) = try await engine.read { session throws(ServerError) in
                (
                    try session.run("SELECT certificates FROM chain ORDER BY digest", []),
                    try session.run("SELECT display_name, created_at, change_id FROM app", [])
                )
            }
            #expect(try chains.map { try $0.bytes(0) } == bytes)
            #expect(apps == [StorageRow([.text("aé'; DROP TABLE app"), .integer(.max), .null])])
            expectError(.damagedDatabase) { try apps[0].integer(0) }
            expectError(.damagedDatabase) { try apps[0].bytes(2) }
        }
    }

    @Test("A text with a NUL character is refused before a database sees it", arguments: StorageKind.tested)
    func zeros(_ kind: StorageKind) async throws {
        try await Self.withEngine(kind) { engine, _ in
            await expectError(.invalidValue) {
                try await engine.write { session throws(ServerError) in
                    _ = try session.run(Self.insert, [.text("bank"), .text("a\u{0}b")])
                }
            }
            let rows = try await engine.read { session throws(ServerError) in try session.run(Self.names) }
            #expect(rows.isEmpty)
        }
    }

    @Test("Texts are sorted by their bytes", arguments: StorageKind.tested)
    func order(_ kind: StorageKind) async throws {
        try await Self.withEngine(kind) { engine, _ in
            let names = ["B1", "a1", "b-1", "b1", "\u{e9}1"]
            try await engine.write { session throws(ServerError) in
                for name in names.reversed() { _ = try session.run(Self.insert, [.text(name), .text("Bank")]) }
            }
            let rows = try await engine.read { session throws(ServerError) in try session.run(Self.names) }
            #expect(try rows.map { try $0.text(0) } == names)
        }
    }

    @Test(
        "After a statement failed the transaction writes nothing, even if nobody minds", arguments: StorageKind.remote)
    func swallowed(_ kind: StorageKind) async throws {
        try await Self.withEngine(kind) { engine, _ in
            await expectError(.database) {
                try await engine.write { session throws(ServerError) in
                    _ = try session.run(Self.insert, [.text("bank"), .text("Bank")])
                    _ = try? session.run(Self.insert, [.text("bank"), .text("Bank")])
                }
            }
            let rows = try await engine.read { session throws(ServerError) in try session.run(Self.names) }
            #expect(rows.isEmpty)
        }
    }

    @Test(
        "Of many transactions that count up at once each counts, and readers see one state",
        arguments: StorageKind.tested)
    func many(_ kind: StorageKind) async throws {
        try await Self.withEngine(kind) { engine, _ in
            try await engine.write { session throws(ServerError) in
                for name in ["one", "two"] { _ = try session.run(Self.insert, [.text(name), .text(name)]) }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await engine.write { session throws(ServerError) in
                            let row = try session.run("SELECT generation FROM app WHERE name = 'one'")[0]
                            let next = try row.integer(0) + 1
                            _ = try session.run("UPDATE app SET generation = $1 WHERE name = 'one'", [.integer(next)])
                            _ = try session.run("UPDATE app SET generation = $1 WHERE name = 'two'", [.integer(next)])
                        }
                    }
                    group.addTask {
                        let both = try await engine.read { session throws(ServerError) in
                            [
                                try session.run("SELECT generation FROM app WHERE name = 'one'"),
                                try session.run("SELECT generation FROM app WHERE name = 'two'"),
                            ]
                        }
                        #expect(both[0] == both[1])
                    }
                }
                try await group.waitForAll()
            }
            let rows = try await engine.read { session throws(ServerError) in
                try session.run("SELECT generation FROM app")
            }
            #expect(rows == [StorageRow([.integer(20)]), StorageRow([.integer(20)])])
        }
    }

    @Test("A copy is a file of SQLite with every row", arguments: StorageKind.tested)
    func copy(_ kind: StorageKind) async throws {
        try await Self.withEngine(kind) { engine, clock in
            try await engine.write { session throws(ServerError) in
                _ = try session.run(Self.insert, [.text("bank"), .text("Bank")])
                for port in 1...250 {
                    _ = try session.run(
                        "INSERT INTO host (app, name, port, renewal, next_poll_at) VALUES ('bank', 'a.example', $1, 'announced', {now})",
                        [.integer(Int64(port))])
                }
            }
            try await withFolder { folder in
                let file = folder.appending(path: "copy.db")
                try await engine.read { session throws(ServerError) in try session.copy(to: file) }
                let copy = try SQLiteEngine(file, clock: clock)
                let query: Query = "SELECT id, app, name, port, renewal, next_poll_at, dial FROM host ORDER BY id"
                let before = try await engine.read { session throws(ServerError) in try session.run(query) }
                let after = try await copy.read { session throws(ServerError) in try session.run(query) }
                #expect(before == after && before.count == 250)
                await copy.close()
            }
        }
    }

    @Test("A column takes no other type than its own", arguments: StorageKind.tested)
    func types(_ kind: StorageKind) async throws {
        try await Self.withEngine(kind) { engine, _ in
            for value in [StorageValue.text("now"), .bytes([1]), .null] {
                await expectError(.constraint) {
                    try await engine.write { session throws(ServerError) in
                        _ = try session.run(
                            "INSERT INTO app (name, display_name, created_at) VALUES ('bank', 'Bank', $1)", [value])
                    }
                }
            }
        }
    }

    @Test(
        "A row that two transactions take is leased to one: the other gets none until the lease is over",
        arguments: StorageKind.tested)
    func leases(_ kind: StorageKind) async throws {
        try await Self.withEngine(kind) { engine, clock in
            try await engine.write { session throws(ServerError) in
                _ = try session.run(Self.insert, [.text("bank"), .text("Bank")])
                for port in 1...5 {
                    _ = try session.run(
                        "INSERT INTO host (app, name, port, renewal, next_poll_at) VALUES ('bank', 'a.example', $1, 'announced', {now})",
                        [.integer(Int64(port))])
                }
            }
            let lease: Query = """
                WITH due AS MATERIALIZED (SELECT id FROM host WHERE next_poll_at <= {now} \
                AND (leased_until IS NULL OR leased_until < {now}) ORDER BY next_poll_at LIMIT $3 {lock} {skip}) \
                UPDATE host SET lease_token = $1, leased_until = {now} + $2 WHERE id IN (SELECT id FROM due) RETURNING id
                """
            @Sendable func take(_ token: UInt8, _ limit: Int64) async throws -> Int {
                try await engine.write { session throws(ServerError) in
                    try session.run(
                        lease, [.bytes([UInt8](repeating: token, count: 16)), .integer(30), .integer(limit)]
                    ).count
                }
            }
            async let first = take(1, 3)
            async let second = take(2, 3)
            #expect(try await first + second == 5)
            #expect(try await take(3, 5) == 0)
            clock.advance(by: .seconds(31))
            #expect(try await take(3, 5) == 5)
        }
    }

    @Test("After the database was closed every transaction fails", arguments: StorageKind.tested)
    func closed(_ kind: StorageKind) async throws {
        try await Self.withEngine(kind) { engine, _ in
            await engine.close()
            await expectError(.database) { try await engine.read { session throws(ServerError) in try session.now() } }
        }
    }
}
