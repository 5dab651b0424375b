import Foundation
import Holdfast
import Testing

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("Hosts of an app", .timeLimit(.minutes(5)))
struct HostBoundTests {
    private func settings(_ maximum: Int64, of world: World) async throws -> AppSettings {
        let known = try await world.catalog.app(world.app).settings
        return try AppSettings(
            staleness: known.staleness, canary: known.canary, maximumHosts: maximum, anchors: known.anchors,
            builds: known.builds)
    }

    @Test(
        "An app has as many hosts as its settings allow, 1,000 if they say nothing; one that is there may be replaced")
    func bound() async throws {
        try await World.run { world in
            let usual = try await world.catalog.app(world.app).settings
            #expect(usual.maximumHosts == 1_000)
            // Settings of before have the digest that they had.
            #expect(!String(decoding: usual.bytes, as: UTF8.self).contains("maximumHosts"))
            let few = try await settings(3, of: world)
            #expect(try AppSettings(few.bytes) == few)
            try await world.catalog.set(few, of: world.app, by: "operator")
            let count = try await world.catalog.hosts(of: world.app).count
            for number in count..<3 {
                try await world.catalog.set(CatalogHost(name: "h\(number).example.com"), of: world.app, by: "operator")
            }
            let error = await expectError(.constraint) {
                try await world.catalog.set(CatalogHost(name: "more.example.com"), of: world.app, by: "operator")
            }
            #expect(error?.remedy.contains("--maximum-hosts") == true, "\(error as Any)")
            try await world.catalog.set(
                CatalogHost(name: World.host, dial: "127.0.0.1", renewal: .issuer), of: world.app, by: "operator")
            try await world.catalog.set(settings(4, of: world), of: world.app, by: "operator")
            try await world.catalog.set(CatalogHost(name: "more.example.com"), of: world.app, by: "operator")
        }
    }

    @Test("An address to dial with a port is refused where it enters, and a row of before is still read")
    func dial() async throws {
        try await World.run { world in
            for dial in ["127.0.0.1:8443", "a.example.com:443", "[::1]:443", "https://a.example.com", "a b"] {
                await expectError(.invalidValue) {
                    let host = try CatalogHost(name: "a.example.com", dial: dial)
                    try await world.catalog.set(host, of: world.app, by: "operator")
                }
            }
            for dial in ["127.0.0.1", "::1", "b.example.com"] {
                let host = try CatalogHost(name: "a.example.com", dial: dial)
                try await world.catalog.set(host, of: world.app, by: "operator")
            }
        }
    }

    @Test("Listing hosts reads each of them once: twice as many cost twice as many queries and rows")
    func listing() async throws {
        try await World.run { world in
            let engine = CountingEngine(world.engine)
            let catalog = try await world.another(engine).catalog
            func cost(adding count: Int, from first: Int) async throws -> (queries: Int, rows: Int) {
                for number in first..<first + count {
                    try await world.catalog.set(
                        CatalogHost(name: "h\(number).example.com"), of: world.app, by: "operator")
                }
                // Reads the entries of other processes first.
                _ = try await catalog.now()
                let before = (engine.queries, engine.rows)
                _ = try await catalog.hostViews(of: world.app)
                return (engine.queries - before.0, engine.rows - before.1)
            }
            let small = try await cost(adding: 50, from: 0)
            let large = try await cost(adding: 50, from: 50)
            #expect(large.queries <= 2 * small.queries && large.rows <= 2 * small.rows, "\(small) \(large)")
            // One host is found by its name.
            let before = engine.rows
            _ = try await catalog.host("h7.example.com", 443, of: world.app)
            #expect(engine.rows - before < 10)
        }
    }
}
