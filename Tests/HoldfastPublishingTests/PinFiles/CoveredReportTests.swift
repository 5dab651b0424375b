import Foundation
import Holdfast
import HoldfastSigning
import Testing

@testable import HoldfastPublishing

@Suite("Reports to hosts that the same file pins")
struct CoveredReportTests {
    private static func file(_ hosts: String) throws -> PinFile {
        let pin = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE="
        let text = hosts.replacing("PINS", with: "\"pins\":[{\"pin\":\"\(pin)\"}]")
        return try PinFile(json: Data("{\"schema\":1,\"hosts\":[\(text)]}".utf8))
    }

    private static func host(_ name: String, _ more: String = "", report url: String? = nil) -> String {
        let report = url.map { ",\"report\":{\"url\":\"\($0)\",\"failureFraction\":1.0,\"successFraction\":0.0}" } ?? ""
        return "{\"host\":\"\(name)\",PINS\(more)\(report)}"
    }

    @Test("An address is covered by the entry of its host, of the name above with one label, and of any domain above")
    func covered() throws {
        let sub = ",\"includeSubdomains\":true"
        for (hosts, cover) in [
            ([Self.host("api.example.com", report: "https://api.example.com/r")], "api.example.com"),
            ([Self.host("example.com", sub, report: "https://reports.example.com/r")], "**.example.com"),
            ([Self.host("example.com", sub, report: "https://a.b.c.example.com:8443/r")], "**.example.com"),
            (
                [Self.host("api.example.com", report: "https://r.example.net"), Self.host("*.example.net")],
                "*.example.net"
            ),
            (
                [Self.host("api.example.com", ",\"ports\":[443]", report: "https://api.example.com/r")],
                "api.example.com"
            ),
        ] as [([String], String)] {
            let found = try Self.file(hosts.joined(separator: ",")).coveredReports
            #expect(found.map(\.cover.description) == [cover])
        }
        for hosts in [
            [Self.host("api.example.com", report: "https://reports.example.net/r")],
            [Self.host("api.example.com", report: "https://reports.api.example.com/r")],
            [Self.host("api.example.com", report: "https://a.b.example.net"), Self.host("*.example.net")],
            [Self.host("api.example.com", ",\"ports\":[8443]", report: "https://api.example.com/r")],
        ] {
            #expect(try Self.file(hosts.joined(separator: ",")).coveredReports.isEmpty)
        }
    }

    @Test("The tools cover the addresses that an app's reporter refuses: the most precise entry alone decides")
    func sameAsTheLibrary() throws {
        let sub = ",\"includeSubdomains\":true"
        // The entry of the host is for another port, and no entry above it takes its place.
        let ports = [
            Self.host("example.com", sub, report: "https://api.example.com/r"),
            Self.host("api.example.com", ",\"ports\":[8443]"),
        ]
        // Of pins that have ended, and of a host whose failures are only reported, as well.
        let ended = ",\"mode\":\"report\""
        for (hosts, count) in [
            (ports, 0), ([Self.host("api.example.com", ended, report: "https://api.example.com/r")], 1),
            ([Self.host("api.example.com", report: "https://api.example.com:8443/r")], 1),
            ([Self.host("127.0.0.1", report: "https://127.0.0.1/r")], 1),
        ] {
            let file = try Self.file(hosts.joined(separator: ","))
            #expect(file.coveredReports.count == count, "\(hosts)")
            let manager = TrustManager(policies: file.policies())
            for host in file.hosts {
                guard let url = host.report.flatMap({ URL(string: $0.url) }) else { continue }
                #expect((manager.cover(of: url) != nil) == (count > 0))
            }
        }
    }

    @Test("An edit that makes a host report to a pinned host is refused, and another edit only says so")
    func edits() throws {
        let data = try Self.file(Self.host("api.example.com")).json
        var edit = try PinFileEdit(data, named: "a.json")
        var settings = PinFileEdit.HostSettings()
        settings.reportURL = "https://api.example.com/r"
        let error = #expect(throws: PublishingError.self) { try edit.set(settings, of: HostPattern("api.example.com")) }
        #expect(error?.code == .invalidInput)
        let covered = try Self.file(Self.host("api.example.com", report: "https://api.example.com/r")).json
        #expect(try PinFileEdit(covered, named: "a.json").shortages.contains { $0.contains("coveredDestination") })
    }
}
