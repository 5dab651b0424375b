import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl gate", .timeLimit(.minutes(15)))
struct GateTests {
    private struct Report: Decodable {
        struct Cause: Decodable {
            let code: String
            let text: String
        }
        struct Clients: Decodable {
            let document: String?
            let holders: String
            let appVersions: [String]
        }
        let answer: String
        let until: String?
        let openUntil: String?
        let servedUntil: String?
        let servedEndsFirst: Bool
        let cause: Cause?
        let clients: Clients?
        let premises: [String]
    }

    /// A host that serves one certificate, with another in next.pem, and the arguments to ask about it.
    private static func with(
        servedDays: Double = 60,
        _ body: (SigningSite, LoopbackTLSServer, _ served: TestCertificate, _ next: TestCertificate, [String])
            async throws
            -> Void
    ) async throws {
        try await SigningSite.with { site in
            let served = try site.leaf("served.pem") { $0.notAfter = .days(servedDays) }
            let next = try site.leaf("next.pem")
            try await withLoopbackTLSServer(serving: served) { server in
                try await body(
                    site, server, served, next,
                    [
                        "gate", SigningSite.name, "--next", "next.pem", "--ca", "root.pem", "--connect-to",
                        "127.0.0.1:\(server.port)", "--timeout", "60s",
                    ])
            }
        }
    }

    private static func pinFile(_ site: SigningSite, _ file: String, _ certificates: String...) async throws {
        let run = try await site.run(
            ["pin"] + certificates + ["--certificates", "leaf", "--format", "json", "--host", SigningSite.name])
        try #require(run.status == 0, "\(run.errors)")
        try site.write(file, run.output)
    }

    private static func list(_ site: SigningSite, _ file: String, _ certificates: TestCertificate...) throws {
        let end = SystemWallClock().now.addingTimeInterval(40 * 86_400)
        let entries = try certificates.map {
            try FingerprintEntry(name: SigningSite.name, pin: .certificate($0.der), until: end)
        }
        try site.write(file, String(decoding: try PinListDraft(entries).signed(by: site.key), as: UTF8.self))
    }

