import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

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
                CertificateChain(stranger.chain), from: world.now, on: world.catalogHost, of: world.app, by: "operator")
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

    @Test("What a token reports of its network is taken as a whole, and shown with the token's name")
    func reported() async throws {
        try await AdministrationSite.run { site in
            let world = site.world
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            func report(_ label: String = "\(World.host):443", at time: Int64? = nil) -> [UInt8] {
                SightingsReport.bytes(label, [("192.0.2.1:443", stranger.chain)], at: time ?? world.now)
            }
            func send(_ report: [UInt8], token: String = "propose") async throws -> RawAnswer {
                try await site.call(
                    "POST", "/v1/apps/bank/sightings", token: token, body: String(decoding: report, as: UTF8.self))
            }
            var tokens = site.tokens
            for name in [Vantage.usual, "the+office"] { tokens[name] = try await world.token(name, .propose) }
            let others = AdministrationSite(world: world, port: site.port, tokens: tokens)
            let before = world.catalog.ledger.chain.head
            for (body, status) in [
                (report("www.example.com:443"), 404), (report(at: world.now - 3_601), 422),
                (report(at: world.now + 601), 422), (Array("{}".utf8), 422),
            ] {
                #expect(try await send(body).status == status)
            }
            #expect(try await send(report(), token: "read").status == 403)
            for name in [Vantage.usual, "the+office"] {
                let answer = try await others.call(
                    "POST", "/v1/apps/bank/sightings", token: name, body: String(decoding: report(), as: UTF8.self))
                #expect(answer.status == 422, "\(answer.text)")
            }
            #expect(world.catalog.ledger.chain.head == before)

            let answer = try await send(report(at: world.now + 600))
            #expect(answer.status == 200 && answer.json["hosts"] as? Int == 1, "\(answer.text)")
            let entry = try #require(try await seen(world).last)
            #expect(entry.actor == "token propose" && entry.facts["vantage"] == "propose")
            let observations = try await world.catalog.observations(of: world.catalogHost, world.app)
            #expect(observations.contains { $0.vantage == "propose" && $0.lastSeen == world.now })
            let host = try await site.call("GET", "/v1/apps/bank/hosts/\(World.host)", token: "read")
            #expect(host.text.contains(#""vantage":"propose""#), "\(host.text)")
            let alone = await expectError(.gate) { try await world.draft() }
            #expect(alone?.found == "seen from propose only" && alone?.remedy.contains("/sightings") == true)
            try await world.see(stranger, from: ["here"])
            #expect(try await world.draft().hosts[0].certificates.count == 3)
        }
    }

    @Test("A damaged report of sightings is read within its bounds, or refused")
    func damaged() throws {
        let chain = try TestAuthority.root().leaf(names: [.dns(World.host)]).chain
        let bytes = SightingsReport.bytes("\(World.host):443", [("192.0.2.1:443", chain)], at: Story.now)
        let read = campaign(0x5EE, [bytes], count: mutants(inPartsOf: 10)) { mutant in
            let report = try SightingsReport(mutant)
            #expect(report.hosts.count <= 256 && report.hosts.allSatisfy { $0.shown.count <= 64 })
        }
        #expect(read > 0)
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
