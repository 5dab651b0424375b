import Foundation
import HoldfastTesting
import Testing

@testable import HoldfastServer

/// What every engine must do; a second engine adds its case to ``engines``.
@Suite("Storage, on every engine")
struct StorageSuite {
    static func withEngine(_ body: (any StorageEngine, ManualClock) async throws -> Void) async throws {
        try await withFolder { folder in
            let clock = ManualClock(now: Date(timeIntervalSince1970: TimeInterval(Story.now)))
            let engine = try SQLiteEngine(folder.appending(path: "server.db"), clock: clock)
            try await body(engine, clock)
            await engine.close()
        }
    }

    static let insert: Query = "INSERT INTO app (name, display_name, created_at) VALUES ($1, $2, {now})"
    static let names: Query = "SELECT name, created_at FROM app ORDER BY name {lock}"

    @Test("What a transaction wrote is there afterwards, and what one that failed wrote is not")
    func transactions() async throws {
        try await Self.withEngine { engine, clock in
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

    @Test("A transaction that reads writes nothing")
    func reading() async throws {
        try await Self.withEngine { engine, _ in
            await expectError(.readOnlyDatabase) {
                try await engine.read { session throws(ServerError) in
                    _ = try session.run(Self.insert, [.text("bank"), .text("Bank")])
                }
            }
        }
    }

    @Test("Values come back as they were written: empty octets, zeros in texts, the greatest numbers")
    func values() async throws {
        try await Self.withEngine { engine, _ in
            let octets: [[UInt8]] = [[], [0], [UInt8](repeating: 0xFF, count: 100_000)]
            try await engine.write { session throws(ServerError) in
                for (index, octets) in octets.enumerated() {
                    _ = try session.run(
                        "INSERT INTO chain (digest, certificates) VALUES ($1, $2)",
                        [.octets([UInt8](repeating: UInt8(index), count: 32)), .octets(octets)])
                }
                _ = try session.run(
                    "INSERT INTO app (name, display_name, created_at) VALUES ($2, $1, $3)",
                    [.text("a\u{0}é'; DROP TABLE app"), .text("bank"), .integer(.max)])
            }
            let (chains, apps) = try await engine.read { session throws(ServerError) in
                (
                    try session.run("SELECT certificates FROM chain ORDER BY digest", []),
                    try session.run("SELECT display_name, created_at, change_id FROM app", [])
                )
            }
            #expect(try chains.map { try $0.octets(0) } == octets)
            #expect(apps == [StorageRow([.text("a\u{0}é'; DROP TABLE app"), .integer(.max), .null])])
            expectError(.damagedDatabase) { try apps[0].integer(0) }
            expectError(.damagedDatabase) { try apps[0].octets(2) }
        }
    }

    @Test("A column takes no other type than its own")
    func types() async throws {
        try await Self.withEngine { engine, _ in
            for value in [StorageValue.text("now"), .octets([1]), .null] {
                await expectError(.constraint) {
                    try await engine.write { session throws(ServerError) in
                        _ = try session.run(
                            "INSERT INTO app (name, display_name, created_at) VALUES ('bank', 'Bank', $1)", [value])
                    }
                }
            }
        }
    }

    @Test("A row that two transactions take is leased to one: the other gets none until the lease is over")
    func leases() async throws {
        try await Self.withEngine { engine, clock in
            try await engine.write { session throws(ServerError) in
                _ = try session.run(Self.insert, [.text("bank"), .text("Bank")])
                for port in 1...5 {
                    _ = try session.run(
                        "INSERT INTO host (app, name, port, renewal, next_poll_at) VALUES ('bank', 'a.example', $1, 'announced', {now})",
                        [.integer(Int64(port))])
                }
            }
            let lease: Query = """
                UPDATE host SET lease_token = $1, leased_until = {now} + $2 WHERE id IN (SELECT id FROM host \
                WHERE next_poll_at <= {now} AND (leased_until IS NULL OR leased_until < {now}) \
                ORDER BY next_poll_at LIMIT $3 {lock} {skip}) RETURNING id
                """
            @Sendable func take(_ token: UInt8, _ limit: Int64) async throws -> Int {
                try await engine.write { session throws(ServerError) in
                    try session.run(
                        lease, [.octets([UInt8](repeating: token, count: 16)), .integer(30), .integer(limit)]
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

    @Test("After the database was closed every transaction fails")
    func closed() async throws {
        try await Self.withEngine { engine, _ in
            await engine.close()
            await expectError(.database) { try await engine.read { session throws(ServerError) in try session.now() } }
        }
    }
}
