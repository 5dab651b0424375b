import Foundation
import HoldfastTesting
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("What pages read", .timeLimit(.minutes(10)))
struct PageBoundsTests {
    /// Number of queries for a page, and of returned rows.
    private struct Cost: Hashable, CustomStringConvertible {
        let queries: Int
        let rows: Int

        var description: String { "\(queries) queries, \(rows) rows" }
    }

    /// The cost of a page that was never made before.
    private func cost(_ target: String, _ world: World, _ engine: CountingEngine, _ publisher: Publisher) async throws
        -> Cost
    {
        let desk = try PageDesk(world, from: publisher)
        // The audit is followed before: that is no work of a page.
        _ = try await publisher.catalog.now()
        let before = Cost(queries: engine.queries, rows: engine.rows)
        _ = try await desk.html(target)
        return Cost(queries: engine.queries - before.queries, rows: engine.rows - before.rows)
    }

    @Test("The overview and the pages of an app read as much of a thousand apps and a hundred thousand rows as of few")
    func bounded() async throws {
        try await World.run { world in
            let first = try await world.propose(world.draft { $0.formats = World.fewFormats }).change
            try await world.approve(first)
            _ = try await world.publisher.publish(first)
            try await world.everybodyFollows(isThorough: false)
            let engine = CountingEngine(
                try SQLiteEngine(world.folder.appending(path: "server.db"), clock: world.clock))
            let publisher = try await world.another(engine)
            let targets = [
                "/", "/?after=shop-0010", "/apps/bank", "/apps/bank?after=h00000.example.com%3a443",
                "/apps/bank/hosts/h00003.example.com", "/audit",
            ]
            // More than pages have room for.
            try await world.grow(apps: 0..<120, hosts: 0..<600, alarms: 0..<80)
            var few: [Cost] = []
            for target in targets { few.append(try await cost(target, world, engine, publisher)) }
            try await world.grow(apps: 120..<1_000, hosts: 600..<9_990, alarms: 80..<1_000)
            let rows = try await world.engine.read { session throws(ServerError) in
                try session.run("SELECT count(*) FROM observation").first?.integer(0)
            }
            #expect(world.catalog.apps.count == 1_001 && rows ?? 0 >= 99_900)
            for (target, few) in zip(targets, few) {
                let many = try await cost(target, world, engine, publisher)
                #expect(many.queries <= few.queries && many.rows <= few.rows + 2, "\(target): \(few), then \(many)")
                #expect(many.queries < AppSummaries.maximumReading * 12, "\(target): \(many)")
            }
            await engine.close()
        }
    }

    @Test("Many apps are on several overviews, which say whom nobody has looked at, and look further each time")
    func paging() async throws {
        try await World.run { world in
            try await world.grow(apps: 0..<120, hosts: 0..<30, alarms: 0..<0)
            let desk = try PageDesk(world)
            let first = PageValue.record(try await desk.overview().content)
            #expect(first["apps"]?.values.count == OverviewPage.maximumAppCount)
            #expect(first.text("outdated")?.hasPrefix("57 of 121 apps") == true, "\(first.text("outdated") ?? "none")")
            #expect(first["isQuiet"] == .flag(false))
            let last = try #require(first["apps"]?.values.last?.text("name"))
            #expect(first.text("older") == "/?after=\(last)#apps")
            let second = PageValue.record(try await desk.overview("/?after=\(last)").content)
            #expect(second["outdated"] == .flag(false))
            #expect(second["apps"]?.values.first?.text("name") == "shop-0049")
            let third = PageValue.record(try await desk.overview("/?after=shop-0110").content)
            #expect(third["apps"]?.values.count == 9 && third["older"] == .flag(false))
            // Whatever happens is on the next page, however many other apps have to be read again as well.
            world.clock.advance(by: .seconds(600))
            let stranger = try AppName("shop-0119")
            try await world.catalog.set(world.catalogHost, of: stranger, by: "operator")
            try await world.catalog.alarm(
                about: Digest(of: [7]), on: world.catalogHost, of: stranger, words: "seen")
            let needs = try await desk.overview().needs
            #expect(needs.contains { $0.kind == .alarm && $0.address == "/apps/shop-0119/hosts/\(World.host)" })
            // Also on the first page that anybody loads.
            let fresh = try await PageDesk(world).overview().needs
            #expect(fresh.contains { $0.kind == .alarm && $0.address == "/apps/shop-0119/hosts/\(World.host)" })
            // While a person looks at pages, the rest is read in the background.
            let watched = try PageDesk(world)
            #expect(try await watched.html("/").contains("57 of 121 apps"))
            await watched.responder.lookFurther(at: .now + .seconds(601))
            #expect(try await watched.html("/people").contains("People"))
            await watched.responder.lookFurther()
            #expect(try await !watched.html("/").contains("changed since they were last read"))
            // Observations of hosts are in no audit, so they are read again after a while.
            world.clock.advance(by: .seconds(901))
            #expect(try await desk.html("/").contains("apps changed since they were last read"))
        }
    }

