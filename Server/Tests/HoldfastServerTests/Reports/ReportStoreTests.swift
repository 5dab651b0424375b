import Foundation
import HoldfastProbe
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PublicAPI
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore

@Suite("Counts of reports")
struct ReportStoreTests {
    @Test("No app takes reports before somebody switches that on, and the audit says who did")
    func switching() async throws {
        try await World.run { world in
            #expect(try await !world.catalog.reportSettings(of: world.app).isEnabled)
            #expect(try await world.catalog.reportHosts(remembering: [:]).apps.isEmpty)
            let desk = try await ReportDesk(world)
            #expect(try await world.catalog.reportSettings(of: world.app).isEnabled)
            let last = try #require(try await world.catalog.audit(after: -1, limit: 10_000).last)
            let entry = try AuditEntry(last)
            #expect(entry.actor == "operator" && entry.facts["name"] == "reports")
            try await world.catalog.set(ReportSettings(isEnabled: false), of: world.app, by: "operator")
            try await desk.refresh()
            try desk.count([ReportDesk.networkError()])
            #expect(try await desk.rows().isEmpty)
            await expectError(.notFound) {
                try await world.catalog.set(ReportSettings(isEnabled: true), of: AppName("shop"), by: "operator")
            }
        }
    }

    @Test("Whoever writes to the table switches nothing on")
    func tampering() async throws {
        try await World.run { world in
            _ = try await ReportDesk(world)
            try await world.catalog.set(ReportSettings(isEnabled: false), of: world.app, by: "operator")
            _ = try await world.engine.write { session throws(ServerError) in
                try session.run(
                    "UPDATE report_setting SET octets = $1", [.bytes(ReportSettings(isEnabled: true).bytes)])
            }
            await expectError(.brokenChain) { try await world.catalog.reportHosts(remembering: [:]) }
        }
    }

