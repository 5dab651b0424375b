import Foundation
import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastReports
import HoldfastReportsAsyncHTTPClient
import HoldfastTesting
import NIOCore
import NIOPosix
import Testing

@testable import HoldfastServer
@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore

/// Everything for real: the TLS of clients and of a machine in their way, reporters and their senders, the listener, the
/// queue, the rows, and what people see.
@Suite("Clients that a machine in the middle meets", .timeLimit(.minutes(5)))
struct RefusedClientTests {
    /// A server, and a machine between it and its clients.
    private struct Scene {
        let site: ServeSite
        /// An authority that devices trust, as in a company that inspects TLS.
        let company: TestAuthority
        let anchors: TrustAnchors
        let inbox = ReportInbox()
        let service: ReportService

        init(_ site: ServeSite) throws {
            self.site = site
            company = try TestAuthority.root(name: "Company Inspection")
            anchors = try TrustAnchors(der: [site.root.root, company.root])
            service = ReportService(site.open.catalog, inbox, logger: AdministrationSite.quiet)
        }

        /// The identity for TLS where reports go.
        func identity() throws -> TLSIdentity {
            let leaf = try site.root.leaf(names: [.dns("localhost")])
            let (chain, key) = (site.folder.appending(path: "chain.pem"), site.folder.appending(path: "key.pem"))
            try Data(leaf.chainPEM.utf8).write(to: chain)
            try Data(leaf.key.privateKeyPEM.utf8).write(to: key)
            return try TLSIdentity(certificates: chain, key: key)
        }

        /// The pin file in an app: the key that the server presents, and the one that comes next.
        func pinFile(_ collector: URL) throws -> PinFile {
            let pins = try [(site.shown, "active"), (site.announced, "backup")].map { certificate, state in
                let pin = try Pin.publicKey(of: certificate.der)
                return #"{"pin": "\#(pin)", "role": "leaf", "state": "\#(state)"}"#
            }
            let text = """
                {"schema": 1, "app": "com.example.bank", "issuedAt": "2026-11-21T12:00:00Z", "hosts": [{"host": \
                "\(World.host)", "pins": [\(pins.joined(separator: ", "))], "report": {"url": \
                "\(collector.absoluteString)", "failureFraction": 1, "successFraction": 1}}]}
                """
            return try PinFile(json: Data(text.utf8))
        }

        /// An installation of the app, which observes the manager of its own.
        func reporter(of manager: TrustManager, _ collector: URL, clock: ManualClock) throws -> TrustReporter {
            var configuration = ReportConfiguration(
                destinations: [collector], application: "com.example.bank", version: "5.1")
            configuration.includesChains = true
            configuration.sender = AsyncHTTPClientReportSender(
                validator: PathValidator(anchors: try TrustAnchors(der: [site.root.root])))
            configuration.store = InMemoryDataStore()
            configuration.clock = clock
            let reporter = try TrustReporter(configuration)
            try reporter.observe(manager)
            return reporter
        }

        /// Connects as an app does.
        func connect(_ manager: TrustManager, to port: Int) async throws {
            let client = try PinnedTLSClient(
                trust: .manager(manager), host: DialedHost(World.host, port: 443),
                validator: PathValidator(anchors: anchors))
            try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(to: client, at: SocketAddress(ipAddress: "127.0.0.1", port: port)) { $0.close(promise: nil) }
        }

        /// Some installations observe two connections, one that is let in and one to a machine in the middle, report the
        /// latter, and sum up the day after it.
        func report(from installations: Int, meeting middle: TestCertificate, to port: Int) async throws {
            let collector = try #require(URL(string: "https://localhost:\(port)/reports?appName=bank"))
            let manager = TrustManager(try pinFile(collector))
            let clock = ManualClock(now: SystemWallClock().now)
            let reporters = try (0..<installations).map { _ in try reporter(of: manager, collector, clock: clock) }
            try await withLoopbackTLSServer(serving: site.shown) { server in
                try await connect(manager, to: server.port)
            }
            try await withLoopbackTLSServer(serving: middle) { server in
                let failure = await #expect(throws: TrustFailure.self) {
                    try await connect(manager, to: server.port)
                }
                #expect(failure?.code == .pinMismatch && server.statistics.plaintextBytesReceived == 0)
            }
            clock.advance(by: .seconds(86_400))
            for begin in stride(from: 0, to: installations, by: 10) {
                await withTaskGroup(of: Void.self) { group in
                    for reporter in reporters[begin...].prefix(10) { group.addTask { await reporter.send() } }
                }
            }
            #expect(reporters.compactMap(\.lastError).map { "\($0)" } == [])
            try await took(2 * installations)
        }

