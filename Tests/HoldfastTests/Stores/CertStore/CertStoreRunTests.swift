import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// A clock on which sleeping moves the store's clock.
private struct LeapingClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    let wall: ManualClock
    let limit: Date
    let isOver: Gate
    var now: Instant { Instant(offset: .seconds(wall.now.timeIntervalSince1970)) }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        guard wall.now < limit else {
            isOver.open()
            try await Task.sleep(for: .seconds(3_600))
            return
        }
        let (seconds, attoseconds) = now.duration(to: deadline).components
        wall.advance(by: .seconds(Double(seconds) + Double(attoseconds) * 1e-18 + 0.01))
        await Task.yield()
    }
}

@Suite("A store that keeps itself fresh", .timeLimit(.minutes(15)))
struct CertStoreRunTests {
    @Test("It updates when nothing is stored, before pins expire, after failures, and until it is canceled")
    func run() async throws {
        let fixture = try StoreFixture()
        let requests = Lock<[TimeInterval]>([])
        let list = try fixture.list([("www.example.com", 1, 20)])
        let (clock, start) = (fixture.clock, fixture.clock.now)
        fixture.provider.answer { _ in
            let count = requests.withLock { requests in
                requests.append(clock.now.timeIntervalSince(start))
                return requests.count
            }
            guard count > 2 else { throw RemoteDataError(status: 500) }
            return RemoteDataResponse(.body(list))
        }
        let store = fixture.store()
        let isOver = Gate()
        let sleeper = LeapingClock(wall: clock, limit: start.addingTimeInterval(21 * 86_400), isOver: isOver)
        let running = Task { try await store.run(sleepingOn: sleeper) }
        await isOver.wait()
        running.cancel()
        try await running.value
        let times = requests.withLock { $0 }
        #expect(times.first == 0)
        // Two failures, each followed by its back-off, then the schedule.
        #expect((15...31).contains(times[1] - times[0]) && (30...61).contains(times[2] - times[1]))
        #expect((5.6 * 86_400...7.1 * 86_400).contains(times[3] - times[2]))
        // Expired entries do not make it ask more often than back-off allows, and none of it is closer than 15 minutes
        // while pins are usable.
        for (earlier, later) in zip(times, times.dropFirst()) where earlier > 100 && later < 20 * 86_400 {
            #expect(later - earlier >= 900)
        }
        #expect(times.count > 5 && times.count < 200)
    }
}
