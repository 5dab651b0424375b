import Foundation
import Synchronization
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("While a server starts", .timeLimit(.minutes(5)))
struct StartingAppsTests {
    private static let header = ["X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw=="]

    /// A listener over apps that have not been read yet, and the result of reading them.
    private func starting(
        _ body: (
            _ site: ServingSite, _ starting: StartingApps, _ whole: PublishedSnapshot, _ port: Int
        ) async throws -> Void
    ) async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            for number in 1...3 {
                try await world.publisher.publish(try await world.addApp("shop-\(number)").change)
            }
            let whole = try await world.publisher.refresh()
            #expect(whole.problems == [] && whole.contributions.count == 4)
            let starting = StartingApps(world.catalog.ledger)
            let site = try ServingSite()
            site.time.withLock { $0 = world.now }
            site.live.replace(with: PublishedSnapshot(starting: starting))
            try await site.listening { port in try await body(site, starting, whole, port) }
            try await world.everybodyFollows(isThorough: false)
        }
    }

    private func waitUntilAsked(_ starting: StartingApps, by count: Int = 1) async throws {
        try await eventually("\(count) ask") { starting.waiterCount >= count }
    }

    private func finish(_ app: AppName?, _ starting: StartingApps, _ whole: PublishedSnapshot) throws {
        let app = try #require(app)
        starting.finish(app, try #require(whole.contributions[app]))
    }

    @Test("Whoever asks for an app gets it next, and is answered while the others are still read")
    func asked() async throws {
        try await starting { _, starting, whole, port in
            let (first, last) = (try AppName("bank"), try AppName("shop-3"))
            #expect(starting.next() == first)
            async let list = RawClient(port: port).get("/lists/shop-3.json")
            try await waitUntilAsked(starting)
            #expect(starting.next() == last)
            try finish(last, starting, whole)
            let listed = try await list
            #expect(listed.status == 200)
            #expect(Array(listed.body.utf8) == whole.documents["lists/shop-3.json"]?.bytes)
            // Requests for an app that has been read do not wait.
            let answered = try await RawClient(port: port).get("/app/init?appName=shop-3", Self.header)
            #expect(answered.status == 200 && answered.header("X-Cert-Pinning-Signature") != nil)
            let canary = try await RawClient(port: port).get("/app/init?appName=shop-3-canary", Self.header)
            #expect(canary.status == 200)
            #expect(starting.next() == (try AppName("shop-1")))
            starting.end()
        }
    }

    @Test("Two who ask for an app that is being read wait for it, and nobody reads it twice")
    func shared() async throws {
        try await starting { _, starting, whole, port in
            let first = starting.next()
            async let one = RawClient(port: port).request("HEAD", "/lists/bank.json")
            async let other = RawClient(port: port).get("/lists/bank.json")
            try await waitUntilAsked(starting, by: 2)
            #expect(starting.next() == (try AppName("shop-1")))
            try finish(first, starting, whole)
            let statuses = (try await one.status, try await other.status)
            #expect(statuses == (200, 200))
            var rest: [AppName] = []
            while let app = starting.next() { rest.append(app) }
            #expect(rest.map(\.description) == ["shop-2", "shop-3"])
            starting.end()
        }
    }

    @Test("An app that nobody has is refused at once; a document that nobody knows once everything is read")
    func unknown() async throws {
        try await starting { site, starting, whole, port in
            let stranger = try await RawClient(port: port).get("/app/init?appName=other", Self.header)
            #expect(stranger.status == 404 && stranger.body.contains("APP_NOT_FOUND"))
            let health = try await RawClient(port: port).get("/health/live")
            #expect(health.status == 200)
            async let missing = RawClient(port: port).get("/lists/other.json")
            async let late = RawClient(port: port).get("/lists/shop-2.json")
            try await waitUntilAsked(starting, by: 2)
            site.live.replace(with: whole)
            starting.end()
            let found = (try await missing.status, try await late.status)
            #expect(found == (404, 200))
        }
    }

    @Test("Who waits is answered although nothing can be read")
    func unreadable() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let engine = try SQLiteEngine(world.folder.appending(path: "server.db"), clock: world.clock)
            let publisher = try await world.another(engine)
            publisher.begin()
            let starting = try #require(publisher.live.current.starting)
            async let found = starting.snapshot(at: "lists/bank.json".utf8)
            try await waitUntilAsked(starting)
            await engine.close()
            await #expect(throws: ServerError.self) { try await publisher.readWhatIsServed() }
            #expect(await found == nil)
            // Whether there is such an app is unknown: a challenge gets 503, and not 404.
            #expect(publisher.live.current.starting == nil && publisher.live.current.isOfDocuments)
            // The next round reads it as on any other day.
            try await world.everybodyFollows(isThorough: false)
        }
    }

    @Test("A server that is stopped while it starts reads nothing more, and keeps nobody waiting")
    func stopped() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let engine = CountingEngine(
                try SQLiteEngine(world.folder.appending(path: "server.db"), clock: world.clock))
            let publisher = try await world.another(engine)
            publisher.begin()
            let starting = try #require(publisher.live.current.starting)
            async let found = starting.snapshot(of: world.app)
            try await waitUntilAsked(starting)
            starting.stop()
            await expectError(.database) { try await publisher.readWhatIsServed() }
            #expect(await found == nil)
            #expect(engine.count(of: "SELECT content, outlook FROM change") == 0)
            await engine.close()
            try await world.everybodyFollows(isThorough: false)
        }
    }

    @Test("More than may wait for a start are told to come back")
    func full() async throws {
        try await starting { _, starting, _, port in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<StartingApps.maximumWaiters { group.addTask { await starting.everything() } }
                try await waitUntilAsked(starting, by: StartingApps.maximumWaiters)
                let answer = try? await RawClient(port: port).get("/lists/bank.json")
                #expect(answer?.status == 503 && answer?.header("Retry-After") == "1")
                let health = try? await RawClient(port: port).get("/health/live")
                #expect(health?.status == 200)
                starting.end()
            }
            #expect(starting.waiterCount == 0)
        }
    }
}
