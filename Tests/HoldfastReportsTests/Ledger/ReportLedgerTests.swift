import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastReports

@Suite("What is reported, and when")
struct ReportLedgerTests {
    private let scene: ReportScene
    private let settings: ReportLedgerSettings

    init() throws {
        scene = try ReportScene()
        settings = try scene.configuration().ledgerSettings(spread: .zero)
    }

    private func observation(_ file: PinFile, host: String = "api.example.com", port: Int = 443) throws -> Observation {
        try #require(
            Observation(
                scene.manager(file).evaluate(try scene.trust(scene.impostor, host: host, port: port)),
                namesHosts: false))
    }

    private func record(_ ledger: inout ReportLedger, _ observation: Observation, word: UInt64 = 0) -> Int {
        var words = ConstantWords(word: word)
        return ledger.record(observation, at: scene.clock.now, using: &words).new.count
    }

    private func ledger(_ stored: StoredLedger? = nil) -> ReportLedger {
        ReportLedger(settings, stored: stored, at: scene.clock.now)
    }

    /// Everything that is due.
    private func due(_ ledger: inout ReportLedger, isHurried: Bool = false) -> [PendingReport] {
        var words = ConstantWords()
        var all: [PendingReport] = []
        while case .send(let report) = ledger.step(at: scene.clock.now, isHurried: isHurried, using: &words) {
            all.append(report)
        }
        return all
    }

    // MARK: Distinct

    @Test("The same failure is reported once a day, whatever the chain, the port and the time")
    func onceADay() throws {
        var ledger = ledger()
        let file = try scene.pinFile()
        #expect(try record(&ledger, observation(file)) == 1)
        scene.clock.advance(by: .seconds(86_399))
        #expect(try record(&ledger, observation(file, port: 8_443)) == 0)
        let other = try scene.root.impersonate(scene.leaf)
        let again = try #require(
            Observation(scene.manager(file).evaluate(try scene.trust(other)), namesHosts: false))
        #expect(record(&ledger, again) == 0)
        scene.clock.advance(by: .seconds(1))
        #expect(record(&ledger, again) == 1)
    }

    @Test("Another code, another version of the document, or another pattern is another report")
    func distinct() throws {
        var ledger = ledger()
        #expect(try record(&ledger, observation(try scene.pinFile())) == 1)
        #expect(try record(&ledger, observation(try scene.pinFile(issuedAt: "2026-11-22T12:00:00Z"))) == 1)
        #expect(try record(&ledger, observation(try scene.pinFile("**.example.com"))) == 1)
        let stranger = try TestAuthority.root(name: "Stranger", clock: scene.clock)
        let unknown = try #require(
            Observation(
                scene.manager(try scene.pinFile()).evaluate(
                    try scene.trust(try stranger.leaf(names: ["api.example.com"]))), namesHosts: false))
        #expect(record(&ledger, unknown) == 1)
        #expect(ledger.state.subjects.count == 4)
    }

    @Test(
        "What was reported is known after a restart, and a clock that was set back stops nothing for longer than a day")
    func restart() throws {
        var first = ledger()
        let seen = try observation(try scene.pinFile())
        #expect(record(&first, seen) == 1)
        let data = first.dataToStore(at: scene.clock.now, isForced: true)
        let stored = try #require(data)
        scene.clock.advance(by: .seconds(3_600))
        var second = ledger(StoredLedger.read(stored))
        #expect(record(&second, seen) == 0)
        #expect(due(&second).count == 1)
        scene.clock.advance(by: .seconds(-365 * 86_400))
        #expect(record(&second, seen) == 0)
        scene.clock.advance(by: .seconds(86_400))
        #expect(record(&second, seen) == 1)
    }

    // MARK: Sampling

    @Test("Of failures and successes that share is told that the pin file says")
    func sampling() throws {
        let file = try scene.pinFile(report: ReportScene.report(failures: 250_000, successes: 1_000))
        let failure = try observation(file)
        let success = try #require(
            Observation(scene.manager(file).evaluate(try scene.trust(scene.leaf)), namesHosts: false))
        var generator = SplitMix64(seed: 29)
        var ledger = ledger()
        for _ in 0..<10_000 {
            _ = ledger.record(failure, at: scene.clock.now, using: &generator)
            _ = ledger.record(success, at: scene.clock.now, using: &generator)
        }
        scene.clock.advance(by: .seconds(86_400))
        let reports = due(&ledger, isHurried: true)
        #expect(reports.count == 2)
        guard case .failure(let single) = reports.first?.content, case .summary(let summary) = reports.last?.content,
            let place = summary.places.first
        else {
            Issue.record("a failure and a summary were expected")
            return
        }
        #expect(single.fraction == 0.25 && place.failureFraction == 0.25 && place.successFraction == 0.001)
        // Four standard deviations around 2,500 and 10.
        #expect((2_327...2_673).contains(place.failures) && place.details.map(\.count) == [place.failures])
        #expect((1...23).contains(place.successes))
    }

    @Test("A pin file without the field, and one with the fraction 0, switches reports off")
    func switchedOff() throws {
        for report in [nil, ReportScene.report(failures: 0, successes: 0)] {
            var ledger = ledger()
            #expect(try record(&ledger, observation(try scene.pinFile(report: report))) == 0)
            #expect(ledger.isEmpty && ledger.changedAt == nil)
        }
    }

    @Test("A pin file chooses among the destinations of the application, and none beside them")
    func destinations() throws {
        let second = "https://other.example.net/reports?appName=bank"
        let settings = try scene.configuration([ReportScene.collector, second]).ledgerSettings(spread: .zero)
        var ledger = ReportLedger(settings, stored: nil, at: scene.clock.now)
        var words = ConstantWords()
        _ = ledger.record(
            try observation(try scene.pinFile(report: ReportScene.report(to: second))), at: scene.clock.now,
            using: &words)
        #expect(due(&ledger).map(\.destination) == [second])
        let foreign = try observation(
            try scene.pinFile(
                issuedAt: "2026-11-23T12:00:00Z", report: ReportScene.report(to: "https://evil.example/")))
        let (new, problem) = ledger.record(foreign, at: scene.clock.now, using: &words)
        #expect(new.isEmpty && problem?.code == .unnamedDestination)
        #expect(problem?.found.contains("evil.example") == true && problem?.found.contains("api.example.com") == true)
        #expect(due(&ledger).isEmpty)
    }

    // MARK: Summaries

    @Test("A day's counts are summed up after midnight, once, by host and version of the document")
    func summary() throws {
        var ledger = ledger()
        let file = try scene.pinFile()
        let success = try #require(
            Observation(scene.manager(file).evaluate(try scene.trust(scene.leaf)), namesHosts: false))
        for _ in 0..<5 { _ = record(&ledger, success) }
        for _ in 0..<2 { _ = record(&ledger, try observation(file)) }
        _ = record(&ledger, try observation(try scene.pinFile(issuedAt: "2026-11-22T12:00:00Z")))
        _ = due(&ledger)
        scene.clock.set(try Date("2026-11-26T23:59:59Z", strategy: .iso8601))
        #expect(due(&ledger, isHurried: true).isEmpty)
        scene.clock.advance(by: .seconds(1))
        let reports = due(&ledger)
        guard reports.count == 1, case .summary(let summary) = reports[0].content else {
            Issue.record("one summary was expected, not \(reports)")
            return
        }
        #expect(summary.places.map(\.successes) == [5, 0] && summary.places.map(\.failures) == [2, 1])
        #expect(summary.places.map(\.documentVersion) == ["20261121T120000Z", "20261122T120000Z"])
        let body = try JSONValue.object(reports[0].body(as: .networkErrorLogging, at: scene.clock.now).octets)
        #expect(
            body["date-range"]
                == .object([
                    "start-datetime": .text("2026-11-26T00:00:00Z"), "end-datetime": .text("2026-11-26T23:59:59Z"),
                ]))
        scene.clock.advance(by: .seconds(86_400))
        #expect(due(&ledger, isHurried: true).isEmpty)
    }

    @Test("Summaries are spread over four hours after midnight")
    func spread() throws {
        var ledger = ledger()
        _ = record(&ledger, try observation(try scene.pinFile()))
        _ = due(&ledger)
        scene.clock.set(try Date("2026-11-27T00:00:00Z", strategy: .iso8601))
        var words = ConstantWords(word: .max)
        guard case .wait(let time) = ledger.step(at: scene.clock.now, isHurried: false, using: &words) else {
            Issue.record("it does not wait")
            return
        }
        #expect(time <= scene.clock.now.addingTimeInterval(60))
        scene.clock.advance(by: .seconds(4 * 3_600 - 60))
        #expect(due(&ledger).isEmpty)
        scene.clock.advance(by: .seconds(60))
        #expect(due(&ledger).count == 1)
    }

    @Test("A candidate that does not match counts as a success with a detail")
    func candidates() throws {
        let pin = try Pin(subject: .publicKey, digest: [UInt8](repeating: 9, count: 32))
        let seen = try #require(
            Observation(
                scene.manager(try scene.pinFile(candidate: pin)).evaluate(try scene.trust(scene.leaf)),
                namesHosts: false))
        var ledger = ledger()
        #expect(record(&ledger, seen) == 1)
        scene.clock.advance(by: .seconds(86_400))
        guard case .summary(let summary) = due(&ledger, isHurried: true).last?.content, let place = summary.places.first
        else {
            Issue.record("a summary was expected")
            return
        }
        #expect(place.successes == 1 && place.failures == 0)
        #expect(place.details.map(\.code) == ["candidatePinMismatch"])
    }

    // MARK: A collector that is away

    @Test("Days of failures make few attempts, which are spread, and none before a collector's Retry-After")
    func backOff() throws {
        var ledger = ledger()
        _ = record(&ledger, try observation(try scene.pinFile()))
        var generator = SplitMix64(seed: 1)
        let start = scene.clock.now
        var attempts: [TimeInterval] = []
        for _ in 0..<10_000 {
            switch ledger.step(at: scene.clock.now, isHurried: true, using: &generator) {
            case .send(let report):
                attempts.append(scene.clock.now.timeIntervalSince(start))
                ledger.finish(report, .failed(pause: nil), at: scene.clock.now, using: &generator)
            case .wait(let time): scene.clock.set(time)
            case .rest: break
            }
            _ = ledger.dataToStore(at: scene.clock.now, isForced: true)
            if scene.clock.now.timeIntervalSince(start) > 3 * 86_400 { break }
        }
        // About one in three quarters of an hour, after the first few.
        #expect((72...150).contains(attempts.count))
        let gaps = zip(attempts.dropFirst(10), attempts.dropFirst(11)).map { $1 - $0 }
        #expect(gaps.allSatisfy { (1_800...3_601).contains($0) } && Set(gaps).count > 10)
        var other = self.ledger()
        scene.clock.set(start)
        _ = record(&other, try observation(try scene.pinFile()))
        guard case .send(let report) = other.step(at: start, isHurried: true, using: &generator) else {
            Issue.record("it does not send")
            return
        }
        other.finish(report, .failed(pause: .seconds(7_200)), at: start, using: &generator)
        scene.clock.advance(by: .seconds(7_199))
        #expect(due(&other, isHurried: true).isEmpty)
        scene.clock.advance(by: .seconds(1))
        #expect(due(&other, isHurried: true).count == 1)
        other.finish(report, .failed(pause: .seconds(999_999_999)), at: scene.clock.now, using: &generator)
        scene.clock.advance(by: .seconds(86_399))
        #expect(due(&other, isHurried: true).isEmpty)
        scene.clock.advance(by: .seconds(1))
        // The day has a summary as well.
        #expect(due(&other, isHurried: true).count == 2)
    }

    @Test("A report that nobody took for a week is dropped")
    func tooOld() throws {
        var ledger = ledger()
        _ = record(&ledger, try observation(try scene.pinFile()))
        scene.clock.advance(by: .seconds(7 * 86_400 + 1))
        let reports = due(&ledger, isHurried: true)
        #expect(reports.count == 1)
        if case .summary = reports.first?.content {} else { Issue.record("only the summary was expected") }
    }
}
