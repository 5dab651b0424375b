import Foundation
import HoldfastTesting
import NIOCore
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore

/// An attacker who sends arbitrary reports: they are counted, bounded, and nothing that matters changes.
@Suite("A hostile reporter", .timeLimit(.minutes(10)))
struct HostileReporterTests {
    /// Checks that the audit is as it was, and with it every change, approval and document.
    private func unchanged(_ desk: ReportDesk, _ body: () async throws -> Void) async throws {
        let before = desk.world.catalog.ledger.chain.head
        let served = desk.world.publisher.live.current.documents.mapValues(\.bytes)
        try await body()
        #expect(desk.world.catalog.ledger.chain.head == before)
        #expect(desk.world.publisher.live.current.documents.mapValues(\.bytes) == served)
    }

    @Test("100,000 damaged reports fill a bounded number of rows, and change nothing")
    func damaged() async throws {
        try await World.run { world in
            let desk = try await ReportDesk(world)
            let bodies = [
                ReportDesk.networkError(), ReportDesk.pinFailure(world.shown.chain, version: "7"),
                ReportDesk.pinFailure(world.shown.chain, result: 1),
            ].map { Array($0.utf8) }
            try await unchanged(desk) {
                var generator = SeededGenerator(seed: 0x4057)
                for number in 0..<(mutants > 10_000 ? 100_000 : 2_000) {
                    let mutant = mutated(bodies[number % bodies.count], &generator)
                    _ = desk.inbox.intake.take(ByteBuffer(bytes: mutant), for: world.app, from: .unknown)
                    #expect(desk.counting.countNext() && desk.inbox.intake.count == 0)
                }
                let counters = desk.inbox.counters
                #expect(counters.count(of: .malformed) > 0 && counters.count(of: .counted) > 0)
                #expect(desk.counting.waiting.rows <= 2 * (ReportTally.maximumKinds + 12))
                let rows = try await desk.rows()
                #expect(rows.count <= 2 * (ReportTally.maximumKinds + 12))
            }
        }
    }

    @Test("100,000 forged failures raise an alarm, 100,000 forged successes end it, and nothing else happens")
    func forged() async throws {
        try await World.run { world in
            let desk = try await ReportDesk(world)
            let count = mutants > 10_000 ? 100_000 : 2_000
            try await unchanged(desk) {
                try desk.count((0..<count).lazy.map { _ in ReportDesk.networkError() })
                #expect(try await desk.rows().count == 1)
                #expect(try await desk.standing().warnings.count == 1)
                try desk.count((0..<count).lazy.map { _ in ReportDesk.networkError("ok", fraction: "0.0001") })
                let standing = try await desk.standing()
                #expect(standing.warnings.isEmpty && standing.ratios.map(\.reports) == [Int64(2 * count)])
            }
        }
    }

    @Test("Invented hosts are one row, and invented versions of a day are 64 and one")
    func invented() async throws {
        try await World.run { world in
            let desk = try await ReportDesk(world)
            let count = mutants > 10_000 ? 10_000 : 1_000
            try await unchanged(desk) {
                try desk.count((0..<count).lazy.map { ReportDesk.networkError(at: "https://h\($0).example.org/") })
                #expect(try await desk.rows().count == 1)
                #expect(desk.inbox.counters.count(of: .unlisted) == count)
                #expect(try await desk.standing().ratios.isEmpty)
                try desk.count((0..<count).lazy.map { ReportDesk.networkError(more: #", "app-version": "7.\#($0)""#) })
                #expect(try await desk.rows().count == 1 + ReportTally.maximumKinds + 1)
                // Every report of them is counted, under whatever name.
                #expect(try await desk.standing().ratios.map(\.reports) == [Int64(count)])
            }
        }
    }

    @Test("A restart is no new day for whoever invents")
    func restart() async throws {
        try await World.run { world in
            let desk = try await ReportDesk(world)
            func invent(_ from: Int) -> [String] {
                (0..<100).map { ReportDesk.networkError(more: #", "document-version": \#(from + $0)"#) }
            }
            try desk.count(invent(0) + [ReportDesk.pinFailure(world.announced.chain)])
            #expect(try await desk.rows().count == ReportTally.maximumKinds + 1)
            let after = ReportCounting(desk.inbox, in: world.catalog)
            try await after.remember()
            for body in invent(1_000) {
                _ = desk.inbox.intake.take(ByteBuffer(string: body), for: world.app, from: .unknown)
                #expect(after.countNext())
            }
            try await after.write()
            #expect(try await desk.rows().count == ReportTally.maximumKinds + 1)
            // The next day has room again.
            world.clock.advance(by: .seconds(86_400))
            try desk.count(invent(2_000))
            #expect(try await desk.rows().count == 2 * (ReportTally.maximumKinds + 1))
        }
    }

    @Test("While nobody reads, so many bodies wait as the queue has room for, and not an byte more")
    func queue() async throws {
        try await World.run { world in
            let desk = try await ReportDesk(world)
            let small = ByteBuffer(string: ReportDesk.networkError())
            var taken = 0
            // One source has an eighth of it.
            for _ in 0..<10_000 where desk.inbox.intake.take(small, for: world.app, from: .unknown) { taken += 1 }
            #expect(taken == ReportIntake.maximumCount / 8)
            for number in 0..<10_000
            where desk.inbox.intake.take(small, for: world.app, from: try ReportDesk.source(number)) { taken += 1 }
            // It gave way to others, until it had no more than they have.
            let displaced = desk.inbox.counters.count(of: .shed)
            #expect(displaced == ReportIntake.maximumCount / 8 - 1)
            #expect(taken == ReportIntake.maximumCount + displaced)
            #expect(desk.inbox.intake.count == ReportIntake.maximumCount)
            while desk.counting.countNext() {}
            let large = ByteBuffer(repeating: 0x20, count: ReportReader.maximumSize)
            taken = 0
            for number in 0..<10_000
            where desk.inbox.intake.take(large, for: world.app, from: try ReportDesk.source(number)) { taken += 1 }
            #expect(taken == ReportIntake.maximumBytes / ReportReader.maximumSize)
        }
    }

    @Test("A database that cannot be written for days needs no more than 65,536 rows of memory")
    func memory() throws {
        var tally = ReportTally()
        let app = try AppName("bank")
        let report = try #require(try ReportReader.read(Array(ReportDesk.networkError().utf8)).first)
        for hour in 0..<70_000 {
            tally.add(report, of: app, .everybody, on: "a.b:443", from: 0, at: Int64(hour) * 3_600)
        }
        tally.giveBack(tally.takeAll())
        #expect(tally.rowCount <= 65_536 && tally.rowCount > 65_000)
    }
}
