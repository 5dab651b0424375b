import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastServer

/// Reports are hearsay: they may hold a canary, and let none pass.
@Suite("Reports about a canary", .timeLimit(.minutes(10)))
struct CanaryReportTests {
    private static let day: Int64 = 86_400

    /// A world whose app takes reports, where the canary has a change.
    private func withCanary(_ body: (World, RandomID, ReportDesk) async throws -> Void) async throws {
        try await World.run(canary: Self.day) { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats }, forcing: [.canary])
            let desk = try await ReportDesk(world)
            let change = try await world.approved().change
            #expect(try await world.publisher.publish(change) == .canary(until: world.now + Self.day))
            // Reports count from the next full hour on.
            try await world.followCanary(for: Self.partHour(world))
            try await body(world, change, desk)
        }
    }

    /// How many seconds the hour still has.
    private static func partHour(_ world: World) -> Int64 { 3_600 - world.now % 3_600 }

    /// Whether /metrics says that reports hold the canary.
    private func isHeldInMetrics(_ desk: ReportDesk) async throws -> Bool {
        desk.inbox.counters.set([desk.world.app: try await desk.standing()])
        let text = MetricsText(families: desk.inbox.families).text
        let line = text.split(separator: "\n").first { $0.hasPrefix("holdfast_canary_held_by_reports{") }
        return try #require(line) == #"holdfast_canary_held_by_reports{app="bank"} 1"#
    }

    /// What the gate says once the canary's time is over.
    private func refusal(_ world: World, _ change: RandomID) async throws -> String? {
        try await world.followCanary(for: Self.day)
        try await world.approve(change)
        return await expectError(.gate) { try await world.publisher.publish(change) }?.found
    }

    @Test("100,000 forged failures hold one change back, and a signed force of its approvers goes on")
    func held() async throws {
        try await withCanary { world, change, desk in
            let served = world.publisher.live.current.documents["lists/bank.json"]?.octets
            try desk.count((0..<300).map { _ in ReportDesk.networkError("ok") })
            let count = mutants > 10_000 ? 100_000 : 1_000
            try desk.count((0..<count).lazy.map { _ in ReportDesk.networkError() }, of: "bank-canary")
            _ = try await desk.rows()
            let words = try await refusal(world, change) ?? ""
            #expect(
                words.contains(
                    "the canary bank-canary is held: 100.0 % of the canary's reported connections to "
                        + "\(World.host):443 failed, and 0.0 % of everybody else's (\(count) and 300 reports"),
                "\(words)")
            #expect(!words.contains("has it until"), "its time is over: \(words)")
            let standing = try #require(try await world.publisher.standing(of: world.app).canary)
            #expect(standing.refusals.isEmpty && standing.reported.count == 1, "hearsay makes nothing red")
            #expect(standing.heldSince == nil && standing.lines.contains { $0.hasPrefix("HELD: ") })
            #expect(try await isHeldInMetrics(desk))
            var finder = NoticeFinder(world.catalog.server)
            try await finder.readReports(in: world.catalog, at: world.now)
            let told = finder.notices(world.catalog.ledger, world.publisher.live.current, at: world.now)
                .map { String(decoding: $0.octets, as: UTF8.self) }
            #expect(told.contains { $0.contains(#""about":"canary""#) && $0.contains("\(change)") }, "\(told)")
            #expect(world.publisher.live.current.documents["lists/bank.json"]?.octets == served)
            // One change is delayed, and only until people say so.
            let forced = try await world.propose(
                world.draft {
                    $0.formats = World.fewFormats
                    $0.lifetime = 170 * Self.day
                }, forcing: [.canary]
            ).change
            try await world.approve(forced)
            #expect(try await world.publisher.publish(forced) == .published(generation: 2))
            await expectError(.outOfTurn) { try await world.publisher.publish(change) }
            #expect(try await !isHeldInMetrics(desk))
            // The next canary begins with no report against it.
            let next = try await world.approved().change
            world.clock.advance(by: .seconds(3_600))
            try await world.see(world.shown)
            #expect(try await world.publisher.publish(next) == .canary(until: world.now + Self.day))
            try await world.followCanary(for: Self.day)
            try await world.approve(next)
            #expect(try await world.publisher.publish(next) == .published(generation: 3))
        }
    }

    @Test("Forged successes let no canary pass before its time")
    func successes() async throws {
        try await withCanary { world, change, desk in
            try desk.count((0..<100).map { _ in ReportDesk.networkError() })
            let count = mutants > 10_000 ? 100_000 : 1_000
            try desk.count((0..<count).lazy.map { _ in ReportDesk.networkError("ok") }, of: "bank-canary")
            _ = try await desk.rows()
            let end = try #require(world.catalog.ledger.canaries[world.app]).began + Self.day
            try await world.followCanary(for: end - 60 - world.now)
            try await world.approve(change)
            let early = await expectError(.gate) { try await world.publisher.publish(change) }
            #expect(early?.found.contains("has it until") == true, "\(early as Any)")
            #expect(early?.found.contains("\(count) reports of the canary: 0.0 % failed") == true, "\(early as Any)")
            try await world.followCanary(for: 60)
            #expect(try await world.publisher.publish(change) == .published(generation: 2))
        }
    }

    @Test(
        "Too few reports say so, and the canary waits for its time only; invented hosts and reports of before its first hour are none"
    )
    func tooFew() async throws {
        try await World.run(canary: Self.day) { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats }, forcing: [.canary])
            let desk = try await ReportDesk(world)
            // Of the canary before this one.
            try desk.count((0..<500).map { _ in ReportDesk.networkError() }, of: "bank-canary")
            world.clock.advance(by: .seconds(3_600))
            try await world.see(world.shown)
            let change = try await world.approved().change
            try await world.publisher.publish(change)
            // Nobody knows which canary these are about.
            try desk.count((0..<500).map { _ in ReportDesk.networkError() }, of: "bank-canary")
            let part = Self.partHour(world)
            try await world.followCanary(for: part - 1)
            try desk.count((0..<500).map { _ in ReportDesk.networkError() }, of: "bank-canary")
            try await world.followCanary(for: 1)
            try await world.approve(change)
            try desk.count((0..<199).map { _ in ReportDesk.networkError() }, of: "bank-canary")
            let invented = (0..<500).map { ReportDesk.networkError(at: "https://h\($0).example.org/") }
            try desk.count(invented, of: "bank-canary")
            _ = try await desk.rows()
            let early = await expectError(.gate) { try await world.publisher.publish(change) }
            #expect(early?.found.contains("too few reports of the canary: 199 of 200") == true, "\(early as Any)")
            #expect(early?.found.contains("is held") == false, "\(early as Any)")
            try await world.followCanary(for: Self.day)
            try await world.approve(change)
            #expect(try await world.publisher.publish(change) == .published(generation: 2))
        }
    }

    @Test("Rows of reports that somebody damaged hold nothing up")
    func damagedRows() async throws {
        try await withCanary { world, change, desk in
            try desk.count((0..<300).map { _ in ReportDesk.networkError() }, of: "bank-canary")
            _ = try await desk.rows()
            _ = try await world.engine.write { session throws(ServerError) in
                try session.run("DROP TABLE report_count")
            }
            try await world.followCanary(for: Self.day)
            try await world.approve(change)
            #expect(try await world.publisher.publish(change) == .published(generation: 2))
        }
    }
}
