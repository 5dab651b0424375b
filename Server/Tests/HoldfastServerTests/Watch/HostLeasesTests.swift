import HoldfastTesting
import Testing

@testable import HoldfastServer

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

    private static func askForTwo(_ engine: any StorageEngine) async throws {
        try await engine.write { session throws(ServerError) in
            _ = try session.run("UPDATE app SET vantages = 2 WHERE name = 'bank'")
        }
    }

    @Test(
        "Each vantage has its own turn where several must agree, which its processes share",
        arguments: StorageKind.tested)
    func own(_ kind: StorageKind) async throws {
        try await Self.withHosts(3, on: kind) { _, engine, clock in
            try await Self.askForTwo(engine)
            let (one, two) = (HostLeases(engine, from: "one"), HostLeases(engine, from: "two"))
            let first = try await one.take(2, for: 60, token: Story.id(1))
            #expect(first.map(\.name) == ["0.example.com", "1.example.com"])
            // Another process of the same vantage gets the rest, and one of another vantage all of them.
            #expect(try await one.take(9, for: 60, token: Story.id(2)).map(\.name) == ["2.example.com"])
            let other = try await two.take(9, for: 60, token: Story.id(3))
            #expect(other.count == 3)
            #expect(try await one.take(9, for: 60, token: Story.id(4)).isEmpty)
            #expect(try await two.take(9, for: 60, token: Story.id(5)).isEmpty)
            // One gives back, and the other's turn is as it was.
            #expect(try await one.giveBack(first[0], dueIn: 300) { _ in })
            #expect(try await !one.giveBack(first[0], dueIn: 300) { _ in })
            #expect(try await !two.giveBack(first[1], dueIn: 300) { _ in })
            #expect(try await two.giveBack(other[1], dueIn: 10) { _ in })
            clock.advance(by: .seconds(10))
            #expect(try await two.take(9, for: 60, token: Story.id(6)).map(\.id) == [other[1].id])
            // What was not given back is taken by another process when the lease is over; the first comes too late then.
            clock.advance(by: .seconds(51))
            let again = try await one.take(9, for: 60, token: Story.id(7))
            #expect(Set(again.map(\.name)) == ["1.example.com", "2.example.com"])
            #expect(try await !one.giveBack(first[1], dueIn: 300) { _ in })
            clock.advance(by: .seconds(239))
            #expect(try await one.take(9, for: 60, token: Story.id(8)).map(\.name).contains("0.example.com"))
        }
    }

    @Test("All hosts of an app are taken from a vantage, due or not, in pages", arguments: StorageKind.tested)
    func ownPages(_ kind: StorageKind) async throws {
        try await Self.withHosts(3, on: kind) { _, engine, _ in
            try await Self.askForTwo(engine)
            let (one, two) = (HostLeases(engine, from: "one"), HostLeases(engine, from: "two"))
            let app = try AppName("bank")
            let busy = try await one.take(1, for: 60, token: Story.id(1))
            let first = try await one.take(of: app, after: 0, 1, for: 60, token: Story.id(2))
            #expect(first.count == 1 && first[0].id != busy[0].id)
            let rest = try await one.take(of: app, after: first[0].id, 9, for: 60, token: Story.id(3))
            #expect(rest.count == 1)
            #expect(try await one.take(of: app, after: 0, 9, for: 60, token: Story.id(4)).isEmpty)
            #expect(try await two.take(of: app, after: 0, 9, for: 60, token: Story.id(5)).count == 3)
        }
    }

    @Test("Of processes that take turns at once none has a host twice for its vantage", arguments: StorageKind.tested)
    func ownAtOnce(_ kind: StorageKind) async throws {
        try await Self.withHosts(20, on: kind) { _, engine, clock in
            try await Self.askForTwo(engine)
            clock.advance(by: .seconds(30))
            let taken = try await withThrowingTaskGroup(of: (String, [Int64]).self) { group in
                for number in 0..<20 {
                    let vantage = number.isMultiple(of: 2) ? "one" : "two"
                    group.addTask {
                        let leases = HostLeases(engine, from: vantage)
                        return (vantage, try await leases.take(3, for: 60, token: Story.id(UInt8(number))).map(\.id))
                    }
                }
                return try await group.reduce(into: [String: [Int64]]()) { $0[$1.0, default: []] += $1.1 }
            }
            for vantage in ["one", "two"] {
                let ids = taken[vantage] ?? []
                #expect(ids.count == 20 && Set(ids).count == 20, "\(vantage): \(ids)")
            }
        }
    }

    @Test("Neither shared hosts nor those of a vantage starve while there is more than anybody can look at")
    func fair() async throws {
        try await Self.withHosts(4, on: .sqlite) { _, engine, clock in
            try await Self.askForTwo(engine)
            try await engine.write { session throws(ServerError) in
                try session.run(StorageSuite.insert, [.text("shop"), .text("Shop")])
                for port in 1...4 {
                    try session.run(
                        """
                        INSERT INTO host (app, name, port, renewal, next_poll_at) \
                        VALUES ('shop', 'shop.example.com', $1, 'announced', {now})
                        """, [.integer(Int64(port))])
                }
            }
            clock.advance(by: .seconds(9))
            let leases = HostLeases(engine, from: "one")
            var apps: [String] = []
            for token in [1, 2] as [UInt8] {
                apps += try await leases.take(2, for: 60, token: Story.id(token)).map { "\($0.app)" }
            }
            #expect(apps.sorted() == ["bank", "bank", "shop", "shop"])
            #expect(try await leases.take(9, for: 60, token: Story.id(3)).count == 4)
        }
    }
}
