import Foundation
import Testing

@testable import HostMonitoring
@testable import ServerModel

@Suite("Ratios of reported failures")
struct FailureRatioTests {
    private func ratio(_ failures: Int, of count: Int, successWeight: Int64 = 1) -> FailureRatio {
        var ratio = FailureRatio()
        for number in 0..<count {
            let weight: Int64 = number < failures ? 1 : successWeight
            ratio.add(
                ReportCount.Sums(count: 1, rated: 1, scaled: weight, squares: weight * weight),
                number < failures ? .pins : .ok)
        }
        return ratio
    }

    @Test("The lower bound is Wilson's, as other programs work it out")
    func lowerBound() {
        for (failures, count, bound) in [
            (10, 100, 0.055_229_137), (0, 200, 0), (1, 200, 0.000_883_169), (6, 200, 0.013_820_314),
            (20, 1_000, 0.012_983_683),
        ] {
            #expect(abs(ratio(failures, of: count).lowerBound - bound) < 1e-8, "\(failures) of \(count)")
        }
        #expect(FailureRatio().lowerBound == 0 && FailureRatio().value == 0)
    }

    @Test("Successes that stand for a thousand each make the ratio small, and do not make it sure")
    func weights() {
        let scaled = ratio(100, of: 200, successWeight: 1_000)
        #expect(abs(scaled.value - 100.0 / 100_100) < 1e-9)
        #expect(scaled.effectiveCount < 101 && scaled.effectiveCount > 99)
        #expect(scaled.lowerBound < scaled.value / 2)
    }

    @Test("Pins on trial and other failures of TLS are of neither kind")
    func others() {
        var ratio = FailureRatio()
        let sums = ReportCount.Sums(count: 1, rated: 1, scaled: 1, squares: 1)
        for code in ClientReport.Code.allCases { ratio.add(sums, code) }
        #expect(ratio.reports == 4 && ratio.failures == 3)
    }

    // MARK: Canaries

    private func groups(
        _ audience: ReportAudience, _ failures: Int64, of count: Int64, host: String = "api.example.com:443"
    ) -> [ReportGroup] {
        func group(_ code: ClientReport.Code, _ count: Int64) -> ReportGroup {
            ReportGroup(
                place: ReportGroup.Place(audience: audience, host: host), documentVersion: "-", code: code,
                isLater: true,
                sums: ReportCount.Sums(count: count, rated: count, scaled: count, squares: count))
        }
        return [group(.pins, failures), group(.ok, count - failures)]
    }

    private func judged(_ groups: [ReportGroup]) -> CanaryReports { CanaryReports(groups, since: 0) }

    @Test("A canary is held from 200 reports on, when it is surely twice as bad as everybody else, and worse than 1 %")
    func canary() {
        func isHeld(_ canary: (Int64, Int64), _ control: (Int64, Int64)) -> Bool {
            !judged(groups(.canary, canary.0, of: canary.1) + groups(.everybody, control.0, of: control.1))
                .refusals.isEmpty
        }
        #expect(!isHeld((199, 199), (0, 0)), "too few")
        #expect(isHeld((200, 200), (0, 0)))
        #expect(isHeld((5, 200), (0, 1_000)), "1.07 % at least")
        #expect(!isHeld((4, 200), (0, 1_000)), "less than 1 % at least")
        #expect(isHeld((20, 200), (25, 1_000)), "6.6 % at least, and 2.5 %")
        #expect(!isHeld((20, 200), (40, 1_000)), "6.6 % at least, and 4 %")
        #expect(!isHeld((0, 100_000), (100_000, 100_000)))
    }

    @Test("One host among many holds a canary, and so do few reports about each of many")
    func hosts() {
        var many: [ReportGroup] = []
        for number in 0..<50 { many += groups(.canary, 0, of: 1_000, host: "h\(number):443") }
        #expect(judged(many).refusals.isEmpty)
        let words = judged(many + groups(.canary, 100, of: 200)).refusals
        #expect(words.count == 1 && words[0].contains("to api.example.com:443"), "\(words)")
        var few: [ReportGroup] = []
        for number in 0..<50 { few += groups(.canary, 5, of: 10, host: "h\(number):443") }
        let all = judged(few).refusals
        #expect(all.count == 1 && all[0].contains("to all hosts"), "\(all)")
    }

    @Test("With too few reports a canary says so, and waits for its time only")
    func tooFew() {
        let reports = judged(groups(.canary, 3, of: 37))
        #expect(reports.refusals.isEmpty)
        #expect(reports.words == "too few reports of the canary: 37 of 200")
        #expect(judged([]).words == "too few reports of the canary: 0 of 200")
    }

    @Test("Invented hosts hold nothing")
    func inventedHosts() {
        #expect(judged(groups(.canary, 10_000, of: 10_000, host: ReportHosts.unlisted)).refusals.isEmpty)
    }
}
