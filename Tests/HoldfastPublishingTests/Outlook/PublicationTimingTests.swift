import Foundation
import HoldfastPublishing
import Testing

@Suite("The times between a change and its clients")
struct PublicationTimingTests {
    private static let day: TimeInterval = 86_400
    private let timing = PublicationTiming(staleness: .seconds(7 * 86_400), canary: .seconds(3 * 86_400))
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func after(_ days: Double) -> Date { now.addingTimeInterval(days * Self.day) }

    @Test("A change reaches every client after the canary's time and the staleness")
    func waiting() {
        #expect(timing.wait == .seconds(10 * 86_400))
        #expect(timing.reach(ofChangeBegunAt: now) == after(10))
        #expect(timing.canaryEnd(begunAt: now) == after(3))
        #expect(timing.lastUse(ofDocumentReplacedAt: now) == after(7))
        #expect(timing.oldestReplacement(inUseAt: now) == after(-7))
        #expect(timing.endsBeforeClientsAsk(after(7), at: now) && !timing.endsBeforeClientsAsk(after(8), at: now))
    }

    @Test("A replaced document that ends by itself is used until its end at most")
    func documentsThatEnd() {
        #expect(timing.lastUse(ofDocumentReplacedAt: now, lasting: .seconds(2 * 86_400)) == after(2))
        #expect(timing.lastUse(ofDocumentReplacedAt: now, lasting: .seconds(9 * 86_400)) == after(7))
        #expect(timing.lastUse(ofDocumentReplacedAt: now, lasting: nil) == after(7))
    }

    @Test("What ends in the second in which the wait ends counts as ended before it")
    func endOfWait() {
        #expect(PublicationTiming.ends(after(7).addingTimeInterval(-1), beforeEndOfWait: after(7)))
        #expect(PublicationTiming.ends(after(7), beforeEndOfWait: after(7)))
        #expect(PublicationTiming.ends(after(7).addingTimeInterval(0.9), beforeEndOfWait: after(7)))
        #expect(!PublicationTiming.ends(after(7).addingTimeInterval(1), beforeEndOfWait: after(7)))
    }

    @Test("A renewal leaves every client enough time, but for the second in which the old certificate ends")
    func renewals() {
        #expect(timing.fitsRenewal(leaving: .seconds(10 * 86_400 - 1)))
        #expect(!timing.fitsRenewal(leaving: .seconds(10 * 86_400 - 2)))
    }

    @Test("Forty days and no fewer have room for ten days of waiting in a quarter")
    func quarter() {
        #expect(timing.fitsQuarter(of: .seconds(40 * 86_400)))
        #expect(!timing.fitsQuarter(of: .seconds(40 * 86_400 - 1)))
    }

    @Test(
        "The first lock-out is the earliest end, and what is published by the last safe time reaches everyone before it"
    )
    func lockout() {
        #expect(timing.firstLockout(documents: after(9), hosts: after(8)) == after(8))
        #expect(timing.firstLockout(documents: after(9), hosts: nil) == after(9))
        #expect(timing.firstLockout(documents: nil, hosts: nil) == nil)
        let last = timing.lastSafePublication(before: after(30))
        #expect(last == after(20) && timing.reach(ofChangeBegunAt: last) == after(30))
        #expect(timing.alert(before: after(30), lead: PublicationTiming.lead(forLifetimes: [])) == after(6))
        let short = PublicationTiming.lead(forLifetimes: [.seconds(90 * 86_400), .seconds(6 * 86_400)])
        #expect(short == .seconds(2 * 86_400))
    }

    @Test("An approval lasts for a week, and for the canary's time unless the change skips it")
    func approvals() {
        #expect(timing.approvalEnd(ofChangeProposedAt: now) == after(10))
        #expect(timing.approvalEnd(ofChangeProposedAt: now, skippingCanary: true) == after(7))
        #expect(PublicationTiming.changeEnd(ofChangeProposedAt: now) == after(7))
    }

    @Test("There is one default staleness, of seven days")
    func usual() {
        #expect(PublicationTiming().staleness == .seconds(7 * 86_400))
        let inputs = PublicationOutlook.Inputs(documents: [], hosts: [], platforms: [], appVersions: .unknown, now: now)
        #expect(inputs.staleness == PublicationTiming.usualStaleness)
    }
}
