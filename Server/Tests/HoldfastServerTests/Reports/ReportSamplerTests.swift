import Foundation
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PublicAPI
@testable import ServerFoundation
@testable import ServerStore

/// An attacker who wants people to see invented samples, and not what clients were shown.
@Suite("Samples of reports", .timeLimit(.minutes(5)))
struct ReportSamplerTests {
    private func subject(_ number: Int, on host: String = "a.b:443") throws -> ReportSample.Subject {
        ReportSample.Subject(
            app: try AppName("bank"), audience: .everybody, host: host, code: .pins,
            certificate: Digest(of: Array("\(number)".utf8)), day: 0)
    }

    @Test("A source that invents certificates gets four places of eight, and whoever comes later is seen")
    func oneSource() async throws {
        try await World.run { world in
            let desk = try await ReportDesk(world)
            let (hostile, other) = (try ReportDesk.source(1), try ReportDesk.source(2))
            let inventor = try TestAuthority.root()
            for _ in 0..<20 {
                try desk.count(
                    [ReportDesk.pinFailure(try inventor.leaf(names: [.dns(World.host)]).chain)], from: hostile)
            }
            let machine = try TestAuthority.root().leaf(names: [.dns(World.host)])
            try desk.count([ReportDesk.pinFailure(machine.chain)], from: other)
            let kept = try await desk.kept()
            #expect(kept.count == ReportSampler.maximumDraws + 1 && kept.contains(Digest(of: machine.der)))
            let strangers = try await desk.standing().strangers
            #expect(strangers.contains { $0.certificate == Digest(of: machine.der) })
        }
    }

    @Test("A source that invents certificates for every host leaves most places of the app to others")
    func manyHosts() throws {
        var (sampler, generator) = (ReportSampler(), SeededGenerator(seed: 3))
        var kept = 0
        for host in 0..<100 {
            for number in 0..<8 {
                let verdict = sampler.decide(try subject(number, on: "h\(host):443"), from: 1, using: &generator)
                if verdict == .kept { kept += 1 }
            }
        }
        #expect(kept == ReportSampler.maximumDrawsOfApp)
        #expect(sampler.decide(try subject(1, on: "h99:443"), from: 2, using: &generator) == .kept)
    }

    @Test("Of what sources report eight are kept, each with the same chance, whether it came first or last")
    func chances() throws {
        var generator = SeededGenerator(seed: 0x5EED)
        let rounds = 2_000
        let subjects = try (0..<16).map { try subject($0) }
        var wins: [ReportSample.Subject: Int] = [:]
        for _ in 0..<rounds {
            var (sampler, kept) = (ReportSampler(), Set<ReportSample.Subject>())
            for (source, subject) in subjects.enumerated() {
                switch sampler.decide(subject, from: UInt64(source), using: &generator) {
                case .left: continue
                case .kept: break
                case .keptFor(let old): kept.remove(old)
                }
                kept.insert(subject)
            }
            #expect(kept.count == ReportSampler.maximumOfHost)
            for subject in kept { wins[subject, default: 0] += 1 }
        }
        for subject in subjects { #expect(abs(wins[subject, default: 0] - rounds / 2) < rounds / 20) }
    }

    @Test("What many sources report is kept, although fewer invented two hundred certificates before")
    func many() throws {
        var (sampler, generator) = (ReportSampler(), SeededGenerator(seed: 11))
        for number in 0..<200 {
            _ = sampler.decide(try subject(number), from: UInt64(number / 4), using: &generator)
        }
        let machine = try subject(1_000)
        let verdicts = (0..<400).map { sampler.decide(machine, from: 1_000 + UInt64($0), using: &generator) }
        #expect(verdicts.count { $0 != .left } == 1, "once it is kept, it draws no more")
    }

    @Test("In an app that has no more places, a host gets one of another that has more")
    func fullest() throws {
        var (sampler, generator) = (ReportSampler(), SeededGenerator(seed: 5))
        var source: UInt64 = 0
        func decide(_ number: Int, _ host: Int) throws -> ReportSampler.Verdict {
            source += 1
            return sampler.decide(try subject(number, on: "h\(host):443"), from: source, using: &generator)
        }
        for host in 0..<8 {
            for number in 0..<8 { #expect(try decide(number, host) == .kept) }
        }
        for number in 0..<7 {
            guard case .keptFor(let old) = try decide(number, 8) else {
                Issue.record("\(number) is not kept")
                continue
            }
            #expect(old.host != "h8:443")
        }
    }

    @Test("What lost its place is removed where it was written, also if that could not be for a while")
    func rows() async throws {
        try await World.run { world in
            let desk = try await ReportDesk(world, generator: SeededGenerator(seed: 9))
            var (mirror, generator, expected) = (ReportSampler(), SeededGenerator(seed: 9), Set<Digest>())
            let root = try TestAuthority.root()
            func run(_ query: Query) async throws {
                _ = try await world.engine.write { session throws(ServerError) in try session.run(query) }
            }
            for number in 0..<40 {
                if number == 20 { try await run("ALTER TABLE report_count RENAME TO elsewhere") }
                if number == 30 { try await run("ALTER TABLE elsewhere RENAME TO report_count") }
                let leaf = try root.leaf(names: [.dns(World.host)])
                try desk.count([ReportDesk.pinFailure(leaf.chain)], from: try ReportDesk.source(number))
                let subject = ReportSample.Subject(
                    app: world.app, audience: .everybody, host: "\(World.host):443", code: .pins,
                    certificate: Digest(of: leaf.der), day: world.now / 86_400)
                switch mirror.decide(subject, from: UInt64(number), using: &generator) {
                case .left: break
                case .kept: expected.insert(subject.certificate)
                case .keptFor(let old):
                    expected.remove(old.certificate)
                    expected.insert(subject.certificate)
                }
                if (20..<30).contains(number) {
                    await expectError(.database) { try await desk.counting.write() }
                } else {
                    #expect(try await desk.kept() == expected, "after \(number)")
                }
            }
            #expect(expected.count == ReportSampler.maximumOfHost)
        }
    }

    @Test("A restart gives nobody a place that is taken")
    func restart() throws {
        var (sampler, generator) = (ReportSampler(), SeededGenerator(seed: 13))
        for number in 0..<8 { sampler.remember(try subject(number)) }
        #expect(sampler.decide(try subject(3), from: 1, using: &generator) == .left, "it is kept already")
        for number in 8..<50 {
            #expect(sampler.decide(try subject(number), from: UInt64(number), using: &generator) != .kept)
        }
    }
}
