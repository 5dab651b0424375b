import Foundation
import Holdfast
import HoldfastOutput
import HoldfastTesting
import Testing

@Suite("Times that people read", .timeLimit(.minutes(15)))
struct LocalTimeTests {
    @Test(
        "Each time in UTC becomes one of the zone, with its offset; everything else stays",
        arguments: [
            (
                "ends 2027-02-19T12:00:00Z, or 2027-07-19T23:30:00Z",
                "ends 2027-02-19T13:00:00+01:00, or 2027-07-20T01:30:00+02:00"
            ),
            ("2027-02-19T12:00:00", "2027-02-19T12:00:00"), ("Z", "Z"),
            ("2027-13-19T12:00:00Z", "2027-13-19T12:00:00Z"),
            ("ü2027-02-19T12:00:00ZZ", "ü2027-02-19T13:00:00+01:00Z"), ("", ""),
            ("12027-02-19T12:00:00Z", "12027-02-19T13:00:00+01:00"),
        ])
    func localized(text: String, expected: String) throws {
        let zone = try #require(TimeZone(identifier: "Europe/Prague"))
        #expect(LocalTime.localized(text, in: zone) == expected)
        let utc = try #require(TimeZone(identifier: "UTC"))
        #expect(LocalTime.localized(text, in: utc) == text)
    }

    @Test("Text has the time of the machine's zone, JSON has UTC")
    func zones() async throws {
        try await SigningSite.with { site in
            try site.list([("www.example.com", "a", 30)])
            let verify = ["verify", "pins.json", "--public-key", site.publicKey]
            func run(_ more: [String]) async throws -> String {
                try await CommandRun.holdfastctl(verify + more, environment: ["TZ": "Asia/Kolkata"], in: site.folder)
                    .output
            }
            #expect(try await run([]).contains("+05:30  "))
            let json = try await run(["--json"])
            #expect(json.contains("Z\"") && !json.contains("+05:30"))
            // The end of a certificate that is pinned has a time and a zone as well; what goes into a file stays in UTC.
            let end = try X509Certificate(der: site.leaf("leaf.pem").der).notAfter.formatted(.iso8601)
            func pin(_ more: [String]) async throws -> CommandRun {
                try await CommandRun.holdfastctl(
                    ["pin", "leaf.pem"] + more, environment: ["TZ": "Asia/Kolkata"], in: site.folder)
            }
            let zone = try #require(TimeZone(identifier: "Asia/Kolkata"))
            let printed = try await pin([])
            #expect(printed.output.contains("until \(LocalTime.localized(end, in: zone))"), "\(printed.output)")
            let code = try await pin(["--format", "okhttp", "--host", SigningSite.name])
            #expect(code.status == 0 && code.output.contains("until \(end)"), "\(code.output)\(code.errors)")
        }
    }
}
