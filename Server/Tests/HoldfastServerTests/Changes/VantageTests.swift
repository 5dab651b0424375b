import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastServer

@Suite("Vantages")
struct VantageTests {
    private func seen(_ world: World) async throws -> [AuditEntry] {
        try await world.catalog.audit(after: -1, limit: 1_000).map { try AuditEntry($0) }.filter { $0.event == .seen }
    }

    @Test("What nobody announced is added only if two vantages have seen it within the hour")
    func two() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            let fingerprint = Digest(of: stranger.der)
            try await world.see(stranger, from: ["here"])
            let alone = await expectError(.gate) { try await world.draft() }
            #expect(alone?.subject == "\(World.host):443" && alone?.found == "seen from here only")
            // The same place, again.
            try await world.see(stranger, from: ["here"])
            await expectError(.gate) { try await world.draft() }
            // Another place sees another one.
            try await world.see(try world.root.leaf(names: [.dns(World.host)]), from: ["there"])
            await expectError(.gate) { try await world.draft() }
            try await world.see(stranger, from: ["there"])
            let content = try await world.draft()
            #expect(content.hosts[0].certificates.contains { $0.fingerprint == fingerprint })
            let words = try await world.catalog.unannounced(in: content)
            #expect(
                words.contains { $0.contains("\(fingerprint)") && $0.contains("from here, there, since") }, "\(words)")

            // One of the two looks again after half an hour, and the other does not.
            world.clock.advance(by: .seconds(1_800))
            try await world.see(stranger, from: ["here"])
            #expect(try await world.draft().hosts[0].certificates.contains { $0.fingerprint == fingerprint })
            world.clock.advance(by: .seconds(1_801))
            try await world.see(stranger, from: ["here"])
            await expectError(.gate) { try await world.draft() }
            #expect(
                try await !world.draft { $0.removed = [fingerprint] }.hosts[0].certificates.contains {
                    $0.fingerprint == fingerprint
                })
            // Its owner announces it.
            try await world.catalog.announce(
                HostChain(stranger.chain), from: world.now, on: world.catalogHost, of: world.app, by: "operator")
            #expect(try await world.draft().hosts[0].certificates.contains { $0.fingerprint == fingerprint })
        }
    }

    @Test("A row that says that another vantage has seen it is worth nothing: the audit does not know of it")
    func forged() async throws {
        try await World.run { world in
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            try await world.see(stranger, from: ["here"])
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run("UPDATE observation SET vantage = 'there' WHERE vantage = 'here'")
                _ = try session.run(
                    """
                    INSERT INTO observation (host_id, vantage, address, chain_digest, first_seen_at, last_seen_at) \
                    SELECT host_id, 'elsewhere', address, chain_digest, first_seen_at, last_seen_at FROM observation
                    """)
            }
            let error = await expectError(.gate) { try await world.draft() }
            #expect(error?.found == "seen from here only")
        }
    }

    @Test(
        "The audit says what was seen once for each vantage, again before it counts no more, and nothing that is known")
    func audited() async throws {
        try await World.run { world in
            #expect(try await seen(world).map { $0.facts["vantage"] } == ["here", "there"])
            try await world.see(world.shown)
            try await world.see(world.announced)
            #expect(try await seen(world).count == 2)
            try await world.pass(2_701)
            #expect(try await seen(world).count == 4)
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            try await world.pass(10_000)
            #expect(try await seen(world).count == 4)
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            try await world.see(stranger, from: ["here"])
            let last = try #require(try await seen(world).last)
            #expect(last.facts["certificates"] == "\(Digest(of: stranger.der))" && last.actor == "test")
        }
    }

    @Test("What another watcher saw is taken as a whole, from another place, and within the hour")
    func imported() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            func file(_ label: String = "\(World.host):443", at time: Int64? = nil) throws -> SightingsFile {
                try SightingsFile(
                    SightingsFile(
                        [
                            (
                                label: label,
                                findings: [
                                    WatchFinding(
                                        place: "192.0.2.1:443", chain: stranger.chain, verdict: .unpinned, words: "",
                                        key: nil)
                                ]
                            )
                        ], at: time ?? world.now
                    ).octets)
            }
            let before = world.catalog.ledger.chain.head
            for (sightings, vantage, code) in [
                (try file(), Vantage.usual, ServerError.Code.invalidValue), (try file(), "a b", .invalidValue),
                (try file("www.example.com:443"), "office", .notFound),
                (try file(at: world.now - 3_601), "office", .invalidValue),
                (try file(at: world.now + 601), "office", .invalidValue),
            ] {
                await expectError(code) {
                    try await world.catalog.take(sightings, from: vantage, of: world.app, by: "test")
                }
            }
            #expect(world.catalog.ledger.chain.head == before)
            try await world.catalog.take(file(at: world.now + 600), from: "office", of: world.app, by: "carol")
            #expect(try await seen(world).last?.actor == "carol")
            let observations = try await world.catalog.observations(of: world.catalogHost, world.app)
            #expect(observations.contains { $0.vantage == "office" && $0.lastSeen == world.now })
            try await world.see(stranger, from: ["here"])
            #expect(try await world.draft().hosts[0].certificates.count == 3)

            let octets = try file().octets
            var generator = SeededGenerator(seed: 0x5EE)
            defer { noteCampaign(of: mutants(inPartsOf: 10)) }
            for _ in 0..<mutants(inPartsOf: 10) { _ = try? SightingsFile(mutated(octets, &generator)) }
        }
    }

    @Test("An address that nobody sees anymore stops no change, as long as somebody looks")
    func gone() async throws {
        try await World.run { world in
            try await world.see(world.announced, at: "192.0.2.99", from: ["office"])
            try await world.pass(3_700)
            #expect(try await world.propose(world.draft { $0.formats = World.fewFormats }).report.refusal == nil)
        }
    }
}
