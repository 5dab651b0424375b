import Foundation
import Testing

@testable import Holdfast

@Suite("Trusted time")
struct TrustedTimeTests {
    private let now = Date(timeIntervalSince1970: 1_900_000_000)
    private let day = 86_400.0

    @Test("It is the latest of the clock, the build's date and the newest issue time")
    func latest() {
        let (early, late) = (now.addingTimeInterval(-10), now.addingTimeInterval(10))
        #expect(TrustedTime().time(clock: now) == now)
        #expect(TrustedTime(buildDate: early, newestIssue: early).time(clock: now) == now)
        #expect(TrustedTime(buildDate: late, newestIssue: early).time(clock: now) == late)
        #expect(TrustedTime(buildDate: early, newestIssue: late).time(clock: now) == late)
    }

    @Test(
        "An issue time moves it no further than a day past the later of clock and build date",
        arguments: [0, 500] as [Double])
    func bounded(buildLead: Double) {
        let build = now.addingTimeInterval(buildLead * day)
        for lead in [1.0, 2, 365, 1e9, .infinity] {
            let issued = now.addingTimeInterval((buildLead + lead) * day)
            let time = TrustedTime(buildDate: build, newestIssue: issued)
            #expect(time.time(clock: now) == build.addingTimeInterval(day))
            #expect(time.counted(issued, clock: now) == build.addingTimeInterval(day))
        }
    }

    @Test("What is remembered of a wrong issue time is passed by the clock within a day, and does not move with it")
    func heals() {
        let wrong = now.addingTimeInterval(10_000 * day)
        let time = TrustedTime().remembering(wrong, clock: now)
        #expect(time.newestIssue == now.addingTimeInterval(day))
        let tomorrow = now.addingTimeInterval(day + 1)
        #expect(time.time(clock: tomorrow) == tomorrow)
        #expect(time.remembering(tomorrow, clock: tomorrow).newestIssue == tomorrow)
    }

    @Test("What is remembered may go down: which document may follow which says its format")
    func corrected() {
        let time = TrustedTime(buildDate: nil, newestIssue: now.addingTimeInterval(day))
        #expect(time.remembering(now, clock: now).newestIssue == now)
        #expect(time.remembering(now, clock: now).time(clock: now) == now)
    }

    @Test("A clock that is set back takes what is remembered with it, but for a day")
    func setBack() {
        let time = TrustedTime().remembering(now, clock: now)
        let back = now.addingTimeInterval(-30 * day)
        #expect(time.time(clock: back) == back.addingTimeInterval(day))
        #expect(time.newestIssue == now)
        #expect(time.time(clock: now.addingTimeInterval(-3_600)) == now)
    }

    @Test("Who asks about an earlier time gets the newest issue time, which the device's clock bounds all the same")
    func asked() {
        let time = TrustedTime(newestIssue: now)
        #expect(time.time(asked: .distantPast, clock: now) == now)
        #expect(
            time.time(asked: .distantPast, clock: now.addingTimeInterval(-9 * day)) == now.addingTimeInterval(-8 * day))
        #expect(time.time(asked: now.addingTimeInterval(1), clock: .distantPast) == now.addingTimeInterval(1))
        let late = now.addingTimeInterval(50 * day)
        #expect(TrustedTime(newestIssue: late).time(asked: now, clock: .distantPast) == now.addingTimeInterval(day))
    }
}
