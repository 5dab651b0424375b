import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerStore

@Suite("Leases of hosts", .besidePostgres)
struct HostLeasesTests {
    private static func withHosts(
        _ count: Int, on kind: StorageKind, _ body: (HostLeases, any StorageEngine, ManualClock) async throws -> Void
    ) async throws {
        try await StorageSuite.withEngine(kind) { engine, clock in
            try await engine.write { session throws(ServerError) in
                try session.run(StorageSuite.insert, [.text("bank"), .text("Bank")])
                for number in 0..<count {
                    try session.run(
                        """
                        INSERT INTO host (app, name, port, renewal, next_poll_at) \
                        VALUES ('bank', $1, 443, 'announced', {now} + $2)
                        """, [.text("\(number).example.com"), .integer(Int64(number))])
                }
            }
            try await body(HostLeases(engine), engine, clock)
        }
    }

    @Test(
        "Hosts that are due are taken once, the longest overdue first, and again when a lease has ended",
        arguments: StorageKind.tested)
    func taking(_ kind: StorageKind) async throws {
        try await Self.withHosts(4, on: kind) { leases, _, clock in
            clock.advance(by: .seconds(2))
            let first = try await leases.take(2, for: 60, token: Story.id(1))
            #expect(first.map(\.name) == ["0.example.com", "1.example.com"])
            #expect(try await leases.take(9, for: 60, token: Story.id(2)).map(\.name) == ["2.example.com"])
            #expect(try await leases.take(9, for: 60, token: Story.id(3)).isEmpty)
            clock.advance(by: .seconds(61))
            #expect(try await leases.take(9, for: 60, token: Story.id(4)).count == 4)
        }
    }

    @Test("What was seen is written with the lease, and discarded without it", arguments: StorageKind.tested)
    func givingBack(_ kind: StorageKind) async throws {
        try await Self.withHosts(1, on: kind) { leases, engine, clock in
            let seen: @Sendable (any StorageSession) throws(ServerError) -> Void = { session throws(ServerError) in
                try session.run(
                    """
                    INSERT INTO observation (host_id, vantage, address, failure, first_seen_at, last_seen_at) \
                    VALUES (1, 'here', '192.0.2.1:443', 'no answer', {now}, {now})
                    """)
            }
            let slow = try #require(try await leases.take(1, for: 60, token: Story.id(1)).first)
            clock.advance(by: .seconds(61))
            let quick = try #require(try await leases.take(1, for: 60, token: Story.id(2)).first)
            #expect(try await leases.giveBack(quick, dueIn: 300, seen))
            #expect(try await !leases.giveBack(slow, dueIn: 1, seen))
            #expect(try await !leases.giveBack(quick, dueIn: 1, seen))
            let count = try await engine.read { session throws(ServerError) in
                try session.run("SELECT count(*) FROM observation")[0].integer(0)
            }
            #expect(count == 1)
            clock.advance(by: .seconds(299))
            #expect(try await leases.take(1, for: 60, token: Story.id(3)).isEmpty)
            clock.advance(by: .seconds(1))
            #expect(try await leases.take(1, for: 60, token: Story.id(3)).count == 1)
        }
    }

    @Test(
        "A look that cannot be written keeps the lease, so that it is repeated when that ends",
        arguments: StorageKind.tested)
    func failing(_ kind: StorageKind) async throws {
        try await Self.withHosts(1, on: kind) { leases, _, clock in
            let lease = try #require(try await leases.take(1, for: 60, token: Story.id(1)).first)
            await expectError(.constraint) {
                try await leases.giveBack(lease, dueIn: 300) { session throws(ServerError) in
                    try session.run("INSERT INTO app (name, display_name, created_at) VALUES ('bank', 'x', 0)")
                }
            }
            #expect(try await leases.take(1, for: 60, token: Story.id(2)).isEmpty)
            clock.advance(by: .seconds(61))
            #expect(try await leases.take(1, for: 60, token: Story.id(2)).count == 1)
        }
    }

    @Test(
        "Several machines that take at once never have the same host, and what a dead one had is taken in time",
        arguments: StorageKind.tested)
    func machines(_ kind: StorageKind) async throws {
        try await Self.withHosts(60, on: kind) { leases, _, clock in
            clock.advance(by: .seconds(60))
            let taken = try await withThrowingTaskGroup(of: [HostLeases.Lease].self) { group in
                for machine in 0..<6 {
                    group.addTask {
                        var (all, round): ([HostLeases.Lease], UInt8) = ([], 0)
                        while true {
                            let some = try await leases.take(7, for: 60, token: Story.id(UInt8(machine) * 32 + round))
                            guard !some.isEmpty else { return all }
                            all += some
                            round += 1
                        }
                    }
                }
                return try await group.reduce(into: [HostLeases.Lease]()) { $0 += $1 }
            }
            #expect(taken.count == 60 && Set(taken.map(\.id)).count == 60)
            // Half of the machines were killed.
            for lease in taken.prefix(30) {
                #expect(try await leases.giveBack(lease, dueIn: 300) { _ throws(ServerError) in })
            }
            #expect(try await leases.take(99, for: 60, token: Story.id(200)).isEmpty)
            clock.advance(by: .seconds(61))
            let rest = try await leases.take(99, for: 60, token: Story.id(201))
            #expect(Set(rest.map(\.id)) == Set(taken.suffix(30).map(\.id)))
            for lease in taken.suffix(30) {
                #expect(try await !leases.giveBack(lease, dueIn: 300) { _ throws(ServerError) in })
            }
        }
    }
}