    @Test("The hosts of an app, its changes and its documents are on several pages")
    func parts() async throws {
        try await World.run { world in
            try await world.grow(apps: 0..<0, hosts: 0..<30, alarms: 0..<0)
            let desk = try PageDesk(world)
            let first = PageValue.record(try await desk.made("/apps/bank").content)
            #expect(first["hosts"]?.values.count == 25 && first.text("hostCount") == "31 hosts")
            let more = try #require(first.text("moreHosts"))
            #expect(more == "/apps/bank?after=h00023%2eexample%2ecom%3a443#hosts")
            let target = try #require(more.split(separator: "#").first.map(String.init))
            let second = PageValue.record(try await desk.made(target).content)
            #expect(second["hosts"]?.values.compactMap { $0.text("label") }.first == "h00024.example.com:443")
            #expect(second["hosts"]?.values.count == 6 && second["moreHosts"] == .flag(false))
            #expect(first["moreChanges"] == .flag(false) && first["moreDocuments"] == .flag(false))
            for address in [
                "/apps/bank?after=nothing", "/apps/bank?after=x%3a0", "/apps/bank?changes=-1", "/?after=%20",
            ] {
                #expect(await desk.ask(address)?.status == .badRequest, "\(address)")
            }
            // A place that is not there is one between others.
            #expect(await desk.ask("/apps/bank?after=zz%3a443&changes=50&documents=50")?.status == .ok)
            for number in 0..<20 {
                try await world.see(world.shown, at: "192.0.2.\(100 + number)", from: ["here"])
            }
            let crowded = try #require(try await desk.made("/apps/bank").content["hosts"]?.values.first)
            #expect(crowded["shown"]?.values.count == 16 && crowded["hasMore"] == .flag(true))
        }
    }

    @Test("An app that cannot be read is named, and others are on the overview all the same")
    func unreadable() async throws {
        try await World.run { world in
            let other = try await world.addApp("shop")
            try await world.engine.write { session throws(ServerError) in
                _ = try session.run("UPDATE app_setting SET octets = x'00' WHERE app = 'bank'")
            }
            let needs = try await PageDesk(world).overview().needs
            #expect(needs.first?.kind == .unreadable && needs.first?.words.contains("brokenChain") == true)
            #expect(needs.contains { $0.kind == .change && $0.address.hasSuffix("\(other.change)") })
        }
    }

    @Test("A session has sixty pages saved and gets one a second, whatever strangers take of the source's")
    func rates() async throws {
        try await World.run { world in
            let hand = ManualInstant()
            let rates = PageRates(instant: { hand.value.withLock { $0 } })
            let alice = try PageDesk(world, rates: rates)
            let bob = try PageDesk(world, viewer: Viewer(name: "bob", csrfToken: "token-of-bob"), rates: rates)
            for _ in 0..<60 { #expect(await alice.ask("/people")?.status == .ok) }
            let refused = try #require(await alice.ask("/people"))
            #expect(refused.status == .tooManyRequests && refused.header("Retry-After") == "1" && refused.pauses)
            #expect(String(buffer: refused.body).contains("Load the page again in 1 second."))
            #expect(await bob.ask("/people")?.status == .ok)
            hand.value.withLock { $0 += 1_100_000_000 }
            #expect(await alice.ask("/people")?.status == .ok)
            // Strangers have what is left of the source.
            var strangers = 0
            while await alice.ask("/signin", isSignedIn: false)?.status == .ok, strangers < 1_000 { strangers += 1 }
            #expect((300...330).contains(strangers), "\(strangers)")
            #expect(await bob.ask("/signin", isSignedIn: false)?.status == .tooManyRequests)
            #expect(await bob.ask("/people")?.status == .ok)
            // Scripts of pages do not count as pages.
            for _ in 0..<100 { #expect(await bob.ask(PageFrame.script)?.status == .ok) }
            for _ in 0..<59 { #expect(await bob.ask("/people")?.status == .ok) }
            #expect(await bob.ask("/people")?.status == .tooManyRequests)
        }
    }
}
