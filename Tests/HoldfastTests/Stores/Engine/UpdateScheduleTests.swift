import Foundation
import Testing

@testable import Holdfast

@Suite("The schedule of updates")
struct UpdateScheduleTests {
    private let now = Date(timeIntervalSince1970: 1_900_000_000)
    private let day = 86_400.0

    /// The same word for ever: 0 gives the least jitter, the greatest word the most.
    private struct Constant: RandomNumberGenerator {
        let word: UInt64
        mutating func next() -> UInt64 { word }
    }

    private func delay(_ expiry: TimeInterval?, word: UInt64 = 0, periodic: TimeInterval = 7 * 86_400) -> TimeInterval {
        var generator = Constant(word: word)
        return UpdateSchedule(updateInterval: .seconds(periodic))
            .nextUpdate(at: now, soonestExpiry: expiry.map { now.addingTimeInterval($0) }, using: &generator)
            .timeIntervalSince(now)
    }

    @Test("The next update is after the periodic interval while expiry is far")
    func periodic() {
        #expect(delay(100 * day) == 7 * day)
        #expect(delay(15 * day) == 7 * day)
        #expect(delay(nil) == 7 * day)
        #expect(delay(100 * day, periodic: 30 * day) == 30 * day)
    }

    @Test("It is when the first name loses its last pin, if that is sooner")
    func soonest() { #expect(delay(20 * day, periodic: 30 * day) == 20 * day) }

    @Test("Once expiry is under the threshold what remains is multiplied by an eighth")
    func urgency() {
        #expect(delay(14 * day) == 7 * day)
        #expect(abs(delay(13 * day) - 13 * day / 8) < 1)
        #expect(abs(delay(1 * day) - 3 * 3_600) < 1)
    }

    @Test("It is never sooner than 15 minutes, nor negative")
    func floor() {
        #expect(delay(60) == 900)
        #expect(delay(-100) == 900)
        #expect(
            delay(nil, periodic: 0) == 900 && delay(nil, periodic: -1e15) == 900)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<1_000 {
            let next = UpdateSchedule(updateInterval: .seconds(Double.random(in: 0...3_000, using: &generator)))
                .nextUpdate(at: now, soonestExpiry: nil, using: &generator).timeIntervalSince(now)
            #expect(next >= 900 && next <= 3_000)
        }
    }

    @Test("Jitter takes up to a fifth off, or puts it onto the 15 minutes")
    func jitter() {
        #expect(abs(delay(100 * day, word: .max) - 7 * day * 0.8) < 1)
        #expect(abs(delay(60, word: .max) - 1_080) < 1)
        #expect(abs(delay(nil, word: .max, periodic: 1_000) - 1_080) < 1)
    }

    @Test("After failures the wait doubles up to an hour, with jitter of a half")
    func backOff() {
        var (least, most) = (Constant(word: 0), Constant(word: .max))
        let full = (1...12).map { BackOff.delay(afterFailures: $0, using: &most).rounded() }
        #expect(full == [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600, 3_600, 3_600])
        #expect(BackOff.delay(afterFailures: 1, using: &least) == 15)
        #expect(BackOff.delay(afterFailures: .max, using: &least) == 1_800)
        #expect(BackOff.delay(afterFailures: .min, using: &least) == 15)
    }
}
