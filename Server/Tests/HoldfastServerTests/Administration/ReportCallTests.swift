import Foundation
import HoldfastTesting
import Testing

@testable import HostMonitoring
@testable import PublicAPI
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("Reports in the administration", .timeLimit(.minutes(5)))
struct ReportCallTests {
    private static let target = "/v1/apps/bank/reports"

    @Test("They are switched on and off by whoever administers the app, once for each change")
    func switching() async throws {
        try await AdministrationSite.run { site in
            for token in ["gate", "read", "propose"] {
                try await site.refuses(
                    403, .forbidden, "PUT", Self.target, token: token, body: #"{"enabled": true}"#)
            }
            let catalog = site.world.catalog
            let before = catalog.ledger.chain.head.count
            for _ in 0..<2 {
                let answer = try await site.call("PUT", Self.target, body: #"{"enabled": true}"#)
                #expect(answer.status == 200 && answer.body == #"{"enabled":true}"#, "\(answer.text)")
            }
            #expect(try await catalog.reportSettings(of: site.world.app).isEnabled)
            #expect(catalog.ledger.chain.head.count == before + 1)
            #expect(try await site.call("PUT", Self.target, body: #"{"enabled": false}"#).status == 200)
            #expect(try await !catalog.reportSettings(of: site.world.app).isEnabled)
            for body in ["{}", #"{"enabled": 1}"#, #"{"enabled": true, "more": 1}"#] {
                let answer = try await site.call("PUT", Self.target, body: body)
                #expect([400, 422].contains(answer.status), "\(body): \(answer.text)")
            }
            try await site.refuses(403, .forbidden, "PUT", "/v1/apps/shop/reports", body: #"{"enabled": true}"#)
        }
    }

    @Test("What clients report is shown, with samples whose chains can be printed")
    func reading() async throws {
        try await AdministrationSite.run { site in
            let desk = try await ReportDesk(site.world)
            let machine = try TestAuthority.root().leaf(names: [.dns(World.host)])
            try desk.count([
                ReportDesk.networkError("ok"), ReportDesk.pinFailure(machine.chain, result: 1, version: "7"),
            ])
            _ = try await desk.rows()
            let answer = try await site.call("GET", Self.target, token: "read")
            let json = answer.json
            #expect(answer.status == 200 && json["enabled"] as? Bool == true, "\(answer.text)")
            #expect((json["ratios"] as? [[String: Any]])?.count == 2)
            #expect((json["counts"] as? [[String: Any]])?.count == 2)
            let strangers = json["strangers"] as? [[String: Any]]
            #expect(strangers?.first?["certificate"] as? String == "\(Digest(of: machine.der))")
            let sample = (json["samples"] as? [[String: Any]])?.first?["report"] as? [String: Any]
            let bytes = try JSONSerialization.data(withJSONObject: try #require(sample))
            #expect(try ReportReader.read(Array(bytes)).first?.chain?.certificates == machine.chain)
            #expect((json["warnings"] as? [String])?.count == 1)
            // Older than asked for.
            site.world.clock.advance(by: .seconds(2 * 86_400))
            let later = try await site.call("GET", Self.target, token: "read").json
            #expect((later["counts"] as? [Any])?.isEmpty == true)
            let month = try await site.call("GET", Self.target + "?days=30", token: "read").json
            #expect((month["counts"] as? [Any])?.count == 2)
            try await site.refuses(400, .invalidValue, "GET", Self.target + "?days=31", token: "read")
            try await site.refuses(403, .forbidden, "GET", Self.target, token: "gate")
        }
    }

    @Test("The metrics have ratios by host and document, and what became of reports, with names that are fixed")
    func metrics() async throws {
        try await World.run { world in
            let desk = try await ReportDesk(world)
            try desk.count((0..<3).map { _ in ReportDesk.networkError(more: #", "document-version": 7"#) })
            try desk.count([
                "nothing", ReportDesk.networkError("dns.failed"), ReportDesk.networkError(at: "https://a.b/"),
            ])
            // More versions than the counters distinguish.
            try desk.count((100..<120).map { ReportDesk.networkError("ok", more: #", "document-version": \#($0)"#) })
            desk.inbox.counters.set([world.app: try await desk.standing()])
            let text = MetricsText(families: desk.inbox.families).text
            let place = #"app="bank",audience="everybody",host="\#(World.host):443""#
            for line in [
                #"holdfast_reports_total{outcome="counted"} 23"#, #"holdfast_reports_total{outcome="malformed"} 1"#,
                #"holdfast_reports_total{outcome="ignored"} 1"#, #"holdfast_reports_total{outcome="unlisted"} 1"#,
                #"holdfast_reported{\#(place),document="7"} 3"#,
                #"holdfast_reported_failure_ratio{\#(place),document="7"} 1"#,
                #"holdfast_reported{\#(place),document="-"} 13"#, #"holdfast_reported_strangers{app="bank"} 0"#,
            ] {
                #expect(text.contains(line + "\n"), "\(line) is not in \(text)")
            }
            #expect(text.split(separator: "\n").filter { $0.hasPrefix("holdfast_reported{") }.count == 9)
        }
    }
}
