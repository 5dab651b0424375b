import Foundation
import Holdfast

@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// The time until a server with many apps answers after its start, and its memory.
struct LargeSection {
    private let settings: BenchmarkSettings
    private let folder: URL

    private static let apps = 1_000
    private static let hosts = 50
    private static let certificates = 2

    init(_ settings: BenchmarkSettings, _ folder: URL) {
        self.settings = settings
        self.folder = folder
    }

    func measure(_ report: inout Report) async throws {
        guard let program = settings.program else {
            throw BenchmarkError("--program names a release build of holdfast-server")
        }
        let entries = Self.apps * Self.hosts * Self.certificates
        report.section("\(Self.apps) apps with \(entries) entries")
        let clock = SystemWallClock()
        let end = Int64(clock.now.timeIntervalSince1970) + FilledServer.life
        let shape = FilledServer.Shape(
            apps: Self.apps, hosts: { try Self.hosts(of: $0, until: end) }, list: { Self.list($0, until: end) })
        let filled = try await FilledServer(in: folder, shape, clock: clock)
        let log = folder.appending(path: "log")
        let begin = ContinuousClock.now
        let server = try RunningProcess(
            URL(filePath: "/bin/sh"),
            [
                "-c", #"exec "$0" "$@" 2>"$LOG""#.replacing("$LOG", with: log.path), program.path, "serve", "--data",
                filled.folder.url.path, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--no-watch",
            ], in: folder)
        defer { server.end() }
        let port = try await port(in: log, server)
        let list = try await first("http://127.0.0.1:\(port)/lists/app-\(Self.apps - 1).json")
        let listed = (ContinuousClock.now - begin).seconds
        try require(list == Self.apps - 1, "the list of the last app")
        let challenge = try await first(
            "http://127.0.0.1:\(port)/app/init?appName=app-0", ["X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw=="])
        let challenged = (ContinuousClock.now - begin).seconds
        try require(challenge == 0, "a challenge answer")
        report.state("first list after the start", Report.time(listed), target: "< 1 s", isMet: listed < 1)
        report.state(
            "first challenge answer after the start", Report.time(challenged), target: "< 1 s", isMet: challenged < 1)
        // By then the first round has ended, and the documents after it are compressed.
        try await Task.sleep(for: .seconds(15))
        let memory = try ProcessorTime.memory(of: server.id)
        let mebibytes = Double(memory) / 1_048_576
        report.state(
            "resident memory, 15 seconds later", String(format: "%.0f MiB", mebibytes), target: "< 200 MiB",
            isMet: mebibytes < 200)
        let before = try ProcessorTime.of(server.id)
        try await Task.sleep(for: .seconds(60))
        let idle = (try ProcessorTime.of(server.id) - before) / 60
        report.state("processor time while idle", String(format: "%.1f %%", idle * 100))
    }

    private func require(_ holds: Bool, _ what: String) throws {
        guard holds else { throw BenchmarkError("the server gave no answer, or another: \(what)") }
    }

    private func port(in log: URL, _ server: RunningProcess) async throws -> Int {
        let words = "listening for apps on 127.0.0.1:"
        while server.isRunning {
            let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            if let found = text.firstRange(of: words), text[found.upperBound...].contains("\n"),
                let port = Int(text[found.upperBound...].prefix { $0.isNumber })
            {
                return port
            }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw BenchmarkError("the server ended: \((try? String(contentsOf: log, encoding: .utf8)) ?? "")")
    }

    /// The number that the first name of an answer has; nil for an answer without names.
    private func first(_ address: String, _ headers: [String] = []) async throws -> Int? {
        let text = try await ForeignProgram.run(
            "curl", ["-sSf", "--max-time", "30"] + headers.flatMap { ["-H", $0] } + [address], in: folder)
        guard let found = text.firstRange(of: ".a") else { return nil }
        return Int(text[found.upperBound...].prefix { $0.isNumber })
    }

    private static func hosts(of app: Int, until end: Int64) throws -> [ContentHost] {
        try (0..<hosts).map { host in
            try ContentHost(
                name: "h\(host).a\(app).example.com",
                certificates: try (0..<certificates).map { number in
                    try ContentHost.Certificate(
                        fingerprint: Digest(of: Array("\(app) \(host) \(number)".utf8)), expires: end)
                })
        }
    }

    /// The number of bytes of a signed list. It is not verified here, so a hundred thousand signatures are not needed.
    private static func list(_ app: Int, until end: Int64) -> [UInt8] {
        let entries = (0..<hosts).flatMap { host in
            (0..<certificates).map { number in
                let fingerprint = Base64.encode(Digest(of: Array("\(app) \(host) \(number)".utf8)).bytes)
                let half = Digest(of: Array("\(app) \(host) \(number) signature".utf8)).bytes
                let signature = Base64.encode(half + Digest(of: half).bytes + [0, 1, 2, 3, 4, 5, 6])
                return #"{"name":"h\#(host).a\#(app).example.com","fingerprint":"\#(fingerprint)","#
                    + #""expires":\#(end),"signature":"\#(signature)"}"#
            }
        }
        return Array(#"{"fingerprints":[\#(entries.joined(separator: ","))]}"#.utf8)
    }
}
