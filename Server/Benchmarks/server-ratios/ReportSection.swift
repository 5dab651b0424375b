import Foundation
import Holdfast
import HoldfastSigning
import NIOCore

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// The number of clients' reports that one core reads and counts, and the effect of ten times as many on requests for
/// documents and challenge answers.
struct ReportSection {
    private let settings: BenchmarkSettings
    private let folder: URL

    private static let challenge = ["X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw=="]
    private static let host = "api.example.com"
    /// Minimum number of reports that the server must read on one core.
    private static let leastCapacity = 2_000.0
    /// Maximum slowdown of the other requests.
    private static let maximumSlower = 1.5
    /// The flood, as a multiple of C.
    private static let leastOffered = 10.0
    /// The number of measurements of both, one after the other. An odd number has a middle one, which other work of the
    /// machine hardly disturbs.
    private static let pairs = 5
    /// Maximum growth of memory from the first minute to the second.
    private static let maximumGrowth = 1.05

    init(_ settings: BenchmarkSettings, _ folder: URL) {
        self.settings = settings
        self.folder = folder
    }

    func measure(_ report: inout Report) async throws {
        report.section("Reports of clients")
        let body = Array(try Self.body().utf8)
        let cost = try cost(of: body)
        let capacity = 1 / cost
        report.state(
            "reports with three certificates read and counted in a second, C", String(format: "%.0f", capacity),
            target: "≥ \(Int(Self.leastCapacity))", isMet: capacity >= Self.leastCapacity)
        let inbox = ReportInbox()
        inbox.intake.replace(with: [try AppName("bank"): ReportHosts([(Self.host, 443)])])
        let key = SigningKey()
        let document = PublishedSnapshot.Document(
            bytes: [UInt8](repeating: 0x61, count: 25_000), mediaType: "application/json",
            signedAt: ListeningServer.now, refresh: 3_600, end: ListeningServer.now + 86_400)
        let app = try ChallengeSection.app(key)
        let snapshot = PublishedSnapshot(
            sequence: 1, documents: ["lists/bank.json": document], apps: [app.content.app: app])
        try await ListeningServer.run(snapshot, reports: inbox) { port in
            let load = LoadGenerator(folder: folder, seconds: settings.seconds)
            let reader = Task { await BackgroundThread.run { await Self.read(inbox) } }
            defer { reader.cancel() }
            for (name, path, headers) in [
                ("challenge answers", "app/init?appName=bank", Self.challenge), ("documents", "lists/bank.json", []),
            ] {
                let url = "http://127.0.0.1:\(port)/\(path)"
                _ = try await LoadGenerator(folder: folder, seconds: 1).load(url, headers: headers)
                let shed = inbox.refused
                var pairs: [Pair] = []
                for _ in 0..<Self.pairs {
                    let alone = try await load.load(url, headers: headers)
                    async let flooded = load.flood(body, port: port, rate: capacity * Self.leastOffered * 1.01)
                    let beside = try await load.load(url, headers: headers)
                    pairs.append(Pair(alone: alone, beside: beside, flood: try await flooded))
                }
                compare(name, pairs, capacity, &report)
                report.state(
                    "refused before they were read, in a second",
                    String(format: "%.0f", Double(inbox.refused - shed) / Double(settings.seconds * Self.pairs)))
            }
            let rate = capacity * Self.leastOffered
            let (first, second) = (
                try await flood(body, port, rate: rate), try await flood(body, port, rate: rate)
            )
            report.compare(
                "memory after two minutes of reports", "\(second >> 20) MiB", beside: "after one: \(first >> 20) MiB",
                ratio: Double(second) / Double(first), most: Self.maximumGrowth)
        }
    }

    /// The results without reports, and right afterward with them.
    private struct Pair {
        let alone: LoadGenerator.Result
        let beside: LoadGenerator.Result
        let flood: Flood.Result
    }

