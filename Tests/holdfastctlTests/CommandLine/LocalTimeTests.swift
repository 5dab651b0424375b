import Foundation
import Holdfast
import HoldfastOutput
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("Times that people read", .timeLimit(.minutes(15)))
struct LocalTimeTests {
    @Test(
        "A field that is a time becomes one of the zone; everything else stays, and so does a time that does not exist",
        arguments: [
            ("2027-02-19T12:00:00Z", "2027-02-19T13:00:00+01:00"),
            ("2027-07-19T23:30:00Z", "2027-07-20T01:30:00+02:00"),
            ("2027-02-19T12:00:00", "2027-02-19T12:00:00"), ("Z", "Z"), ("", ""),
            ("2027-02-29T00:00:00Z", "2027-02-29T00:00:00Z"), ("2026-12-31T23:59:60Z", "2026-12-31T23:59:60Z"),
            ("ends 2027-02-19T12:00:00Z", "ends 2027-02-19T12:00:00Z"),
        ])
    func fields(text: String, expected: String) throws {
        let zone = try #require(TimeZone(identifier: "Europe/Prague"))
        #expect(LocalTime.text(ofField: text, in: zone) == expected)
    }

    @Test("Times in names of files, in arguments and in what was read are shown as they are written")
    func quoted() async throws {
        try await withTemporaryFolder { folder in
            try Data(#"{"schema":1,"notAfter":"2027-02-29T00:00:00Z","hosts":[]}"#.utf8)
                .write(to: folder.appending(path: "feb.json"))
            for (arguments, text) in [
                (["show", "feb.json"], "2027-02-29T00:00:00Z"),
                (["show", "backup-2026-11-28T00:00:00Z.json"], "backup-2026-11-28T00:00:00Z.json"),
                (["check", "--at", "2027-02-29T00:00:00Z", "x.example"], "2027-02-29T00:00:00Z"),
            ] {
                for zone in ["UTC", "Europe/Berlin"] {
                    let run = try await CommandRun.holdfastctl(arguments, environment: ["TZ": zone], in: folder)
                    #expect(run.errors.contains(text) && !run.errors.contains("2027-03-01"), "\(run.errors)")
                }
            }
        }
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
            // Comments of pins are copied into files, and are in UTC everywhere.
            let printed = try await pin([])
            #expect(printed.output.contains("until \(end)"), "\(printed.output)")
            let code = try await pin(["--format", "okhttp", "--host", SigningSite.name])
            #expect(code.status == 0 && code.output.contains("until \(end)"), "\(code.output)\(code.errors)")
        }
    }
}
