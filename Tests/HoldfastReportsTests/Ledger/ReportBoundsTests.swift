import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastReports

@Suite("The bounds of what is kept")
struct ReportBoundsTests {
    private let application: ReportedApplication
    private let facts: FailureFacts

    init() throws {
        application = try ReportedApplication(identifier: "com.example.bank", version: "5.1", platform: "ios")
        facts = try #require(try ReportVectorTests.vectors().reports.first?.facts)
    }

    private func report(_ number: Int64, octets: Int = 0) -> PendingReport {
        var facts = facts
        facts.served = octets > 0 ? [String(repeating: "A", count: octets)] : []
        return PendingReport(.failure(facts), to: ReportScene.collector, madeAt: number, notBefore: number)
    }

    private func stored(_ ledger: StoredLedger) -> Int { ReportJSON.data(ledger).count }

    @Test("At most 64 reports wait; the oldest go first")
    func number() {
        var ledger = StoredLedger()
        for number in 0..<1_000 as Range<Int64> { ledger.append(report(number)) }
        #expect(ledger.pending.map(\.madeAt) == Array(936..<1_000))
    }

    @Test("The reports that wait have at most 128 KiB, counted as they are stored")
    func octets() {
        var ledger = StoredLedger()
        for number in 0..<200 as Range<Int64> {
            ledger.append(report(number, octets: 20_000))
            #expect(ledger.pendingOctets <= 128 << 10)
        }
        #expect(ledger.pending.count == 6)
        let contents = ledger.pending.reduce(0) { sum, one in
            guard case .failure(let facts) = one.content else { return sum }
            return sum + ReportJSON.data(facts).count
        }
        #expect(contents == ledger.pendingOctets && stored(ledger) <= 140 << 10)
    }

    @Test("A report whose chains would take the room of the others goes without them")
    func oneLongReport() {
        let long = report(1, octets: 70 << 10)
        guard case .failure(let kept) = long.content else {
            Issue.record("it is no failure")
            return
        }
        #expect(kept.served.isEmpty && long.octets < 2_000)
    }

    @Test("Everything together stays below what is read again, with the longest names and every place taken")
    func everything() throws {
        let scene = try ReportScene()
        var ledger = StoredLedger()
        for number in 0..<100 as Range<Int64> { ledger.append(report(number, octets: 1_500)) }
        for number in 0..<1_000 {
            let subject = ReportSubject(
                host: "\(number)." + String(repeating: "x", count: 240), code: "signatureAlgorithmOfSomeKind",
                documentVersion: "20261121T120000Z")
            let isNew = ledger.subjects.isNew(subject, at: 1_000)
            #expect(isNew == (number < ReportLimits.mostSubjects))
        }
        let sampling = Observation.Sampling(failures: 0.001, successes: 0.001)
        for second in 0..<100 {
            let time = try Date("2026-11-21T12:00:00Z", strategy: .iso8601).addingTimeInterval(Double(second))
            let file = try scene.pinFile(issuedAt: time.formatted(.iso8601))
            let seen = try #require(
                Observation(scene.manager(file).evaluate(try scene.trust(scene.impostor)), namesHosts: false))
            ledger.counts.add(
                seen, to: ReportScene.collector, sampling: sampling, isSuccess: true,
                failures: (0..<30).map { ("codeOfAFailureThatIsRatherLong\($0)", .rejected) }, on: 20_000,
                by: application)
        }
        #expect(ledger.counts.count == ReportLimits.mostPlaces)
        let data = ReportJSON.data(ledger)
        #expect(data.count <= ReportLimits.mostStoredOctets)
        #expect(StoredLedger.read(data) == ledger)
    }

    @Test("A stored state that is too long, or no state, is nothing")
    func unreadable() {
        #expect(StoredLedger.read(Data(repeating: 0x20, count: ReportLimits.mostStoredOctets + 1)) == nil)
        #expect(StoredLedger.read(Data("[]".utf8)) == nil)
        #expect(StoredLedger.read(Data()) == nil)
    }

    @Test("A damaged state makes no report of another destination, stops nothing for longer than a day and never traps")
    func damaged() throws {
        let now: Int64 = 1_795_694_400
        var ledger = StoredLedger()
        for number in 0..<3 as Range<Int64> { ledger.append(report(now - number)) }
        let isNew = ledger.subjects.isNew(ReportSubject(host: "a", code: "b", documentVersion: "c"), at: now)
        #expect(isNew)
        var collector = CollectorState()
        var words = ConstantWords()
        collector.failed(at: now, pause: nil, using: &words)
        ledger.collectors[ReportScene.collector] = collector
        let octets = Array(ReportJSON.data(ledger))
        let settings = try ReportScene().configuration().ledgerSettings(spread: .zero)
        var generator = SplitMix64(seed: 29)
        let tokens = ["9223372036854775807", "-9223372036854775808", "1e400", "null", "\"https://evil.example/\""]
            .map { Array($0.utf8) }
        for _ in 0..<2_000 {
            let damaged = Data(generator.mutated(octets, tokens: tokens))
            guard let read = StoredLedger.read(damaged) else { continue }
            var ledger = ReportLedger(settings, stored: read, at: Date(wholeSeconds: now))
            #expect(ledger.state.pending.allSatisfy { $0.destination == ReportScene.collector })
            #expect(ledger.state.pendingOctets <= ReportLimits.mostPendingOctets)
            #expect((ledger.state.collectors[ReportScene.collector]?.retryAt ?? 0) <= now + 86_400)
            while case .send(let report) = ledger.step(at: Date(wholeSeconds: now), isHurried: true, using: &generator)
            {
                for shape in ReportShape.allCases { _ = report.body(as: shape, at: Date(wholeSeconds: now)) }
                ledger.finish(report, .failed(pause: nil), at: Date(wholeSeconds: now), using: &generator)
            }
        }
    }
}
