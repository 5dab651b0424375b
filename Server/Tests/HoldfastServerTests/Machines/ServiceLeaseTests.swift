import Foundation
import HoldfastTesting
import Logging
import Synchronization
import Testing

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerStore

/// Tasks that one machine does at a time.
@Suite("What one machine at a time does", .besidePostgres, .timeLimit(.minutes(5)))
struct ServiceLeaseTests {
    private func lease(
        _ engine: any StorageEngine, _ machine: String, span: Duration = ServiceLease.span
    ) -> ServiceLease {
        var generator = SystemRandomNumberGenerator()
        return ServiceLease("people", in: engine, machine: machine, span: span, using: &generator)
    }

    @Test(
        "One process has it, keeps it, and another one gets it when its time is over or it is given back",
        arguments: StorageKind.tested)
    func taking(_ kind: StorageKind) async throws {
        try await StorageSuite.withEngine(kind) { engine, clock in
            let (first, second) = (lease(engine, "a"), lease(engine, "b"))
            #expect(first.turn == nil)
            try await first.renew()
            try await second.renew()
            #expect(first.turn == 1 && second.turn == nil)
            clock.advance(by: .seconds(40))
            try await first.renew()
            #expect(first.turn == 1)
            clock.advance(by: .seconds(40))
            try await second.renew()
            #expect(second.turn == nil)
            // The first one was killed.
            clock.advance(by: .seconds(1))
            try await second.renew()
            #expect(second.turn == 1)
            // It was only stopped, and comes back.
            try await first.renew()
            #expect(first.turn == nil && second.turn == 1)
            await first.release()
            try await first.renew()
            #expect(first.turn == nil)
            await second.release()
            #expect(second.turn == nil)
            try await first.renew()
            #expect(first.turn == 2)
        }
    }

    @Test("Who was stopped and comes back gives nothing back that another one has", arguments: StorageKind.tested)
    func late(_ kind: StorageKind) async throws {
        try await StorageSuite.withEngine(kind) { engine, clock in
            let (first, second, third) = (lease(engine, "a"), lease(engine, "b"), lease(engine, "c"))
            try await first.renew()
            clock.advance(by: .seconds(41))
            try await second.renew()
            #expect(second.turn == 1)
            // It has not asked since, and ends.
            await first.release()
            try await third.renew()
            #expect(third.turn == nil)
            await second.release()
            try await third.renew()
            #expect(third.turn == 1)
        }
    }

    @Test(
        "What is had for longer than anybody may have it is nobody's: the database's clock was set back",
        arguments: StorageKind.tested)
    func setBack(_ kind: StorageKind) async throws {
        try await StorageSuite.withEngine(kind) { engine, clock in
            let (first, second) = (lease(engine, "a"), lease(engine, "b"))
            try await first.renew()
            clock.set(clock.now.addingTimeInterval(-40))
            try await second.renew()
            #expect(second.turn == nil)
            clock.set(clock.now.addingTimeInterval(-1))
            try await second.renew()
            #expect(second.turn == 1)
        }
    }

    @Test("Who could not renew it counts it as lost before the database does")
    func ends() async throws {
        try await StorageSuite.withEngine(.sqlite) { engine, _ in
            let short = lease(engine, "a", span: .seconds(5))
            try await short.renew()
            #expect(short.turn == nil)
        }
    }

    @Test("Of many that ask at once one gets it", arguments: StorageKind.tested)
    func many(_ kind: StorageKind) async throws {
        try await StorageSuite.withEngine(kind) { engine, _ in
            let leases = (0..<10).map { lease(engine, "machine-\($0)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lease in leases { group.addTask { try await lease.renew() } }
                try await group.waitForAll()
            }
            #expect(leases.compactMap(\.turn) == [1])
        }
    }

    private final class Target: NoticeTarget {
        let name = "webhook"
        let told = Mutex<[RandomID]>([])
        let calls = AsyncStream.makeStream(of: RandomID.self)

        func deliver(_ notice: Notice) async -> String? {
            told.withLock { $0.append(notice.id) }
            calls.continuation.yield(notice.id)
            return nil
        }
    }

    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static func notice(_ number: Int, _ kind: Notice.Kind = .change) -> Notice {
        Notice(kind, of: Story.server, ["app": "bank", "change": "\(number)"], words: "A change waits.")
    }

    /// Another machine begins to tell, tells some, and is gone.
    private func tell(_ notices: [Notice], _ count: Int, on engine: any StorageEngine) async throws -> [RandomID] {
        let target = Target()
        let delivery = NoticeDelivery(
            to: target, remembering: NoticeTable(engine, target: "webhook"), counters: NoticeCounters(),
            logger: Self.quiet)
        try await delivery.begin()
        delivery.offer(notices)
        let run = Task { await delivery.run() }
        if count > 0 {
            for await _ in target.calls.stream where target.told.withLock({ $0.count }) >= count { break }
        } else {
            // Notices from before the first delivery are recorded as sent.
            while try await engine.read({ session throws(ServerError) in
                try session.run("SELECT 1 FROM notice_told LIMIT 1")
            }).isEmpty {}
        }
        run.cancel()
        await run.value
        return target.told.withLock { $0 }
    }

    @Test(
        "Whichever machine tells goes on where the one before it stopped: nothing is lost, nothing told again",
        arguments: StorageKind.tested)
    func notices(_ kind: StorageKind) async throws {
        try await StorageSuite.withEngine(kind) { engine, _ in
            let old = Self.notice(0, .alarm)
            // Alarms of before anybody listened are no news, for the others neither.
            #expect(try await tell([old], 0, on: engine) == [])
            let first = (1...3).map { Self.notice($0) }
            #expect(try await tell([old] + first, 3, on: engine) == first.map(\.id))
            let (news, alarm) = (Self.notice(4), Self.notice(5, .alarm))
            #expect(try await tell([old] + first + [news, alarm], 2, on: engine) == [news.id, alarm.id])
            // Obsolete notices are deleted, so that the table does not grow.
            #expect(try await tell([old, alarm, Self.notice(6)], 1, on: engine) == [Self.notice(6).id])
            let count = try await engine.read { session throws(ServerError) in
                try session.run("SELECT count(*) FROM notice_told")[0].integer(0)
            }
            #expect(count == 4)
        }
    }

    @Test("A delivery that may not tell sends nothing")
    func rests() async throws {
        let target = Target()
        let may = Mutex(false)
        let delivery = NoticeDelivery(
            to: target, remembering: NoticeFile(url: nil), while: { may.withLock { $0 } }, counters: NoticeCounters(),
            logger: Self.quiet)
        try await delivery.begin()
        let run = Task { await delivery.run() }
        let (early, late) = (Self.notice(1), Self.notice(2))
        delivery.offer([early])
        delivery.rest()
        may.withLock { $0 = true }
        delivery.offer([late])
        for await _ in target.calls.stream { break }
        run.cancel()
        await run.value
        #expect(target.told.withLock { $0 } == [late.id])
    }
}
