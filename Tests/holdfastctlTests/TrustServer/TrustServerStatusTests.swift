import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl trust-server status and show", .timeLimit(.minutes(5)))
struct TrustServerStatusTests {
    private struct Answer: Decodable {
        struct Host: Decodable {
            let host: String
        }

        let outcome: String
        let hosts: Int?
        let age: Int64?
        let staleHosts: [Host]?
    }

    private static let status = ["trust-server", "status", "--customer", "acme"]

    /// Publishes a document that is so many seconds old.
    private static func document(_ site: TrustServerSite, aged seconds: Int64) throws {
        let data = try site.emptyDocument(at: site.second - seconds)
        try data.write(to: site.file("output/acme.json.signed"))
    }

    @Test("The age of the document decides: young, unsigned for a while, refused by new clients, refused by all")
    func ages() async throws {
        try await TrustServerSite.with { site in
            for (age, outcome, code, words) in [
                // It names no host, so nothing is asked.
                (60, "unknown", 3, "Clients accept it"), (540, "unknown", 3, "no round signs"),
                (1_200, "refusedByNewClients", 1, "NEW CLIENTS REFUSE IT"),
                (26 * 3_600, "refused", 1, "CLIENTS REFUSE IT"),
            ] as [(Int64, String, Int32, String)] {
                try Self.document(site, aged: age)
                let run = try await CommandRun.holdfastctl(Self.status, in: site.folder)
                #expect(run.status == code && run.output.contains(words), "\(age): \(run.status) \(run.output)")
                let json = try await CommandRun.holdfastctl(Self.status + ["--json"], in: site.folder)
                let answer = try json.json(Answer.self)
                #expect(answer.outcome == outcome && (answer.age ?? 0) >= age && answer.hosts == 0)
                let quiet = try await CommandRun.holdfastctl(Self.status + ["--quiet"], in: site.folder)
                #expect(quiet.status == code && quiet.output.contains(words))
            }
            try Self.document(site, aged: 300)
            let strict = try await CommandRun.holdfastctl(Self.status + ["--max-age", "2m"], in: site.folder)
            #expect(strict.status == 3 && strict.output.contains("no round signs"), "\(strict.output)")
        }
    }

    @Test("A document that is signed again and again with old pins is not current")
    func oldPins() async throws {
        try await TrustServerSite.with { site in
            let start = SystemWallClock().now
            let past = ScriptedClock { start.addingTimeInterval(-7_200) }
            _ = try await site.publication(past).run()
            _ = try await site.publication(ScriptedClock { start }).resign()
            let young = try await CommandRun.holdfastctl(Self.status + ["--offline"], in: site.folder)
            #expect(young.status == 3 && young.output.hasPrefix("Clients accept it"), "\(young.output)\(young.errors)")
            let domains = ["--domains", "data/acme.domains", "--offline"]
            let run = try await CommandRun.holdfastctl(Self.status + domains + ["--json"], in: site.folder)
            let answer = try run.json(Answer.self)
            #expect(run.status == 3 && answer.outcome == "unknown" && answer.staleHosts?.map(\.host) == ["127.0.0.1:1"])
            let metrics = try await CommandRun.holdfastctl(
                Self.status + domains + ["--format", "prometheus", "-o", "acme.prom"], in: site.folder)
            #expect(metrics.status == 3 && metrics.output.isEmpty)
            let text = try String(contentsOf: site.file("acme.prom"), encoding: .utf8)
            #expect(text.contains(#"holdfast_status{verb="trust-server status",subject=""#) && text.contains("\"} 3\n"))
        }
    }

    @Test("What is missing, damaged or somebody else's is said, each with its code")
    func unreadable() async throws {
        try await TrustServerSite.with { site in
            let none = try await CommandRun.holdfastctl(Self.status, in: site.folder)
            #expect(none.status == 1 && none.errors.contains("nothing is published"), "\(none.errors)")
            let other = try TrustServerKey(customer: "acme", kind: .p256, at: SystemWallClock().now)
            try TrustServerDraft(customer: "acme", hosts: [], timestamp: SystemWallClock().now).signed(by: other)
                .write(to: site.file("output/acme.json.signed"))
            let stolen = try await CommandRun.holdfastctl(Self.status, in: site.folder)
            #expect(stolen.status == 1 && stolen.output.hasPrefix("Clients refuse it\n"), "\(stolen.output)")
            try Self.document(site, aged: 0)
            let memory = try await CommandRun.holdfastctl(
                Self.status + ["--domains", "data/acme.domains"], in: site.folder)
            #expect(memory.status == 3 && memory.errors.contains("acme.hosts.json is not there"), "\(memory.errors)")
            let nobody = try await CommandRun.holdfastctl(
                ["trust-server", "status", "--customer", "other"], in: site.folder)
            #expect(nobody.status == 3 && nobody.errors.contains("trust-server init --customer other"))
        }
    }

    @Test("What init printed is printed again")
    func show() async throws {
        try await TrustServerSite.with { site in
            let run = try await CommandRun.holdfastctl(["trust-server", "show", "--customer", "acme"], in: site.folder)
            #expect(
                run.status == 0 && Data(base64Encoded: run.output.trimmingCharacters(in: .newlines)) == site.certificate
            )
            // The private key is not needed.
            try FileManager.default.removeItem(at: site.file("data/acme.key"))
            try FileManager.default.removeItem(at: site.file("output/acme.crt"))
            let pem = try await CommandRun.holdfastctl(
                ["trust-server", "show", "--customer", "acme", "--json"], in: site.folder)
            #expect(pem.status == 0 && pem.output.contains(site.certificate.base64EncodedString()), "\(pem.errors)")
        }
    }
}
