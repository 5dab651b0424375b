import Foundation
import Holdfast
import HoldfastNIOTesting
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

    @Test("Clients get in, but no round signs, or a host was not validated, or builds are in their grace: 4")
    func endsSoon() async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n")
                #expect(try await site.publish().status == 0)
                func run(_ more: [String], status code: Int32) async throws -> CommandRun {
                    let run = try await CommandRun.holdfastctl(
                        Self.status + ["--ca", "root.pem", "--timeout", "60s"] + more, in: site.folder)
                    #expect(run.status == code, "\(more): \(run.output)\(run.errors)")
                    return run
                }
                let known = ["--no-shipped-pins", "--domains", "data/acme.domains"]
                _ = try await run(known, status: 0)
                // Another round of the same pins, five minutes ago and then nothing.
                let host = try ServerAddress.host("127.0.0.1:\(server.port)")
                let path = try #require(
                    PathValidator(anchors: try TrustAnchors(der: [site.root.root])).validate(
                        PresentedChain(site.leaf.chain), for: .server(identity: host), at: SystemWallClock().now
                    ) { _ in true }.path)
                for file in ["output/acme.json.signed", "data/acme.hosts.json"] {
                    try FileManager.default.removeItem(at: site.file(file))
                }
                let start = SystemWallClock().now.addingTimeInterval(-300)
                let past = ScriptedClock { start }
                _ = try await site.publication([host], past) { _ in .validated(path) }.run()
                _ = try await run(known, status: 0)
                let aged = try await run(known + ["--max-age", "4m"], status: 4)
                #expect(aged.output.contains("no round signs"), "\(aged.output)")
                let json = try await run(known + ["--max-age", "4m", "--json"], status: 4).json(Answer.self)
                #expect(json.outcome == "aged")
                // Signed again, but nobody has asked the host since.
                _ = try await site.publication([], SystemWallClock()) { _ in .unreachable("") }.resign()
                let stale = try await run(known + ["--max-age", "4m"], status: 4)
                #expect(stale.output.contains("its pins are old: 1 host was not validated"), "\(stale.output)")
                _ = try await run(known, status: 0)

                // A version of the app whose pins are over, and still accepted.
                let file = try PinFile(
                    issuedAt: start.addingTimeInterval(-86_400), notAfter: start,
                    refresh: PinFile.Refresh(after: 21_600, grace: 86_400),
                    hosts: [
                        PinFile.Host(
                            HostPattern("127.0.0.1"), ports: [server.port],
                            pins: [PinFile.KeyPin(Pin.publicKey(of: site.leaf.der))])
                    ])
                try site.write("grace.pins.json", String(decoding: file.json, as: UTF8.self))
                let grace = try await run(["--shipped", "7.4=grace.pins.json", "--json"], status: 4)
                #expect(try grace.json(Answer.self).outcome == "ending", "\(grace.output)")
                let metrics = try await run(
                    ["--shipped", "7.4=grace.pins.json", "--format", "prometheus"], status: 4)
                #expect(metrics.output.contains("\"} 4\n"), "\(metrics.output)")
            }
        }
    }

    @Test("A host of the list that no document names is asked as well: clients are refused there, or nobody knows")
    func listedHosts() async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                let other = try await LoopbackTLSServer.start(serving: site.leaf)
                let (old, new) = ("127.0.0.1:\(server.port)\n", "127.0.0.1:\(other.port)\n")
                try site.write("data/acme.domains", old)
                #expect(try await site.publish().status == 0)
                func run(_ list: String?, status code: Int32) async throws -> CommandRun {
                    if let list {
                        try site.write("data/acme.domains", list)
                    } else {
                        try FileManager.default.removeItem(at: site.file("data/acme.domains"))
                    }
                    let run = try await CommandRun.holdfastctl(
                        Self.status + [
                            "--domains", "data/acme.domains", "--no-shipped-pins", "--ca", "root.pem", "--timeout",
                            "60s",
                        ], in: site.folder)
                    #expect(run.status == code, "\(list ?? "none"): \(run.output)\(run.errors)")
                    return run
                }
                _ = try await run(old, status: 0)
                let refused = try await run(old + new, status: 1)
                #expect(refused.output.hasPrefix("CLIENTS ARE LOCKED OUT of a host."), "\(refused.output)")
                #expect(refused.output.contains("127.0.0.1:\(other.port)"), "\(refused.output)")
                await other.shutdown()
                let unknown = try await run(old + new, status: 3)
                // Another test may listen on the port meanwhile, so why is not said here.
                let words = "127.0.0.1:\(other.port) could not be asked: "
                #expect(unknown.output.contains(words), "\(unknown.output)")
                _ = try await run(old, status: 0)
                let missing = try await run(nil, status: 3)
                #expect(missing.errors.contains("acme.domains cannot be read: no such file"), "\(missing.errors)")
            }
        }
    }

    @Test("What cannot be found out is in the metrics, in place of those of yesterday")
    func failingMetrics() async throws {
        try await TrustServerSite.with { site in
            try site.write("acme.prom", "yesterday\n")
            let prometheus = ["--format", "prometheus", "-o", "acme.prom"]
            let none = try await CommandRun.holdfastctl(Self.status + prometheus, in: site.folder)
            #expect(none.status == 1 && none.errors.contains("nothing is published"), "\(none.errors)")
            let text = try String(contentsOf: site.file("acme.prom"), encoding: .utf8)
            #expect(text.contains("acme.json.signed\"} 1\n") && !text.contains("yesterday"), "\(text)")
            try Self.document(site, aged: 0)
            let unreadable = try await CommandRun.holdfastctl(
                Self.status + ["--domains", "data/acme.domains"] + prometheus, in: site.folder)
            #expect(unreadable.status == 3)
            #expect(try String(contentsOf: site.file("acme.prom"), encoding: .utf8).contains("\"} 3\n"))
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
            let show = ["trust-server", "show", "--customer", "acme", "-o", "acme.base64"]
            let written = try await CommandRun.holdfastctl(show, in: site.folder)
            #expect(written.status == 0 && written.output.isEmpty, "\(written.output)\(written.errors)")
            #expect(try String(contentsOf: site.file("acme.base64"), encoding: .utf8) == run.output)
            let both = try await CommandRun.holdfastctl(show + ["--json"], in: site.folder)
            #expect(both.status == 0 && both.output == pem.output)
        }
    }
}
