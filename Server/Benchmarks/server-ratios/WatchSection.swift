import Foundation
import Holdfast
import HoldfastProbe
import HoldfastTesting

@testable import HostMonitoring
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

/// The time of the watcher for hosts on loopback, compared to a loop of openssl that reads each one's certificate once.
struct WatchSection {
    private let settings: BenchmarkSettings
    private let folder: URL

    private static let domain = "bench.example"
    private static let hostsOfApp = 100

    init(_ settings: BenchmarkSettings, _ folder: URL) {
        self.settings = settings
        self.folder = folder
    }

    func measure(_ report: inout Report) async throws {
        report.section("Watched hosts on loopback, two handshakes with each, all written down")
        let (nginx, root, leaf) = try await Self.hosts(in: folder)
        defer { nginx.process.end() }
        var rounds: [(hosts: Int, elapsed: Double, processor: Double)] = []
        for hosts in [100, 1_000, 10_000] {
            rounds.append(try await round(hosts, nginx.port, root, leaf))
        }
        let loop = try await openSSL(1_000, nginx.port)
        report.compare(
            "1,000 hosts", Report.time(rounds[1].elapsed), beside: "openssl in a loop: \(Report.time(loop))",
            ratio: loop / rounds[1].elapsed, least: 20)
        for (hosts, elapsed, processor) in rounds {
            report.state(
                "each of \(hosts) hosts",
                "\(Report.time(elapsed / Double(hosts))), \(Report.time(processor / Double(hosts))) of processor time")
        }
        let each = rounds.map { $0.processor / Double($0.hosts) }
        report.compare(
            "processor time for each of 10,000 hosts", Report.time(each[2]),
            beside: "each of 100: \(Report.time(each[0]))", ratio: each[2] / each[0], most: 1.5)
    }

    /// Hosts on loopback, all at one port.
    static func hosts(
        in folder: URL
    ) async throws -> (nginx: Nginx, root: TestAuthority, leaf: TestCertificate) {
        let root = try TestAuthority.root(name: "Bench Root")
        let leaf = try root.leaf(names: [.dns("*.\(domain)")])
        try Data(root.certificate.pem.utf8).write(to: folder.appending(path: "root.pem"))
        try Data(leaf.chainPEM.utf8).write(to: folder.appending(path: "leaf.pem"))
        let key = Data(leaf.key.privateKeyDER).base64EncodedString(options: .lineLength64Characters)
        try Data("-----BEGIN PRIVATE KEY-----\n\(key)\n-----END PRIVATE KEY-----\n".utf8)
            .write(to: folder.appending(path: "leaf.key"))
        let nginx = try await Nginx.start(in: folder) { port in
            """
            listen 127.0.0.1:\(port) ssl backlog=4096; ssl_certificate \(folder.path)/leaf.pem;
            ssl_certificate_key \(folder.path)/leaf.key; ssl_session_tickets off; return 204;
            """
        }
        return (nginx, root, leaf)
    }

    /// Probes all hosts once, as `serve` does.
    private func round(
        _ hosts: Int, _ port: Int, _ root: TestAuthority, _ leaf: TestCertificate
    ) async throws -> (hosts: Int, elapsed: Double, processor: Double) {
        let clock = SystemWallClock()
        let place = folder.appending(path: "watched-\(hosts)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let shape = try Self.shape(hosts, port, root, leaf, clock)
        let filled = try await FilledServer(in: place, shape, clock: clock)
        let open = try await filled.folder.open(clock: clock)
        var settings = Watcher.Settings()
        settings.allowed = [try AddressBlock("127.0.0.0/8")]
        let watcher = Watcher(open.catalog, settings, logger: ListeningServer.quiet)
        let (begin, before) = (ContinuousClock.now, ProcessorTime.own)
        let known = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<settings.roundsAtOnce {
                group.addTask {
                    var generator = SystemRandomNumberGenerator()
                    var known = 0
                    while case let reports = try await watcher.round(using: &generator), !reports.isEmpty {
                        known += reports.count { $0.findings.map(\.verdict) == [.known] }
                    }
                    return known
                }
            }
            return try await group.reduce(0, +)
        }
        let spent = ((ContinuousClock.now - begin).seconds, ProcessorTime.own - before)
        await open.engine.close()
        guard known == hosts else { throw BenchmarkError("of \(hosts) hosts \(known) showed what was published") }
        return (hosts, spent.0, spent.1)
    }

    /// Apps with hosts, all of which present the published chain.
    static func shape(
        _ hosts: Int, _ port: Int, _ root: TestAuthority, _ leaf: TestCertificate, _ clock: SystemWallClock
    ) throws -> FilledServer.Shape {
        let end = Int64(clock.now.timeIntervalSince1970) + FilledServer.life
        let (fingerprint, anchor, domain) = (Digest(of: leaf.der), root.root, domain)
        @Sendable func names(_ app: Int) -> [String] {
            (0..<hostsOfApp).map { "h\(app)-\($0).\(domain)" }
        }
        return FilledServer.Shape(
            apps: max(1, hosts / hostsOfApp),
            hosts: { app in
                try names(app).map { name in
                    try ContentHost(
                        name: name, port: Int64(port),
                        certificates: [ContentHost.Certificate(fingerprint: fingerprint, expires: end)])
                }
            },
            watched: { app in
                try names(app).map { try CatalogHost(name: $0, port: Int64(port), dial: "127.0.0.1") }
            },
            anchors: [anchor])
    }

    private func openSSL(_ hosts: Int, _ port: Int) async throws -> Double {
        let begin = ContinuousClock.now
        _ = try await ForeignProgram.run(
            "bash",
            [
                "-c",
                """
                for ((number = 0; number < \(hosts); number++)); do
                    openssl s_client -connect 127.0.0.1:\(port) -servername "h$number.\(Self.domain)" -CAfile root.pem \
                -verify_return_error </dev/null 2>/dev/null |
                        openssl x509 -noout -subject -dates -fingerprint -sha256 >/dev/null 2>&1 || exit 1
                done
                """,
            ], in: folder)
        return (ContinuousClock.now - begin).seconds
    }
}
