import Foundation

@testable import PinPublication
@testable import ServerApprovals
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore

/// The cost of published documents compared to nginx, which serves the same bytes from a file.
struct DocumentSection {
    private let settings: BenchmarkSettings
    private let folder: URL

    private let now = ListeningServer.now
    /// A list of a hundred entries.
    private static let size = 25_000

    init(_ settings: BenchmarkSettings, _ folder: URL) {
        self.settings = settings
        self.folder = folder
    }

    func measure(_ report: inout Report) async throws {
        report.section("A document of \(Self.size) bytes, 32 connections")
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<Self.size).map { _ in UInt8.random(in: 0x30...0x7A, using: &generator) }
        let load = LoadGenerator(folder: folder, seconds: settings.seconds)
        let document = PublishedSnapshot.Document(
            bytes: bytes, mediaType: "application/json", signedAt: now, refresh: 3_600, end: now + 86_400)
        let snapshot = PublishedSnapshot(sequence: 1, documents: ["lists/bank.json": document], apps: [:])
        var own: (cost: Double, result: LoadGenerator.Result)?
        try await ListeningServer.run(snapshot) { port in
            let before = ProcessorTime.own
            let result = try await load.load("http://127.0.0.1:\(port)/lists/bank.json")
            own = ((ProcessorTime.own - before) / Double(max(1, result.requests)), result)
        }
        let other = try await nginx(bytes, load)
        guard let own else { return }
        report.compare(
            "processor time of an answer", Report.time(own.cost), beside: "nginx: \(Report.time(other.cost))",
            ratio: own.cost / other.cost)
        report.compare(
            "answers in a second", String(format: "%.0f", own.result.perSecond),
            beside: String(format: "nginx: %.0f", other.result.perSecond),
            ratio: own.result.perSecond / other.result.perSecond)
        report.compare(
            "99 of 100 answers within", Report.time(own.result.p99), beside: "nginx: \(Report.time(other.result.p99))",
            ratio: own.result.p99 / other.result.p99)
    }

    private func nginx(
        _ bytes: [UInt8], _ load: LoadGenerator
    ) async throws -> (cost: Double, result: LoadGenerator.Result) {
        let lists = folder.appending(path: "public/lists")
        try FileManager.default.createDirectory(at: lists, withIntermediateDirectories: true)
        try Data(bytes).write(to: lists.appending(path: "bank.json"))
        let nginx = try await Nginx.start(in: folder) { port in
            "listen 127.0.0.1:\(port); root \(folder.path)/public; sendfile on; tcp_nopush on; "
                + "open_file_cache max=100; add_header Cache-Control 'public, max-age=3600';"
        }
        defer { nginx.process.end() }
        let before = try ProcessorTime.of(nginx.process.id)
        let result = try await load.load("http://127.0.0.1:\(nginx.port)/lists/bank.json")
        return ((try ProcessorTime.of(nginx.process.id) - before) / Double(max(1, result.requests)), result)
    }
}
