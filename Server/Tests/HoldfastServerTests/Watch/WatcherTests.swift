import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastTesting
import Logging
import Testing

@testable import HoldfastServer

@Suite("The watcher", .timeLimit(.minutes(5)))
struct WatcherTests {
    private func watcher(_ world: World) throws -> Watcher {
        let address = try IPAddress("127.0.0.1")
        var settings = Watcher.Settings(vantage: "test")
        settings.allowed = [try AddressBlock("127.0.0.0/8")]
        settings.clock = world.clock
        settings.resolver = AddressResolver { _ in [address] }
        return Watcher(world.catalog, settings, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test("An announced key is no news; another one raises an alarm once, proposes nothing and removes nothing")
    func alarm() async throws {
        try await World.run { world in
            var generator = SeededGenerator(seed: 7)
            let watcher = try watcher(world)
            let stranger = try world.root.leaf(names: [.dns(World.host)])
            try await withLoopbackTLSServer(serving: world.announced) { server in
                let host = try CatalogHost(name: World.host, port: Int64(server.port))
                try await world.catalog.set(host, of: world.app, by: "operator")
                try await world.catalog.announce(
                    HostChain(world.announced.chain), from: Story.now, on: host, of: world.app, by: "operator")
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
}
