import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

/// A server's responses to a challenge: an answer, one to an earlier challenge, or one without a signature.
private enum Answers {
    case good, replayed, unsigned
}

@Suite("holdfastctl and clients that ask challenges", .timeLimit(.minutes(5)))
struct ChallengedListTests {
    private struct Report: Decodable {
        struct Clients: Decodable {
            let kind: String?
            let holders: String
        }

        let answer: String
        let clients: Clients?
    }

    private struct Line: Decodable {
        let step: String
        let action: String?
    }

    private static func entries(_ certificates: [TestCertificate]) throws -> [FingerprintEntry] {
        let end = SystemWallClock().now.addingTimeInterval(40 * 86_400)
        return try certificates.map {
            try FingerprintEntry(name: SigningSite.name, pin: .certificate($0.der), until: end)
        }
    }

    /// Answers challenges over plain HTTP on loopback.
    private static func answering<Value>(
        with certificates: [TestCertificate], by key: SigningKey, _ answers: Answers = .good,
        _ body: (String) async throws -> Value
    ) async throws -> Value {
        let entries = try Self.entries(certificates)
        let old = try ChallengeSigner(key: key).answer(
            to: Data(repeating: 7, count: 16).base64EncodedString(), entries: entries, at: SystemWallClock().now)
        let script: ScriptedHTTPServer.HeadScript = { _, head in
            let header = "x-cert-pinning-challenge:"
            let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(header) }
            let challenge = line?.dropFirst(header.count).trimmingCharacters(in: .whitespaces)
            let new = try? ChallengeSigner(key: key).answer(to: challenge, entries: entries, at: SystemWallClock().now)
            guard let answer = answers == .replayed ? old : new else {
                return [.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), .close]
            }
            let signature = answers == .unsigned ? "" : "X-Cert-Pinning-Signature: \(answer.signature)\r\n"
            let response =
                "HTTP/1.1 200 OK\r\n\(signature)Content-Length: \(answer.body.count)\r\nConnection: close\r\n\r\n"
            return [.send(response), .sendOctets([UInt8](answer.body)), .close]
        }
        return try await ScriptedHTTPServer.with(answering: script) { server in
            try await body("http://127.0.0.1:\(server.port)/init")
        }
    }

    private static func with(
        _ body: (SigningSite, _ served: TestCertificate, _ next: TestCertificate, _ place: [String]) async throws ->
            Void
    ) async throws {
        try await SigningSite.with { site in
            let (served, next) = (try site.leaf("served.pem"), try site.leaf("next.pem"))
            try await withLoopbackTLSServer(serving: served) { server in
                try await body(
                    site, served, next,
                    [
                        "--public-key", site.publicKey, "--no-shipped-pins", "--ca", "root.pem", "--connect-to",
                        "127.0.0.1:\(server.port)", "--timeout", "60s",
                    ])
            }
        }
    }

    @Test("The gate asks the server with a challenge, and opens only with a certificate that its answer has")
    func gate() async throws {
        try await Self.with { site, served, next, place in
            let gate = ["gate", SigningSite.name, "--next", "next.pem"] + place
            try await Self.answering(with: [served, next], by: site.key) { url in
                let open = try await site.run(gate + ["--challenged-list", url, "--first"])
                #expect(open.status == 0, "\(open.output) \(open.errors)")
                // The list of before is what the server sent before.
                let before = try PinListDraft(Self.entries([served])).signed(by: site.key)
                try site.write("before.json", String(decoding: before, as: UTF8.self))
                let replaced = "before.json@\(SystemWallClock().now.wholeSeconds - 3_600)"
                let held = try await site.run(gate + ["--challenged-list", url, "--replaced", replaced, "--json"])
                #expect(held.status == 1, "\(held.output) \(held.errors)")
                let report = try held.json(Report.self)
                #expect(report.clients?.kind == "challengedList" && report.clients?.holders == "replaced")
                let known = ["--challenged-list", url, "--replaced", replaced, "--staleness", "30m"]
                #expect(try await site.run(gate + known).status == 0)
                // A list of another kind of client says nothing about these.
                let usage = try await site.run(gate + ["--pins", "before.json", "--replaced", replaced])
                #expect(usage.status == 2 && usage.errors.contains("go with --public-key"), "\(usage.errors)")
            }
            try await Self.answering(with: [served], by: site.key) { url in
                let closed = try await site.run(gate + ["--challenged-list", url, "--first", "--json"])
                #expect(closed.status == 1, "\(closed.output) \(closed.errors)")
                #expect(try closed.json(Report.self).clients?.kind == "challengedList")
            }
        }
    }

    @Test("An answer to another challenge, without a signature, or by another key is 3 and never 0")
    func unverified() async throws {
        try await Self.with { site, served, next, place in
            let gate = ["gate", SigningSite.name, "--next", "next.pem", "--first"] + place
            for answers in [Answers.replayed, .unsigned] {
                try await Self.answering(with: [served, next], by: site.key, answers) { url in
                    let run = try await site.run(gate + ["--challenged-list", url])
                    #expect(
                        run.status == 3 && run.errors.contains("ignature"), "\(answers): \(run.output)\(run.errors)")
                }
            }
            try await Self.answering(with: [served, next], by: SigningKey()) { url in
                let asked = try await site.run(gate + ["--challenged-list", url])
                #expect(asked.status == 3)
            }
        }
    }

    @Test("check and rollover judge clients with challenges by a server, or by the list whose entries it sends")
    func otherVerbs() async throws {
        try await Self.with { site, served, next, place in
            let list = try PinListDraft(Self.entries([served, next])).signed(by: site.key)
            try site.write("pins.json", String(decoding: list, as: UTF8.self))
            try await Self.answering(with: [served, next], by: site.key) { url in
                for source in [url, "pins.json"] {
                    let check = try await site.run(
                        ["check", SigningSite.name, "--challenged-list", source, "--quiet"] + place)
                    #expect(check.status == 0, "\(source): \(check.output)\(check.errors)")
                    func step(_ more: String...) async throws -> Line {
                        let run = try await site.run(
                            ["rollover", "--challenged-list", source, "--next", "next.pem", "--json"] + place + more)
                        #expect(run.status == 0, "\(source): \(run.output)\(run.errors)")
                        return try run.json(Line.self)
                    }
                    #expect(try await step().step == "wait")
                    #expect(try await step("--first").step == "deploy")
                    let week = SystemWallClock().now.wholeSeconds - 8 * 86_400
                    #expect(try await step("--published", "\(week)").step == "deploy")
                }
            }
            try await Self.answering(with: [served], by: site.key) { url in
                let run = try await site.run(
                    ["rollover", "--challenged-list", url, "--next", "next.pem", "--json", "--first"] + place)
                let line = try run.json(Line.self)
                #expect(line.step == "publishNext" && line.action?.hasSuffix("let the server send that list") == true)
                #expect(line.action?.contains("--list pins.json") == true, "\(line.action ?? "")")
            }
            try await Self.answering(with: [next], by: site.key) { url in
                let check = try await site.run(["check", SigningSite.name, "--challenged-list", url] + place)
                #expect(check.status == 1, "\(check.output)\(check.errors)")
            }
        }
    }
}
