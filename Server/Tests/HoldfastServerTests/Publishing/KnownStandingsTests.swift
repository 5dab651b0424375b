import Holdfast
import HoldfastTesting
import Synchronization
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("How apps stand is judged once for all who ask", .timeLimit(.minutes(2)))
struct KnownStandingsTests {
    private static let callers = 8

    /// Waits for something that other tasks do.
    private static func wait(until condition: @Sendable () -> Bool) async {
        while !condition() { await Task.yield() }
    }

    /// Number of requests, and of evaluations.
    private final class Counts: Sendable {
        private let counts = Mutex((asked: 0, judged: 0))

        var asked: Int { counts.withLock { $0.asked } }
        var judged: Int { counts.withLock { $0.judged } }

        func ask() { counts.withLock { $0.asked += 1 } }
        func judge() { counts.withLock { $0.judged += 1 } }
    }

    @Test("Of callers that find an app's standing too old at once, one judges, and the others wait for it")
    func together() async throws {
        try await World.run { world in
            let standing = try await world.publisher.standing(of: world.app)
            let (ledger, now, app) = (world.catalog.ledger, world.now, world.app)
            let place = ledger.touches.latest(of: app)
            let (known, counts) = (KnownStandings(), Counts())
            let times = try await withThrowingTaskGroup(of: Int64.self) { group in
                for _ in 0..<Self.callers {
                    group.addTask {
                        counts.ask()
                        return try await known.standing(of: app, ledger, at: now) { () async throws(ServerError) in
                            counts.judge()
                            // All others ask before the judgment ends.
                            await Self.wait { counts.asked == Self.callers }
                            known.note(standing, at: place)
                            return standing
                        }.now
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts.judged == 1 && times == Array(repeating: standing.now, count: Self.callers))
        }
    }

    @Test("A caller after something new in the audit does not wait for a judgment from before")
    func news() async throws {
        try await World.run { world in
            let standing = try await world.publisher.standing(of: world.app)
            let (before, now, app) = (world.catalog.ledger, world.now, world.app)
            try await world.catalog.withdrawNext(on: world.catalogHost, of: app, by: "operator")
            let after = world.catalog.ledger
            let known = KnownStandings()
            let (first, counts) = (Counts(), Counts())
            async let early = known.standing(of: app, before, at: now) { () async throws(ServerError) in
                first.judge()
                await Self.wait { counts.judged == 1 }
                return standing
            }
            await Self.wait { first.judged == 1 }
            // It would wait for ever for the first.
            _ = try await known.standing(of: app, after, at: now) { () async throws(ServerError) in
                counts.judge()
                return standing
            }
            _ = try await early
            #expect(first.judged == 1 && counts.judged == 1)
        }
    }

    @Test("The pages, metrics and calls of a moment have an app judged once")
    func publisher() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let engine = CountingEngine(world.engine)
            let publisher = try await world.another(engine)
            // Each judgment reads the hosts of the app once.
            let words = "FROM host WHERE app = $1"
            var before = engine.count(of: words)
            _ = try await publisher.currentStanding(of: world.app)
            let one = engine.count(of: words) - before
            try #require(one > 0)
            try await world.pass(KnownStandings.lifetime + 1)
            before = engine.count(of: words)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<Self.callers {
                    group.addTask { _ = try await publisher.currentStanding(of: world.app) }
                }
                try await group.waitForAll()
            }
            #expect(engine.count(of: words) - before == one)
        }
    }
}