        /// Waits until so many bodies were taken.
        func took(_ count: Int) async throws {
            try await eventually("\(count) bodies are taken") { inbox.intake.count >= count }
            #expect(inbox.intake.count == count)
        }
    }

    @Test("Ten installations meet it: the alarm, status, the metrics and its chain beside the pins tell people")
    func inspected() async throws {
        let installations = 10
        try await ServeSite.run { site in
            let scene = try Scene(site)
            let before = try await ServerProgram.run(["status", "--data", site.data], in: site.folder)
            try await site.open.catalog.set(ReportSettings(isEnabled: true), of: site.app, by: "test")
            let audit = site.open.catalog.ledger.chain.head
            var (state, now) = (scene.service.begin(at: .now), ContinuousClock.now)
            await scene.service.step(&state, now)
            let settings = try ListenerSettings(port: 0, identity: scene.identity())
            let middle = try scene.company.leaf(names: [.dns(World.host)])
            try await ServingSite().listening(settings, reports: scene.inbox) { port in
                try await scene.report(from: installations, meeting: middle, to: port)
            }
            scene.service.readWaiting()
            now += .seconds(15)
            await scene.service.step(&state, now)
            #expect(scene.inbox.counters.count(of: .counted) == 3 * installations)
            #expect(site.open.catalog.ledger.chain.head == audit, "hearsay is not in the audit")

            let host = "\(World.host):443"
            let ratio =
                "50.0 % of the reported connections to \(host) with document 20261121T120000Z failed (20 reports, and "
                + "10 individually reported failures)"
            let certificate = Digest(of: middle.der)
            let stranger = "clients report the certificate \(certificate) at \(host), which the watcher never saw"
            let standing = try await site.open.catalog.reportStanding(of: site.app)
            #expect(standing.warnings == ["\(stranger): a machine in the middle, or an unlisted server"])
            let status = try await ServerProgram.run(["status", "--data", site.data], in: site.folder)
            for words in [ratio, "WARNING, as far as reports can be believed: \(stranger)"] {
                #expect(status.output.contains(words), "\(words) is not in \(status.output)")
            }
            #expect(status.status == before.status, "hearsay makes nothing red: \(status.output)")
            let json = try await ForeignProgram.run(
                ServerProgram.url, ["status", "--json", "--data", site.data], in: site.folder, withErrors: false)
            let object = try #require(try JSONSerialization.jsonObject(with: json.output) as? [String: Any])
            let reports = try #require((object["apps"] as? [[String: Any]])?.first?["reports"] as? [String: Any])
            #expect(reports["warnings"] as? [String] == standing.warnings)
            try await show(scene, middle)
        }
    }

    @Test(
        "Connections that fail for a hundred installations raise the alarm, in status and notices, and turn nothing red"
    )
    func failing() async throws {
        let installations = 101
        try await ServeSite.run { site in
            let scene = try Scene(site)
            let before = try await ServerProgram.run(["status", "--data", site.data], in: site.folder)
            try await site.open.catalog.set(ReportSettings(isEnabled: true), of: site.app, by: "test")
            var (state, now) = (scene.service.begin(at: .now), ContinuousClock.now)
            await scene.service.step(&state, now)
            var settings = try ListenerSettings(port: 0, identity: scene.identity())
            // All of them come from one address here.
            settings.limits.handshakesAtOnce = 8 * installations
            let middle = try scene.company.leaf(names: [.dns(World.host)])
            try await ServingSite().listening(settings, reports: scene.inbox) { port in
                try await scene.report(from: installations, meeting: middle, to: port)
            }
            scene.service.readWaiting()
            now += .seconds(15)
            await scene.service.step(&state, now)
            let host = "\(World.host):443"
            let words =
                "50.0 % of the reported connections to \(host) with document 20261121T120000Z failed "
                + "(\(2 * installations) reports, and \(installations) individually reported failures)"
            let standing = try await site.open.catalog.reportStanding(of: site.app)
            #expect(standing.ratios.map(\.isAlarming) == [true], "\(standing)")
            #expect(standing.warnings.first == words, "\(standing.warnings)")
            let alarms = try await site.open.catalog.reportAlarms()
            #expect(alarms.contains(ReportAlarm(app: site.app, subject: .failures(host: host))), "\(alarms)")
            let status = try await ServerProgram.run(["status", "--data", site.data], in: site.folder)
            #expect(
                status.output.contains("WARNING, as far as reports can be believed: \(words)"), "\(status.output)")
            #expect(status.status == before.status, "hearsay makes nothing red: \(status.output)")
        }
    }

    /// Checks that a tool and a person find the report.
    private func show(_ scene: Scene, _ middle: TestCertificate) async throws {
        let site = scene.site
        var generator = SystemRandomNumberGenerator()
        let token = try await site.open.catalog.add(
            TokenGrant(name: "look", app: site.app, scope: .read, end: site.now + 3_600), by: "test",
            using: &generator)
        let sample = site.folder.appending(path: "sample.json")
        try await AdministrationSite.listening(for: site.open.publisher, reports: scene.inbox) { port in
            let metrics = try await RawClient(port: port).get("/metrics").body
            let place =
                #"app="bank",audience="everybody",host="\#(World.host):443",document="20261121T120000Z""#
            for line in [
                #"holdfast_reported_failure_ratio{\#(place)} 0.5"#, #"holdfast_reported{\#(place)} 20"#,
                #"holdfast_reported_strangers{app="bank"} 1"#, #"holdfast_reports_total{outcome="counted"} 30"#,
            ] {
                #expect(metrics.contains(line + "\n"), "\(line) is not in \(metrics)")
            }
            let answer = try await RawClient(port: port).get(
                "/v1/apps/bank/reports", ["Authorization: Bearer \(token.secretText)"])
            let samples = try #require(answer.json["samples"] as? [[String: Any]], "\(answer.text)")
            #expect(samples.map { $0["certificate"] as? String } == ["\(Digest(of: middle.der))"])
        }
        let kept = try await ForeignProgram.run(
            ServerProgram.url,
            ["app", "reports", "bank", "--sample", "\(Digest(of: middle.der))", "--data", site.data],
            in: site.folder, withErrors: false)
        #expect(kept.status == 0)
        try kept.output.write(to: sample)
        let unknown = try await ServerProgram.run(
            ["app", "reports", "bank", "--sample", "\(Digest(of: site.shown.der))", "--data", site.data],
            in: site.folder)
        #expect(unknown.status != 0 && unknown.output.contains("a sample of bank"), "\(unknown.output)")
        guard Need.holdfastctl.runsPart() else { return }
        let shown = try await ForeignProgram.run(
            ManualDesk.holdfastctl, ["show", "--report", "sample.json", "--json"], in: site.folder, withErrors: false)
        #expect(shown.status == 0)
        let object = try #require(try JSONSerialization.jsonObject(with: shown.output) as? [String: Any])
        let items = try #require(object["items"] as? [[String: Any]])
        func values(_ item: [String: Any], _ name: String) -> [String] {
            (item["facts"] as? [[String: String]] ?? []).filter { $0["name"] == name }.compactMap { $0["value"] }
        }
        let pins = try [site.shown, site.announced].map { try Pin.publicKey(of: $0.der) }
        #expect(items.count == 1 + middle.chain.count)
        #expect(
            values(items[0], "pin") == [
                "\(pins[0]), leaf, active, of no certificate here", "\(pins[1]), leaf, backup, of no certificate here",
            ])
        for (item, der) in zip(items.dropFirst(), middle.chain) {
            let (certificate, pin) = (item["certificate"] as? [String: Any], try Pin.publicKey(of: der))
            #expect(certificate?["keyPin"] as? String == "\(pin)")
            #expect(values(item, "pinned") == ["NO"])
        }
    }
}
