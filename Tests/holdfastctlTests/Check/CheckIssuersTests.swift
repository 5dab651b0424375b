import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("Pins of issuers, and what the authority may issue next", .timeLimit(.minutes(15)))
struct CheckIssuersTests {
    private struct Report: Decodable {
        struct Issuers: Decodable {
            struct Missing: Decodable {
                let pin: String
                let subject: String
            }
            let isKnown: Bool
            let isComplete: Bool
            let isLasting: Bool
            let chains: Int
            let refused: [String]
            let missing: [Missing]
            let missingToLast: [Missing]
        }
        let outcome: String
        let issuerPins: Issuers?
    }

    /// A host whose certificate comes from one of two intermediates, whose certificates are in issuers.pem with their root.
    private static func with(
        _ body: (SigningSite, LoopbackTLSServer, _ second: TestAuthority, _ check: [String]) async throws -> Void
    ) async throws {
        try await SigningSite.with { site in
            let second = try site.root.intermediate(name: "Second Issuing CA")
            try site.write("first.pem", site.issuing.certificate.pem)
            try site.write("second.pem", second.certificate.pem)
            try site.write(
                "issuers.pem", [site.root, site.issuing, second].map(\.certificate.pem).joined())
            try await withLoopbackTLSServer(serving: try site.leaf("served.pem")) { server in
                try await body(
                    site, server, second,
                    [
                        "check", SigningSite.name, "--ca", "root.pem", "--connect-to", "127.0.0.1:\(server.port)",
                        "--timeout", "60s",
                    ])
            }
        }
    }

    /// Writes a pin file with the issuers' keys of certificates.
    private static func pin(_ site: SigningSite, _ file: String, _ certificates: String...) async throws {
        let run = try await site.run(
            ["pin"] + certificates + ["--certificates", "issuers", "--format", "json", "--host", SigningSite.name])
        try #require(run.status == 0, "\(run.errors)")
        try site.write(file, run.output)
    }

    @Test(
        "A pin of the intermediate in use is good until the authority's others are known; then it is 4, and says which")
    func incomplete() async throws {
        try await Self.with { site, _, second, check in
            try await Self.pin(site, "one.json", "first.pem")
            let check = check + ["--pins", "one.json"]
            let plain = try await site.run(check)
            #expect(plain.status == 0, "\(plain.output) \(plain.errors)")
            #expect(plain.output.contains("an intermediate that is not announced"))
            let known = try await site.run(check + ["--issuers", "issuers.pem"])
            #expect(known.status == 4, "\(known.output) \(known.errors)")
            #expect(known.output.contains("INCOMPLETE") && known.output.contains("Second Issuing CA"))
            let report = try (try await site.run(check + ["--issuers", "issuers.pem", "--json"])).json(Report.self)
            let issuers = try #require(report.issuerPins)
            #expect(report.outcome == "trusted" && issuers.isKnown && !issuers.isComplete && !issuers.isLasting)
            #expect(issuers.refused == ["CN=Second Issuing CA"] && issuers.chains == 2)
            let root = try X509Certificate(der: site.root.certificate.der).publicKeyPin.description
            #expect(issuers.missing.map(\.pin) == [root])
            let quiet = try await site.run(check + ["--issuers", "issuers.pem", "--quiet"])
            #expect(quiet.status == 4 && quiet.output.contains("INCOMPLETE"), "\(quiet.output)")
            // It comes true: the next certificate is from the other intermediate.
            try site.write("next.pem", second.leaf(names: [.dns(SigningSite.name)]).chainPEM)
            let next = [
                "check", "--chain", "next.pem", "--host", SigningSite.name, "--ca", "root.pem", "--pins", "one.json",
            ]
            #expect(try await site.run(next).status == 1)
        }
    }

