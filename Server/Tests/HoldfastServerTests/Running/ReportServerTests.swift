import Foundation
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerModel
@testable import ServerStore

/// The program itself, and what clients report to it.
@Suite("serve and reports", .timeLimit(.minutes(5)))
struct ReportServerTests {
    private func post(_ body: String, to port: Int) async throws -> Int {
        let head = [
            "POST /reports?appName=bank HTTP/1.1", "Host: pins.example.net", "Content-Type: application/reports+json",
            "Content-Length: \(body.utf8.count)", "Connection: close",
        ]
        return RawAnswer(
            try await RawClient(port: port).exchange(head.map { $0 + "\r\n" }.joined() + "\r\n" + body)
        ).status
    }

    @Test("It takes the reports of an app from when that is switched on, warns of failures, and keeps what it counted")
    func serving() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            let server = try await ServingProcess.start(site)
            let (on, words) = try await ServerProgram.run(
                ["app", "reports", "bank", "--on", "--data", site.data], in: site.folder)
            #expect(on == 0 && words == "bank takes reports\n", "\(words)")
            try await server.says("taking reports of bank")
            let one = ReportDesk.networkError().dropFirst().dropLast()
            let many = "[\(Array(repeating: String(one), count: 60).joined(separator: ","))]"
            for _ in 0..<5 { #expect(try await post(many, to: server.port) == 202) }
            let warning = "100.0 % of the reported connections to \(World.host):443 failed ("
            try await server.says("client reports of bank, which can be forged: \(warning)")
            // The last of them may still be waiting to be read.
            try await eventually("300 reports are counted") {
                try await RawClient(port: server.administration).get("/metrics").body
                    .contains(#"holdfast_reports_total{outcome="counted"} 300"#)
            }
            // Reports are unverified: the output of every command stays as green as it was.
            let status = try await ServerProgram.run(["status", "--data", site.data], in: site.folder)
            #expect(status.status == 0, "\(status.output)")
            #expect(status.output.contains("WARNING, as far as reports can be believed: \(warning)"))
            // It writes the remaining counts when it stops.
            #expect(try await post(ReportDesk.networkError("ok"), to: server.port) == 202)
            #expect(await server.stop() == 0)
            let counts = try await site.open.catalog.reportCounts(of: site.app, sinceHour: 0, limit: 10)
            #expect(Set(counts.map(\.key.kind.code)) == [.pins, .ok])
            #expect(counts.reduce(0) { $0 + $1.sums.count } == 301)
            let (off, gone) = try await ServerProgram.run(
                ["app", "reports", "bank", "--off", "--json", "--data", site.data], in: site.folder)
            #expect(off == 0 && gone.contains(#""enabled":false"#), "\(gone)")
        }
    }
}
