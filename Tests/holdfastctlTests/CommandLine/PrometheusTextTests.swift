import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("Metrics for Prometheus", .timeLimit(.minutes(15)))
struct PrometheusTextTests {
    @Test("Each label set appears once, with the worst status and the first end, and labels are escaped")
    func labels() {
        let now = Date(wholeSeconds: 1_800_000_000)
        func subject(_ name: String, _ status: CommandFailure.Status?, _ end: Double) -> PrometheusText.Subject {
            .init(name: name, status: status, ends: [("certificate", now.addingTimeInterval(end))])
        }
        let text = PrometheusText(
            verb: "check", now: now,
            subjects: [
                subject("a:443", nil, 20), subject("a:443", .endsSoon, 10), subject("b\\\"\n:1", .couldNotFindOut, 5),
                subject("d\u{9B}\u{202E}\u{2028}\u{7F}e", nil, 2),
                subject("a:443", .couldNotFindOut, 30), subject("a:443", nil, 40), subject("c", .negativeAnswer, 1),
            ]
        ).text
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("#") }
        #expect(
            lines == [
                #"holdfast_status{verb="check",subject="a:443"} 3"#,
                #"holdfast_status{verb="check",subject="b\\\"?:1"} 3"#,
                #"holdfast_status{verb="check",subject="d????e"} 0"#,
                #"holdfast_status{verb="check",subject="c"} 1"#,
                #"holdfast_end_timestamp_seconds{verb="check",subject="a:443",what="certificate"} 1800000010"#,
                #"holdfast_end_timestamp_seconds{verb="check",subject="b\\\"?:1",what="certificate"} 1800000005"#,
                #"holdfast_end_timestamp_seconds{verb="check",subject="d????e",what="certificate"} 1800000002"#,
                #"holdfast_end_timestamp_seconds{verb="check",subject="c",what="certificate"} 1800000001"#,
                #"holdfast_asked_timestamp_seconds{verb="check"} 1800000000"#, "",
            ])
    }

    @Test("check writes metrics whatever the answer is, for each host with what ends")
    func check() async throws {
        let site = try TestSite { $0.notAfter = .days(20.5) }
        let calm = try await CheckHostsTests.check(site, [TestSite.name, "--format", "prometheus"])
        #expect(calm.status == 0 && calm.output.contains("subject=\"\(TestSite.name):443\"} 0\n"), "\(calm.output)")
        #expect(calm.output.contains("what=\"certificate\"} "))
        let soon = try await CheckHostsTests.check(site, [TestSite.name, "--watch", "21d", "--format", "prometheus"])
        #expect(soon.status == 4 && soon.output.contains("\"} 4\n"), "\(soon.output)")
        let usage = try await CheckHostsTests.check(site, [TestSite.name, "--json", "--format", "prometheus"])
        #expect(usage.status == 2)
    }

    @Test(
        "What cannot be read, and a list that does not verify, are in the metrics in place of those of yesterday",
        arguments: [
            ("check --pins none.json", "none.json", 3),
            ("check www.example.com --pins none.json", "www.example.com:443", 3),
            ("check --pins patterns.json", "patterns.json", 3),
            ("check --chain none.pem --host www.example.com", "www.example.com:443", 3),
            ("rollover --pins none.json", "none.json", 3),
            ("rollover www.example.com --pins none.json", "www.example.com:443", 3),
            ("verify none.json --public-key signer.pub", "none.json", 3),
            ("verify pins.json --public-key none.pub", "pins.json", 3),
            ("verify pins.json --public-key other.pub", "pins.json", 1),
        ] as [(String, String, Int32)])
    func failing(line: String, subject: String, status: Int32) async throws {
        try await SigningSite.with { site in
            try site.list([("www.example.com", "a", 30)])
            try site.write("signer.pub", site.publicKey)
            try site.write("other.pub", SigningKey().publicKey.base64)
            let pin = "sha256/\(Data(count: 32).base64EncodedString())"
            try site.write(
                "patterns.json", #"{"schema":1,"hosts":[{"host":"*.example.com","pins":[{"pin":"\#(pin)"}]}]}"#)
            try site.write("out.prom", "yesterday\n")
            let verb =
                line.split(separator: " ").map(String.init) + (line.hasPrefix("check") ? ["--ca", "root.pem"] : [])
            let run = try await site.run(verb + ["--format", "prometheus", "-o", "out.prom"])
            #expect(run.status == status && run.output.isEmpty, "\(run.output)\(run.errors)")
            let metrics = try site.text("out.prom").replacing("\(site.folder.path)/", with: "")
            #expect(metrics.contains("subject=\"\(subject)\"} \(status)\n"), "\(metrics)")
            #expect(!metrics.contains("yesterday"))
        }
    }
}