    @Test("Pins of the root, or of all that is announced, are complete; only the root's last")
    func complete() async throws {
        try await Self.with { site, _, _, check in
            try await Self.pin(site, "root.json", "root.pem")
            try await Self.pin(site, "both.json", "first.pem", "second.pem")
            for (file, lasts) in [("root.json", true), ("both.json", false)] {
                let run = try await site.run(check + ["--pins", file, "--issuers", "issuers.pem"])
                #expect(run.status == 0 && run.output.contains("complete for 2 chains"), "\(run.output) \(run.errors)")
                #expect(run.output.contains("not announced") == !lasts)
                let report = try (try await site.run(check + ["--pins", file, "--issuers", "issuers.pem", "--json"]))
                    .json(Report.self)
                #expect(report.issuerPins?.isComplete == true && report.issuerPins?.isLasting == lasts)
            }
            // A key of the server's own depends on no issuer.
            let own = try await site.run(
                ["pin", "served.pem", "--certificates", "leaf", "--format", "json", "--host", SigningSite.name])
            try site.write("own.json", own.output)
            let run = try await site.run(check + ["--pins", "own.json", "--issuers", "issuers.pem", "--json"])
            #expect(try run.status == 0 && run.json(Report.self).issuerPins == nil, "\(run.output)")
        }
    }

    @Test("Of another authority than the one that was given nothing is known, and that is 3")
    func anotherAuthority() async throws {
        try await Self.with { site, _, _, check in
            try await Self.pin(site, "root.json", "root.pem")
            let other = try TestAuthority.root(name: "Other")
            try site.write("other.pem", other.certificate.pem)
            let run = try await site.run(check + ["--pins", "root.json", "--issuers", "other.pem"])
            #expect(run.status == 3 && run.output.contains("not among --issuers"), "\(run.output) \(run.errors)")
            let brief = try await site.run(check + ["--pins", "root.json", "--issuers", "other.pem", "--brief"])
            #expect(brief.status == 3 && brief.output.contains("not among --issuers"), "\(brief.output)")
            try site.write("leaf.pem", try site.leaf("served-2.pem").pem)
            for (file, status) in [("leaf.pem", Int32(2)), ("missing.pem", 3)] {
                let run = try await site.run(check + ["--pins", "root.json", "--issuers", file])
                #expect(run.status == status, "\(file): \(run.status) \(run.errors)")
            }
            #expect(try await site.run(check + ["--issuers", "other.pem"]).status == 2)
        }
    }

    @Test(
        "pin --authority prints pins that are complete for the authority's certificates, and otherwise what is missing")
    func authority() async throws {
        try await Self.with { site, _, _, _ in
            let next = try TestAuthority.root(name: "Next Root")
            let below = try next.intermediate(name: "Next Issuing CA")
            try site.write("anchors.pem", site.root.certificate.pem + next.certificate.pem)
            try site.write(
                "all.pem", try site.text("issuers.pem") + next.certificate.pem + below.certificate.pem)
            let pin = ["pin", "--authority", "Test Root", "--ca", "anchors.pem"]
            let complete = try await site.run(pin + ["--issuers", "issuers.pem"])
            #expect(complete.status == 0 && complete.output.contains("sha256/"), "\(complete.errors)")
            #expect(complete.errors.contains("complete for 2 chains"))
            let missing = try await site.run(pin + ["--issuers", "all.pem"])
            #expect(missing.status == 1 && missing.output.isEmpty, "\(missing.output)")
            let key = try X509Certificate(der: next.certificate.der).publicKeyPin.description
            #expect(missing.errors.contains("CN=Next Issuing CA") && missing.errors.contains("missing: \(key)"))
            // With what was missing, they are complete.
            try site.write("next-root.pem", next.certificate.pem)
            let mended = try await site.run(
                pin + ["next-root.pem", "--issuers", "all.pem", "--format", "json", "--host", SigningSite.name])
            // From files a configuration has servers' own keys only, unless issuers are asked for.
            #expect(mended.status == 1, "\(mended.output)")
            let all = try await site.run(
                pin + [
                    "next-root.pem", "--certificates", "issuers", "--issuers", "all.pem", "--format", "json", "--host",
                    SigningSite.name,
                ])
            #expect(all.status == 0 && all.errors.contains("complete for 3 chains"), "\(all.errors)")
            let file = try PinFile(json: Data(all.output.utf8))
            #expect(file.hosts[0].pins.map(\.role) == [.issuer, .issuer])
        }
    }
}
