import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("holdfastctl check --log-list", .timeLimit(.minutes(15)))
struct CheckTransparencyTests {
    private typealias Report = CheckTests.Report

    private let logs: [TestTransparencyLog]

    init() throws { logs = try ["First Log", "Second Log"].map { try TestTransparencyLog(name: $0) } }

    /// A list of both logs, made so many days ago, in a file.
    private func list(_ folder: URL, daysAgo days: Double = 1) throws -> String {
        var list = try TestLogList(issuedAt: SystemWallClock().now.addingTimeInterval(-days * 86_400))
        for log in logs { list.operators["Operator of \(log.name)"] = [TestLogList.Entry(log)] }
        let file = folder.appending(path: "log_list.json")
        try list.json.write(to: file)
        return file.path
    }

    private func site(_ logs: [TestTransparencyLog]) throws -> TestSite {
        try TestSite { $0.timestamps = logs.map { TestTimestamp(of: $0) } }
    }

    @Test("A certificate with too few timestamps is refused, and each timestamp is named with what is wrong with it")
    func refused() async throws {
        let stranger = try TestTransparencyLog(name: "Stranger")
        let site = try site([logs[0], stranger])
        try await withTemporaryFolder { folder in
            let (run, server) = try await site.run("check", ["--log-list", try list(folder)])
            #expect(run.status == 1 && run.errors.isEmpty && server.plaintextBytesReceived == 0)
            #expect(run.output.contains("Not trusted\n  notTransparent for api.example.com"))
            let first = "timestamp 1 of \"First Log\" (operator \"Operator of First Log\")"
            #expect(run.lines.contains { $0.contains(first) && $0.hasSuffix(": counts") })
            let identifier = Data(stranger.identifier).base64EncodedString()
            #expect(
                run.lines.contains {
                    $0.contains("timestamp 2 of log \(identifier)")
                        && $0.hasSuffix(": does not count: the log list does not have its log")
                })
            #expect(run.lines.contains { $0.contains("BROKEN") && $0.contains("RFC 6962 3.3") })
        }
    }

    @Test("A log list that cannot be read ends with 3, and is named", arguments: ["missing.json", "junk.json"])
    func unreadable(name: String) async throws {
        try await withTemporaryFolder { folder in
            try Data("{".utf8).write(to: folder.appending(path: "junk.json"))
            try Data(try TestAuthority.root().certificate.pem.utf8).write(to: folder.appending(path: "root.pem"))
            let run = try await CommandRun.inProcess(
                ["check", "api.example.com", "--ca", "root.pem", "--log-list", name], in: folder)
            #expect(run.status == 3)
            #expect(run.output.isEmpty)
            #expect(run.errors.contains(name))
        }
    }
}
