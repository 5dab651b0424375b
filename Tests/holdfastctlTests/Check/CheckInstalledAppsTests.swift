import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

/// `check --pins FILE` says what installed apps do, and `--watch --quiet` stops a release whose pins end soon.
@Suite("holdfastctl check --pins, for installed apps", .timeLimit(.minutes(15)))
struct CheckInstalledAppsTests {
    private struct Line: Decodable {
        struct Renewal: Decodable {
            let getsIn: Bool
            let until: String?
            let cause: String?
        }
        let host: String
        let renewal: Renewal?
        let coveredReports: [String]?
    }

    @Test("Without more options it says that installed apps can connect, until when, and what a renewal changes")
    func access() async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("leaf.pem") { $0.notAfter = .days(30) }
            try await withLoopbackTLSServer(serving: leaf) { server in
                let host = try HostPattern(SigningSite.name)
                let own = [try PinFile.Host(host, pins: [SigningSite.pin(leaf.der)])]
                let run = try await site.check(server, own, notAfter: 300)
                let end = try #require(leaf.notAfter).addingTimeInterval(1).formatted(.iso8601)
                #expect(run.status == 0, "\(run.output)\(run.errors)")
                #expect(run.output.contains("Installed apps can connect: until \(end), if nothing changes."))
                // The pins end later than the certificate, which is renewed.
                let later = SigningSite.date(days: 300)
                let renewed = try #require(
                    run.output.firstMatch(of: /renewed with the same key, they can connect until (\S+)\./))
                let until = try Date(String(renewed.1), strategy: .iso8601)
                #expect(abs(until.timeIntervalSince(later)) < 120, "\(run.output)")
                let json = try await site.check(server, own, notAfter: 300, "--json").json(Line.self)
                #expect(json.renewal?.getsIn == true && json.renewal?.cause != nil)
                let same = try Date(#require(json.renewal?.until), strategy: .iso8601)
                #expect(abs(same.timeIntervalSince(until)) < 120)
                // Pins without an end.
                let endless = try await site.check(server, own)
                #expect(endless.output.contains("renewed with the same key, they can connect. With another key"))
                // Only the issuer's key is pinned.
                let issuer = try PinFile.Host(host, pins: [SigningSite.pin(site.issuing.certificate.der, .issuer)])
                let above = try await site.check(server, [issuer], notAfter: 300)
                #expect(above.status == 0 && above.output.contains("Installed apps can connect: until \(end)"))
                #expect(above.output.contains("depend on which issuer signs it"), "\(above.output)")
                #expect(try await site.check(server, [issuer], "--json").json(Line.self).renewal?.getsIn == false)
                // The wrong key.
                let wrong = [try PinFile.Host(host, pins: [SigningSite.pin(site.leaf("other.pem").der)])]
                let out = try await site.check(server, wrong)
                #expect(out.status == 1 && !out.output.contains("can connect"), "\(out.output)")
            }
        }
    }

    @Test("For several hosts it says so for all of them together, with the first end")
    func several() async throws {
        try await SigningSite.with { site in
            let names = ["www.example.com", "api.example.com"]
            let leaf = try site.leaf("leaf.pem", names.map { .dns($0) }) { $0.notAfter = .days(60) }
            try await withLoopbackTLSServer(serving: leaf) { server in
                let hosts = try zip(names, [20.0, 40]).map { name, days in
                    try PinFile.Host(HostPattern(name), pins: [SigningSite.pin(leaf.der, days: days)])
                }
                let run = try await site.check(server, hosts)
                let first = SigningSite.date(days: 20)
                let said = try #require(run.output.firstMatch(of: /Installed apps can connect: until (\S+), if/))
                #expect(abs(try Date(String(said.1), strategy: .iso8601).timeIntervalSince(first)) < 120)
                #expect(run.status == 0 && run.output.contains("renewed with the same keys, they can connect until"))
                let issuer = try PinFile.Host(
                    HostPattern(names[1]), pins: [SigningSite.pin(site.issuing.certificate.der, .issuer)])
                let mixed = try await site.check(server, [hosts[0], issuer])
                #expect(mixed.output.contains("may be locked out of api.example.com:443: ask gate"), "\(mixed.output)")
            }
        }
    }

    @Test("--watch 60d --quiet counts pins and documents, and a certificate only if its key is not pinned")
    func buildPhase() async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("leaf.pem") { $0.notAfter = .days(30) }
            try await withLoopbackTLSServer(serving: leaf) { server in
                func status(_ pins: [PinFile.KeyPin], notAfter days: Double? = nil) async throws -> Int32 {
                    let host = try PinFile.Host(HostPattern(SigningSite.name), pins: pins)
                    let run = try await site.check(
                        server, [host], notAfter: days, "--quiet", "--watch", "60d")
                    #expect(run.output.isEmpty == (run.status == 0), "\(run.output)\(run.errors)")
                    return run.status
                }
                let (own, short) = (try SigningSite.pin(leaf.der), try SigningSite.pin(leaf.der, days: 50))
                let issuer = try SigningSite.pin(site.issuing.certificate.der, .issuer)
                let other = try SigningSite.pin(site.leaf("other.pem").der)
                // The certificate ends in 30 days, and is renewed with the key that is pinned.
                for (pin, days, expected) in [
                    (own, nil, 0), (own, 90, 0), (own, 50, 4), (short, 90, 4),
                    // Only an issuer's key is pinned, so that the next certificate may be by another.
                    (issuer, nil, 4), (other, nil, 1),
                ] as [(PinFile.KeyPin, Double?, Int32)] {
                    let found = try await status([pin], notAfter: days)
                    #expect(found == expected, "\(pin) \(String(describing: days))")
                }
            }
        }
    }

    // MARK: Reports

    @Test("check names a host that reports to a host of the same file in text, JSON and metrics")
    func coveredReports() async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("leaf.pem")
            try await withLoopbackTLSServer(serving: leaf) { server in
                func hosts(_ url: String) throws -> [PinFile.Host] {
                    [
                        try PinFile.Host(
                            HostPattern(SigningSite.name), pins: [SigningSite.pin(leaf.der)],
                            report: PinFile.Report(url: url))
                    ]
                }
                let covered = try hosts("https://\(SigningSite.name)/reports")
                let words = "app.pins.json: www.example.com: it reports to www.example.com:443, which the pins of"
                let text = try await site.check(server, covered)
                #expect(text.status == 0 && text.output.contains("Warning: \(words)"), "\(text.output)")
                let brief = try await site.check(server, covered, "--brief")
                #expect(brief.status == 0 && brief.errors.contains(words), "\(brief.output)\(brief.errors)")
                let line = try await site.check(server, covered, "--json").json(Line.self)
                #expect(line.coveredReports?.count == 1 && line.coveredReports?.first?.contains(words) == true)
                let metrics = try await site.check(server, covered, "--format", "prometheus")
                #expect(
                    metrics.output.contains(
                        "holdfast_covered_reports{verb=\"check\",subject=\"www.example.com:443\"} 1"))
                for verb in [["show", "app.pins.json"], ["export", "app.pins.json", "--format", "trustkit"]] {
                    let run = try await site.run(verb + (verb[0] == "export" ? ["--force", "offline"] : []))
                    #expect((run.output + run.errors).contains("it reports to www.example.com"), "\(run.output)")
                }
                let apart = try hosts("https://reports.example.net/")
                let good = try await site.check(server, apart)
                #expect(good.status == 0 && !good.output.contains("it reports to"))
                #expect(try await site.check(server, apart, "--json").json(Line.self).coveredReports == nil)
                let zero = try await site.check(server, apart, "--format", "prometheus")
                #expect(
                    zero.output.contains("holdfast_covered_reports{verb=\"check\",subject=\"www.example.com:443\"} 0"))
            }
        }
    }
}