    private func compare(_ name: String, _ pairs: [Pair], _ capacity: Double, _ report: inout Report) {
        func median(_ value: (Pair) -> Double) -> Double { pairs.map(value).sorted()[pairs.count / 2] }
        let offered = median(\.flood.offered)
        report.compare(
            "99 of 100 \(name) within, beside \(Int(offered)) reports a second", Report.time(median(\.beside.p99)),
            beside: "alone: \(Report.time(median(\.alone.p99)))", ratio: median { $0.beside.p99 / $0.alone.p99 },
            most: Self.maximumSlower)
        report.compare(
            "\(name) in a second", String(format: "%.0f", median(\.beside.perSecond)),
            beside: String(format: "alone: %.0f", median(\.alone.perSecond)),
            ratio: median { $0.beside.perSecond / $0.alone.perSecond })
        report.compare(
            "reports offered, beside C", String(format: "%.0f", offered), beside: String(format: "%.0f", capacity),
            ratio: offered / capacity, least: Self.leastOffered)
        report.state(
            "reports that the network took, in a second", String(format: "%.0f", median(\.flood.sent)))
    }

    /// Sends reports for a minute.
    /// - Returns: the memory of this process afterward, in bytes.
    private func flood(_ body: [UInt8], _ port: Int, rate: Double) async throws -> Int {
        _ = try await LoadGenerator(folder: folder, seconds: 60).flood(body, port: port, rate: rate)
        return try ProcessorTime.memory(of: getpid())
    }

    /// The processor time for reading and counting, in seconds.
    private func cost(of body: [UInt8]) throws -> Double {
        let (app, hosts) = (try AppName("bank"), ReportHosts([(Self.host, 443)]))
        var tally = ReportTally()
        func round(_ seconds: Double) throws -> Double {
            let before = ProcessorTime.own
            var count = 0
            repeat {
                for _ in 0..<100 { try Self.count(body, of: app, from: UInt64(count), on: hosts, into: &tally) }
                count += 100
            } while ProcessorTime.own - before < seconds
            return (ProcessorTime.own - before) / Double(count)
        }
        _ = try round(0.2)
        return try round(1)
    }

    private static func count(
        _ body: [UInt8], of app: AppName, from source: UInt64, on hosts: ReportHosts, into tally: inout ReportTally
    ) throws {
        for report in try ReportReader.read(body) {
            tally.add(
                report, of: app, .everybody, on: hosts.label(of: report), from: source, at: ListeningServer.now)
        }
    }

    /// Reads and counts pending reports, as the server does, and stores nothing.
    private static func read(_ inbox: ReportInbox) async {
        var tally = ReportTally()
        for await _ in inbox.intake.arrivals {
            while let item = inbox.intake.next() {
                let (hosts, body) = (inbox.intake.hosts(of: item.app), Array(item.body.readableBytesView))
                try? count(body, of: item.app, from: item.source, on: hosts, into: &tally)
                BackgroundThread.giveWay()
            }
        }
    }

    /// The body of a report by HoldfastReports with a chain.
    private static func body() throws -> String {
        let certificate = try TrustServerKey(customer: "gcx", kind: .p256, at: SystemWallClock().now).certificate
        let pem = PEMText.block("CERTIFICATE", of: Array(certificate)).replacing("\n", with: "\\n")
        let chain = Array(repeating: "\"\(pem)\"", count: 3).joined(separator: ",")
        return """
            {"app-bundle-id":"com.example.bank","app-platform":"ios","app-version":"5.1",\
            "date-time":"2026-11-26T12:00:00Z","document-version":"7","failure":"pinMismatch","hostname":"\(host)",\
            "include-subdomains":false,"known-pins":["pin-sha256=\\"TwyNzy19zZi7cKfPsucs1E+h8ODOCPMrT8681sFWJvw=\\""],\
            "noted-hostname":"\(host)","outcome":"rejected","port":443,"sampling-fraction":1,\
            "served-certificate-chain":[\(chain)],"validated-certificate-chain":[]}
            """
    }
}

extension ReportInbox {
    /// Bodies that were refused before they were read.
    fileprivate var refused: Int { counters.count(of: .rate) + counters.count(of: .shed) }
}
