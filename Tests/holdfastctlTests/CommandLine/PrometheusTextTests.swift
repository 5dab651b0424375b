import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("Metrics for Prometheus")
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
                subject("a:443", .couldNotFindOut, 30), subject("a:443", nil, 40), subject("c", .negativeAnswer, 1),
            ]
        ).text
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("#") }
        #expect(
            lines == [
                #"holdfast_status{verb="check",subject="a:443"} 3"#,
                #"holdfast_status{verb="check",subject="b\\\"?:1"} 3"#,
                #"holdfast_status{verb="check",subject="c"} 1"#,
                #"holdfast_end_timestamp_seconds{verb="check",subject="a:443",what="certificate"} 1800000010"#,
                #"holdfast_end_timestamp_seconds{verb="check",subject="b\\\"?:1",what="certificate"} 1800000005"#,
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
}