    @Test("Every version of the app has to let the next certificate in, and the one that does not is named")
    func pinFiles() async throws {
        try await Self.with { site, _, _, _, gate in
            try await Self.pinFile(site, "old.json", "served.pem")
            try await Self.pinFile(site, "new.json", "served.pem", "next.pem")
            let open = try await site.run(gate + ["--pins", "new.json"])
            #expect(open.status == 0 && open.output.hasPrefix("Open: "), "\(open.output) \(open.errors)")
            let quiet = try await site.run(gate + ["--pins", "new.json", "--quiet"])
            #expect(quiet.status == 0 && quiet.output.isEmpty && quiet.errors.isEmpty)
            for pins in [["old.json", "new.json"], ["new.json", "old.json"]] {
                let run = try await site.run(gate + pins.flatMap { ["--pins", $0] } + ["--json"])
                #expect(run.status == 1, "\(run.errors)")
                let report = try run.json(Report.self)
                #expect(report.answer == "closed" && report.until == nil && !report.servedEndsFirst)
                #expect(report.clients?.appVersions == ["old.json"] && report.cause?.code == "pins")
            }
            let text = try await site.run(gate + ["--pins", "old.json"])
            #expect(
                text.status == 1 && text.output.contains("old.json") && text.output.contains("What is served ends at"))
        }
    }

    @Test("Clients with the list from before keep it closed until they have had their time, and the date is printed")
    func list() async throws {
        try await Self.with { site, _, served, next, gate in
            try Self.list(site, "before.json", served)
            try Self.list(site, "pins.json", served, next)
            let now = SystemWallClock().now
            func run(_ published: Double, _ more: [String]) async throws -> Report {
                let date = Date(wholeSeconds: now.addingTimeInterval(-published * 86_400).wholeSeconds)
                let run = try await site.run(
                    gate + [
                        "--list", "pins.json", "--public-key", site.publicKey, "--no-shipped-pins", "--json",
                        "--published", "\(date.wholeSeconds)",
                    ] + more)
                let report = try run.json(Report.self)
                #expect(run.status == (report.answer == "open" ? 0 : 1), "\(run.output) \(run.errors)")
                if let until = report.until {
                    #expect(until == date.addingTimeInterval(7 * 86_400).formatted(.iso8601))
                }
                return report
            }
            func before(_ days: Double) -> [String] {
                let date = Date(wholeSeconds: now.addingTimeInterval(-days * 86_400).wholeSeconds)
                return ["--replaced", "before.json@\(date.wholeSeconds)"]
            }
            let closed = try await run(5, before(5))
            #expect(closed.answer == "closed" && closed.until != nil && closed.clients?.holders == "replaced")
            let unnamed = try await run(5, [])
            #expect(unnamed.answer == "closed" && unnamed.until != nil && unnamed.clients == nil)
            #expect(unnamed.cause?.text.contains("may hold an earlier document") == true)
            #expect(closed.premises.contains { $0.hasPrefix("nobody holds what before.json replaced") })
            // It was replaced before the published one began: no given document covers the time in between.
            try Self.list(site, "wide.json", served, next)
            func wide(_ days: Double) -> [String] {
                before(days).map { $0.replacing("before.json", with: "wide.json") }
            }
            #expect(try await run(5, wide(5)).answer == "open")
            let gap = try await run(5, wide(9))
            #expect(gap.answer == "closed" && gap.cause?.text.contains("may hold an earlier document") == true)
            #expect(try await run(31, before(31)).answer == "open")
            #expect(try await run(31, []).answer == "open")
            #expect(try await run(5, ["--first"]).answer == "open")
            // Otherwise it counts as published now.
            let young = try await site.run(
                gate + ["--list", "pins.json", "--public-key", site.publicKey, "--no-shipped-pins"])
            #expect(young.status == 1, "\(young.output)")
        }
    }

    @Test("Of a certificate of six days it is printed from when until when every client gets in")
    func sixDays() async throws {
        try await Self.with { site, _, served, _, gate in
            let short = try site.leaf("next.pem") { $0.notAfter = .days(6) }
            try Self.list(site, "before.json", served)
            try Self.list(site, "pins.json", served, short)
            func arguments(_ days: Double) -> [String] {
                let time = SystemWallClock().now.addingTimeInterval(-days * 86_400).wholeSeconds
                return gate + [
                    "--list", "pins.json", "--public-key", site.publicKey, "--no-shipped-pins", "--replaced",
                    "before.json@\(time)",
                ]
            }
            let text = try await site.run(arguments(4))
            #expect(text.status == 1 && text.output.contains("every client gets in, but only until "), "\(text.output)")
            let report = try (try await site.run(arguments(4) + ["--json"])).json(Report.self)
            let (from, until) = (
                try Date(#require(report.until), strategy: .iso8601),
                try Date(#require(report.openUntil), strategy: .iso8601)
            )
            #expect((2.9 * 86_400...3.1 * 86_400).contains(until.timeIntervalSince(from)))
            let never = try await site.run(arguments(0.5))
            #expect(never.status == 1 && never.output.contains("those of its key"), "\(never.output)")
            let open = try await site.run(arguments(31) + ["--span", "2d"])
            #expect(open.status == 0, "\(open.output)")
        }
    }

    @Test("What cannot be read or asked is 3 and never 0, and so are unknown versions of the app")
    func unknown() async throws {
        try await Self.with { site, server, served, next, gate in
            try await Self.pinFile(site, "new.json", "served.pem", "next.pem")
            try Self.list(site, "pins.json", served, next)
            #expect(try await site.run(gate + ["--pins", "missing.json"]).status == 3)
            try site.write("damaged.json", "{\"schema\": 1, \"hosts\": [{}]}")
            let damaged = try await site.run(gate + ["--pins", "damaged.json"])
            #expect(damaged.status == 3 && damaged.errors.contains("damaged.json"), "\(damaged.errors)")
            #expect(try await site.run(gate + ["--pins", "https://127.0.0.1:1/pins.json"]).status == 3)
            let missing = gate.map { $0 == "next.pem" ? "missing.pem" : $0 }
            #expect(try await site.run(missing + ["--pins", "new.json"]).status == 3)
            let versions = try await site.run(
                gate + ["--list", "pins.json", "--public-key", site.publicKey, "--first", "--json"])
            #expect(versions.status == 3, "\(versions.errors)")
            #expect(try versions.json(Report.self).cause?.code == "appVersions")
            // Asked for at every address, one of which is down.
            let plain = gate.filter { !["--connect-to", "127.0.0.1:\(server.port)"].contains($0) }
                .map { $0 == SigningSite.name ? "\(SigningSite.name):\(server.port)" : $0 }
            let addresses = ["--address", "127.0.0.1", "--address", "127.0.0.2"]
            let down = try await site.run(plain + addresses + ["--pins", "new.json"])
            #expect(down.status == 3 && down.output.isEmpty && down.errors.contains("127.0.0.2"), "\(down.errors)")
            #expect(try await site.run(plain + addresses.prefix(2) + ["--pins", "new.json"]).status == 0)
            await server.shutdown()
            #expect(try await site.run(gate + ["--pins", "new.json"]).status == 3)
        }
    }

    @Test("If what is served ends first, both dates are said at once with 5, also while waiting")
    func servedEndsFirst() async throws {
        try await Self.with(servedDays: 5.5) { site, _, served, next, gate in
            try Self.list(site, "before.json", served)
            try Self.list(site, "pins.json", served, next)
            let arguments =
                gate + [
                    "--list", "pins.json", "--public-key", site.publicKey, "--no-shipped-pins", "--replaced",
                    "before.json@\(SystemWallClock().now.wholeSeconds - 3_600)",
                ]
            let run = try await site.run(arguments + ["--wait", "1h"])
            #expect(run.status == 5 && run.output.hasPrefix("Install now, and alert: "), "\(run.output) \(run.errors)")
            let report = try (try await site.run(arguments + ["--json"])).json(Report.self)
            #expect(report.servedEndsFirst)
            for date in [report.servedUntil, report.until] {
                #expect(run.output.contains(try #require(date)))
            }
            #expect(report.servedUntil == served.notAfter?.addingTimeInterval(1).formatted(.iso8601))
        }
    }

    @Test("--wait asks again until the answer is 0, and gives up when its time is over")
    func waiting() async throws {
        try await Self.with { site, _, _, _, gate in
            try await Self.pinFile(site, "bank.json", "served.pem")
            let given = try await site.run(gate + ["--pins", "bank.json", "--wait", "2s"])
            #expect(given.status == 1 && given.output.hasPrefix("Not yet: "), "\(given.errors)")
            try await Self.pinFile(site, "better.json", "served.pem", "next.pem")
            async let waiting = site.run(gate + ["--pins", "bank.json", "--wait", "10m"])
            try Data(site.text("better.json").utf8)
                .write(to: site.folder.appending(path: "bank.json"), options: .atomic)
            let run = try await waiting
            #expect(run.status == 0 && run.output.hasPrefix("Open: "), "\(run.output) \(run.errors)")
            #expect(try await site.run(gate + ["--pins", "bank.json", "--wait", "2"]).status == 2)
        }
    }

    @Test("A request is judged by the pin of its key; pins that end within the span are 4")
    func request() async throws {
        try await Self.with { site, _, _, _, gate in
            let made = try await site.run(["keygen", "--tls", SigningSite.name, "-o", "backup.key", "--no-password"])
            try #require(made.status == 0, "\(made.errors)")
            let pinned = try await site.run(
                [
                    "pin", "served.pem", "backup.csr", "--certificates", "leaf", "--format", "json", "--host",
                    SigningSite.name,
                ])
            try site.write("with.json", pinned.output)
            try await Self.pinFile(site, "without.json", "served.pem")
            let request = gate.map { $0 == "next.pem" ? "backup.csr" : $0 }
            #expect(try await site.run(request + ["--pins", "with.json"]).status == 0)
            #expect(try await site.run(request + ["--pins", "without.json"]).status == 1)
            #expect(try await site.run(gate + ["--pins", "with.json"]).status == 1)

            let end = SystemWallClock().now.addingTimeInterval(3 * 86_400).formatted(.iso8601)
            let soon = pinned.output.replacingOccurrences(
                of: "\"schema\" : 1", with: "\"notAfter\":\"\(end)\",\"schema\":1"
            )
            .replacingOccurrences(of: "\"schema\": 1", with: "\"notAfter\":\"\(end)\",\"schema\":1")
            try site.write("soon.json", soon)
            let ending = try await site.run(request + ["--pins", "soon.json"])
            #expect(ending.status == 4 && ending.output.hasPrefix("Ends soon: "), "\(ending.output) \(ending.errors)")
        }
    }

    @Test(
        "What cannot be meant is wrong usage",
        arguments: [
            [], ["--no-shipped-pins"], ["--key", "a"], ["--repository", "https://pins.example.com"],
            ["--pins", "a", "--first", "--replaced", "b@2026-11-20"], ["--pins", "a", "--replaced", "b"],
            ["--pins", "a", "--span", "0d"], ["--pins", "a", "--json", "--quiet"], ["--pins", "a", "--wait", "5"],
        ])
    func usage(arguments: [String]) async throws {
        let run = try await CommandRun.inProcess(["gate", "www.example.com", "--next", "next.pem"] + arguments)
        #expect(run.status == 2, "\(run.errors)")
    }
}