    @Test("Counts are added up by hour, host, code, platform, version of the app and of the document")
    func counts() async throws {
        try await World.run { world in
            let desk = try await ReportDesk(world)
            let chain = world.shown.chain
            try desk.count(Array(repeating: ReportDesk.networkError("ok", fraction: "0.001"), count: 3))
            try desk.count([ReportDesk.pinFailure(chain, result: 1, version: "7")], of: "bank-canary")
            #expect(try await desk.rows().count == 2)
            // The same again is added, and the next hour has rows of its own.
            try desk.count([ReportDesk.networkError("ok", fraction: "0.5")])
            world.clock.advance(by: .seconds(3_600))
            try desk.count([ReportDesk.networkError("ok")])
            let rows = try await desk.rows()
            let hour = Story.now / 3_600
            func row(_ kind: ReportCount.Kind, _ hour: Int64, _ sums: ReportCount.Sums) -> ReportCount {
                ReportCount(
                    key: ReportCount.Key(app: world.app, hour: hour, host: "\(World.host):443", kind: kind), sums: sums)
            }
            let ok = ReportCount.Kind(.everybody, .ok, .unknown, "-", "-")
            #expect(
                Set(rows) == [
                    row(ok, hour, ReportCount.Sums(count: 4, rated: 4, scaled: 3_002, squares: 3_000_004)),
                    row(ok, hour + 1, ReportCount.Sums(count: 1, rated: 1, scaled: 1, squares: 1)),
                    // Without a canary nothing votes about it.
                    row(
                        ReportCount.Kind(.canary, .pins, .iOS, "7.4.1", "7"), hour,
                        ReportCount.Sums(count: 1, rated: 0, scaled: 1, squares: 1)),
                ])
        }
    }

    @Test("After thirty days nothing of a report is left")
    func pruning() async throws {
        try await World.run { world in
            let desk = try await ReportDesk(world)
            try desk.count([ReportDesk.pinFailure(world.announced.chain, result: 1)])
            #expect(try await desk.rows().count == 1)
            func samples() async throws -> Int {
                try await world.catalog.reportSamples(of: world.app, since: 0, limit: 1_000).count
            }
            world.clock.advance(by: .seconds(30 * 86_400 - 3_600))
            try await world.catalog.pruneReports(at: world.now)
            #expect(try await desk.rows().count == 1)
            #expect(try await samples() == 1)
            world.clock.advance(by: .seconds(2 * 3_600))
            try await world.catalog.pruneReports(at: world.now)
            #expect(try await desk.rows().isEmpty)
            #expect(try await samples() == 0)
        }
    }

    @Test("What is stored has no address, no path and no id of a client, in any table")
    func privacy() async throws {
        try await World.run { world in
            let desk = try await ReportDesk(world)
            try desk.count([
                ReportDesk.networkError(), ReportDesk.pinFailure(world.announced.chain, result: 1, version: "7"),
            ])
            _ = try await desk.rows()
            await world.engine.close()
            var bytes = Data()
            for suffix in ["", "-wal"] {
                bytes += (try? Data(contentsOf: world.folder.appending(path: "server.db\(suffix)"))) ?? Data()
            }
            #expect(bytes.firstRange(of: Data("served-certificate-chain".utf8)) != nil, "the sample is there")
            let client = ["203.0.113.7", "/path", "Browser/1.0", "599F9C00", "com.example.bank", "www.example.com"]
            for secret in client {
                #expect(bytes.firstRange(of: Data(secret.utf8)) == nil, "\(secret)")
            }
        }
    }

    /// Everything in a folder.
    private func files(in folder: URL) -> [(path: String, bytes: Data)] {
        var files: [(path: String, bytes: Data)] = []
        let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        while let file = found?.nextObject() as? URL {
            if let bytes = try? Data(contentsOf: file) { files.append((file.path, bytes)) }
        }
        return files
    }

    @Test("The address that sent a report is in no table and no file of the server")
    func sources() async throws {
        try await World.run { world in
            let desk = try await ReportDesk(world)
            let settings = try ListenerSettings(port: 0, proxies: TrustedProxies([AddressBlock("127.0.0.0/8")]))
            try await ServingSite().listening(settings, reports: desk.inbox) { port in
                let body = ReportDesk.pinFailure(world.announced.chain, result: 1)
                let head = [
                    "POST /reports?appName=bank HTTP/1.1", "Host: pins.example.net", "X-Forwarded-For: 203.0.113.77",
                    "Content-Type: application/json", "Content-Length: \(body.utf8.count)", "Connection: close",
                ]
                let answer = try await RawClient(port: port).exchange(
                    head.map { $0 + "\r\n" }.joined() + "\r\n" + body)
                #expect(RawAnswer(answer).status == 202)
            }
            #expect(desk.counting.countNext())
            #expect(try await desk.rows().count == 1)
            await world.engine.close()
            let files = files(in: world.folder)
            #expect(files.contains { $0.bytes.firstRange(of: Data("served-certificate-chain".utf8)) != nil })
            for (path, bytes) in files { #expect(bytes.firstRange(of: Data("203.0.113".utf8)) == nil, "\(path)") }
        }
    }

    @Test("Counts that cannot be written are kept, and written once")
    func unwritable() async throws {
        try await World.run { world in
            let desk = try await ReportDesk(world)
            try desk.count([ReportDesk.networkError(), ReportDesk.pinFailure(world.announced.chain)])
            _ = try await world.engine.write { session throws(ServerError) in
                try session.run("ALTER TABLE report_sample RENAME TO elsewhere")
            }
            await expectError(.database) { try await desk.counting.write() }
            #expect(desk.counting.waiting.rows == 1 && desk.counting.waiting.samples == 1)
            _ = try await world.engine.write { session throws(ServerError) in
                try session.run("ALTER TABLE elsewhere RENAME TO report_sample")
            }
            #expect(try await desk.rows().map(\.sums.count) == [2])
            #expect(desk.counting.waiting.rows == 0 && desk.counting.waiting.samples == 0)
        }
    }

    @Test("A certificate that clients report and the watcher never saw is shown as one, and whose key it has")
    func strangers() async throws {
        try await World.run { world in
            let desk = try await ReportDesk(world)
            let machine = try TestAuthority.root().leaf(names: [.dns(World.host)])
            try desk.count([
                ReportDesk.pinFailure(world.shown.chain), ReportDesk.pinFailure(world.announced.chain),
                ReportDesk.pinFailure(machine.chain, result: 2),
            ])
            let standing = try await desk.standing()
            #expect(standing.strangers.map(\.certificate) == [Digest(of: machine.der)])
            let words = try #require(standing.warnings.first)
            #expect(words.contains("\(Digest(of: machine.der))") && words.contains("a machine in the middle"))
            #expect(standing.strangers.first?.hasKnownKey == false)
            // Once the watcher has seen it, it is the watcher's business.
            try await world.see(machine)
            #expect(try await desk.standing().strangers.isEmpty)
            #expect(try await desk.standing().lines.first?.contains("100.0 %") == true)
        }
    }

    @Test("A certificate with the host's own key is of a server that nobody listed; one with a key of an alarm is not")
    func knownKeys() async throws {
        try await World.run { world in
            let desk = try await ReportDesk(world)
            let machine = try TestAuthority.root().leaf(names: [.dns(World.host)])
            let other = try CatalogHost(name: "other.example.com")
            try await world.catalog.set(other, of: world.app, by: "operator")
            let elsewhere = try world.root.leaf(names: [.dns("other.example.com")])
            try await world.see(elsewhere, on: other)
            // The watcher met the machine as well, and told people.
            try await world.see(machine)
            try await world.catalog.alarm(
                about: Digest(of: try machine.subjectPublicKeyInfo), on: world.catalogHost, of: world.app, words: "new")
            for (certificate, isKnown) in [
                (world.shown, true), (world.announced, true), (machine, false), (elsewhere, false),
            ] {
                let again = try world.root.leaf(names: [.dns(World.host)], key: .existing(certificate.key))
                try desk.count([ReportDesk.pinFailure(again.chain)])
                let strangers = try await desk.standing().strangers
                let stranger = try #require(strangers.first { $0.certificate == Digest(of: again.der) })
                #expect(stranger.hasKnownKey == isKnown)
                #expect(stranger.words.contains("a machine in the middle") != isKnown, "\(stranger.words)")
            }
        }
    }

    @Test("An app has at most 256 samples, the newest")
    func manySamples() async throws {
        try await World.run { world in
            _ = try await ReportDesk(world)
            let report = try #require(
                try ReportReader.read(Array(ReportDesk.pinFailure(world.announced.chain).utf8)).first)
            let samples = (0..<300 as Range<Int64>).compactMap {
                ReportSample(report, of: world.app, .everybody, on: "\(World.host):443", at: world.now + $0)
            }
            try await world.catalog.add(ReportTally.Waiting(counts: [], samples: samples, replaced: []))
            let kept = try await world.catalog.reportSamples(of: world.app, since: 0, limit: 1_000)
            #expect(kept.map(\.received) == (44..<300 as Range<Int64>).reversed().map { world.now + $0 })
        }
    }

    @Test("Enough failures are said aloud with the version of the document, and change nothing else")
    func warnings() async throws {
        try await World.run { world in
            let desk = try await ReportDesk(world)
            let before = world.catalog.ledger.chain.head
            try desk.count((0..<300).map { _ in ReportDesk.networkError("ok", more: #", "document-version": 6"#) })
            try desk.count((0..<299).map { _ in ReportDesk.networkError(more: #", "document-version": 7"#) })
            let standing = try await desk.standing()
            #expect(
                standing.warnings == [
                    "100.0 % of the reported connections to \(World.host):443 with document 7 failed (299 reports)"
                ])
            #expect(standing.lines.count == 2 && standing.lines[0].hasPrefix("WARNING, as far as"))
            #expect(world.catalog.ledger.chain.head == before, "hearsay is not in the audit")
        }
    }

    @Test("A failure that is told singly is counted and in no ratio, and the summary of its day is in one")
    func summaries() async throws {
        try await World.run { world in
            let desk = try await ReportDesk(world)
            let more = #", "failure": "pinMismatch", "outcome": "rejected""#
            try desk.count((0..<300).map { _ in ReportDesk.pinFailure(world.shown.chain, version: "7", more: more) })
            let single = try #require(try await desk.standing().ratios.first)
            #expect(single.reports == 0 && single.singleFailures == 300 && !single.isAlarming)
            try desk.count((0..<200).map { _ in ReportDesk.summary(successes: 1, failures: ["pinMismatch": 25]) })
            let summed = try #require(try await desk.standing().ratios.first)
            #expect(summed.reports == 400 && summed.failures == 5_000 && summed.scaled == 25_000)
            #expect(try await desk.standing().warnings.first?.contains("20.0 % of the reported connections") == true)
        }
    }

    @Test("Hosts are told apart by name, pattern and port, and clients that say no port are counted")
    func hosts() throws {
        let hosts = ReportHosts([("a.b", 443), ("a.b", 8_443), ("*.c.d", 443), ("a.b", 443)])
        func label(_ host: String, _ port: Int64?, noted: String? = nil) -> String? {
            hosts.label(
                of: ClientReport(
                    code: .ok, host: host, notedHost: noted, port: port, platform: .unknown, appVersion: "-",
                    documentVersion: "-", weight: 1, isRated: true, chain: nil, pins: []))
        }
        #expect(label("a.b", 443) == "a.b:443" && label("a.b", 8_443) == "a.b:8443" && label("a.b", 0) == "a.b:443")
        #expect(label("x.c.d", 443) == "*.c.d:443" && label("*.c.d", nil) == "*.c.d:443")
        #expect(label("c.d", nil, noted: "c.d") == "*.c.d:443")
        #expect(label("a.b", 444) == nil && label("x.y.c.d", 443) == nil && label("evil.example", 443) == nil)
    }
}
