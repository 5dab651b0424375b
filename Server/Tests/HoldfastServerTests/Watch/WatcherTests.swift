import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastTesting
import Logging
import Testing

@testable import HostMonitoring
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("The watcher", .timeLimit(.minutes(5)))
struct WatcherTests {
    private func watcher(_ world: World, _ settings: Watcher.Settings) -> Watcher {
        Watcher(world.catalog, settings, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func settings(_ world: World) throws -> Watcher.Settings {
        let address = try IPAddress("127.0.0.1")
        var settings = Watcher.Settings(vantage: "test")
        settings.allowed = [try AddressBlock("127.0.0.0/8")]
        settings.clock = world.clock
        settings.resolver = AddressResolver { _ in [address] }
        return settings
    }

    @Test("An announced key is no news; another one raises an alarm once, proposes nothing and removes nothing")
    func alarm() async throws {
        try await World.run { world in
            var generator = SeededGenerator(seed: 7)
            let watcher = watcher(world, try settings(world))
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            try await withLoopbackTLSServer(serving: world.announced) { server in
                let host = try CatalogHost(name: World.host, port: Int64(server.port))
                try await world.catalog.set(host, of: world.app, by: "operator")
                try await world.catalog.announce(
                    CertificateChain(world.announced.chain), from: Story.now, on: host, of: world.app, by: "operator")
                func look() async throws -> Watcher.Report? {
                    world.clock.advance(by: .seconds(331))
                    return try await watcher.round(using: &generator).first { $0.host == host.label }
                }
                let first = try #require(try await look())
                #expect(first.findings.map(\.verdict) == [.known] && first.alarms.isEmpty, "\(first)")
                let seen = try await world.catalog.observations(of: host, world.app)
                #expect(seen.map(\.chain?.certificates) == [world.announced.chain] && seen[0].vantage == "test")

                try server.serve(stranger)
                let second = try #require(try await look())
                #expect(second.findings.map(\.verdict) == [.unannounced] && second.alarms.count == 1, "\(second)")
                #expect(world.catalog.ledger.alarms.count == 1 && world.catalog.ledger.proposals.isEmpty)
                let third = try #require(try await look())
                #expect(third.findings.map(\.verdict) == [.unannounced] && third.alarms.isEmpty)

                await server.shutdown()
                let fourth = try #require(try await look())
                #expect(fourth.findings.map(\.verdict) == [.unreadable] && fourth.alarms.isEmpty)
                #expect(try await world.catalog.next(of: host, world.app).chains.count == 1)
                #expect(try await world.catalog.observations(of: host, world.app).first?.failure != nil)
                // It is not due again before its time.
                #expect(try await watcher.round(using: &generator).isEmpty)
            }
        }
    }

    @Test("Hosts that answer nothing hold up no other, and are said to be unreadable")
    func stalled() async throws {
        try await World.run { world in
            let names = (0..<20).map { "h\($0).example.com" }
            let fleet = try world.root.leaf(names: names.map { .dns($0) })
            try await withLoopbackTLSServer(serving: fleet) { server in
                let silent = try await LoopbackTLSServer.start(serving: fleet, options: .init(behavior: .stalled))
                for name in names {
                    let host = try CatalogHost(name: name, port: Int64(server.port))
                    try await world.catalog.set(host, of: world.app, by: "operator")
                }
                let stuck = try CatalogHost(name: "stuck.example.com", port: Int64(silent.port))
                try await world.catalog.set(stuck, of: world.app, by: "operator")
                var settings = try self.settings(world)
                settings.deadlines = ProbeDeadlines(handshake: .seconds(5), whole: .seconds(60))
                let watcher = watcher(world, settings)
                var generator = SeededGenerator(seed: 7)
                let before = world.catalog.ledger.chain.head.count
                let reports = try await watcher.round(using: &generator)
                let found = Dictionary(uniqueKeysWithValues: reports.map { ($0.host, $0.findings.map(\.verdict)) })
                for name in names { #expect(found["\(name):\(server.port)"] == [.unpinned], "\(found)") }
                #expect(found[stuck.label] == [.unreadable], "\(found)")
                for name in names {
                    let host = try CatalogHost(name: name, port: Int64(server.port))
                    let seen = try await world.catalog.observations(of: host, world.app)
                    #expect(seen.map(\.chain?.certificates) == [fleet.chain])
                }
                // An unannounced certificate is in the audit, once for each host, and not again in the next round.
                let said = world.catalog.ledger.chain.head.count
                #expect(said == before + Int64(names.count))
                world.clock.advance(by: .seconds(331))
                _ = try await watcher.round(using: &generator)
                #expect(world.catalog.ledger.chain.head.count == said)
                await silent.shutdown()
            }
        }
    }

    @Test("A round takes no more hosts than it may, and what is left is taken by the next")
    func rounds() async throws {
        try await World.run { world in
            for number in 0..<7 {
                let host = try CatalogHost(name: "h\(number).example.com", port: 1)
                try await world.catalog.set(host, of: world.app, by: "operator")
            }
            var settings = try self.settings(world)
            settings.hostsAtOnce = 3
            let watcher = watcher(world, settings)
            var generator = SeededGenerator(seed: 7)
            var counts: [Int] = []
            var seen: Set<String> = []
            for _ in 0..<4 {
                let reports = try await watcher.round(using: &generator)
                counts.append(reports.count)
                seen.formUnion(reports.map(\.host))
            }
            // Seven, and the host that the world has.
            #expect(counts == [3, 3, 2, 0] && seen.count == 8, "\(counts)")
        }
    }

    @Test("A host whose lease was lost is written nowhere, and those that are given back with it are")
    func lost() async throws {
        try await World.run { world in
            let (gone, stays) = (
                try CatalogHost(name: "gone.example.com", port: 1), try CatalogHost(name: "stays.example.com", port: 1)
            )
            for host in [gone, stays] { try await world.catalog.set(host, of: world.app, by: "operator") }
            var generator = SeededGenerator(seed: 7)
            let leases = HostLeases(world.engine)
            let taken = try await leases.take(10, for: 100, token: RandomID(using: &generator))
            let lost = try #require(taken.first { $0.name == gone.name })
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run("UPDATE host SET lease_token = NULL WHERE id = $1", [.integer(lost.id)])
            }
            let written = try await leases.giveBack(
                taken.map { lease in
                    HostLeases.Return(lease: lease, delay: 300) { session throws(ServerError) in
                        let seen = Observation(
                            vantage: "test", address: "192.0.2.9", chain: nil, failure: "nothing", firstSeen: 1,
                            lastSeen: 1)
                        try Catalog.note([seen], at: lease.id, session)
                    }
                })
            #expect(written == Set(taken.map(\.id)).subtracting([lost.id]))
            #expect(try await world.catalog.observations(of: gone, world.app).isEmpty)
            #expect(try await world.catalog.observations(of: stays, world.app).count == 1)
        }
    }

    @Test("A host is found among those of a content by its name, or by a pattern and its port")
    func published() throws {
        func host(_ name: String, _ port: Int64 = 443) throws -> ContentHost {
            try ContentHost(name: name, port: port)
        }
        let hosts = PublishedHosts([
            try host("api.example.com"), try host("api.example.com", 8_443), try host("*.example.com"),
        ])
        for (name, port, found) in [
            ("api.example.com", 443, "api.example.com:443"), ("api.example.com", 8_443, "api.example.com:8443"),
            ("www.example.com", 443, "*.example.com:443"), ("www.example.com", 8_443, nil), ("example.org", 443, nil),
        ] as [(String, Int64, String?)] {
            let asked = try CatalogHost(name: name, port: port)
            let published = hosts.host(asked, dialed: try DialedHost(name, port: Int(port)))
            #expect(published.map { "\($0.name):\($0.port)" } == found)
        }
    }
}
