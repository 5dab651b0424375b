import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl rollover of what servers publish", .timeLimit(.minutes(15)))
struct RolloverSourceTests {
    private struct Line: Decodable {
        let step: String
        let date: String?
        let why: String?
        let action: String?
        let pins: [String]?
        let lost: [Clients]?
        let blocking: [Clients]?
        let premises: [String]?

        struct Clients: Decodable {
            let document: String
        }
    }

    @Test("A trust server: the next certificate is a backup for 25 hours before it is deployed")
    func trustServer() async throws {
        try await TrustServerSite.with { site in
            let next = try site.root.leaf(names: [.address([127, 0, 0, 1])])
            try site.write("next.pem", next.chainPEM)
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n")
                func step(_ more: [String] = ["--domains", "data/acme.domains"]) async throws -> Line {
                    let run = try await CommandRun.inProcess(
                        [
                            "rollover", "--trust-server", "output/acme.json.signed", "--signer", "output/acme.crt",
                            "--no-shipped-pins", "--next", "next.pem", "--ca", "root.pem", "--timeout", "60s", "--json",
                        ] + more, in: site.folder)
                    #expect(run.status == 0, "\(run.output)\(run.errors)")
                    return try run.json(Line.self)
                }
                #expect(try await site.publish().status == 0)
                let missing = try await step()
                #expect(missing.step == "publishNext", "\(missing)")
                #expect(missing.action == "holdfastctl trust-server publish with --backup next.pem")
                #expect(missing.pins == [Pin.certificate(next.der).description])

                #expect(try await site.publish(["--backup", "next.pem"]).status == 0)
                let now = SystemWallClock().now
                let waiting = try await step()
                #expect(waiting.step == "wait", "\(waiting)")
                let until = try Date(#require(waiting.date), strategy: .iso8601)
                #expect((24.9 * 3_600...25.1 * 3_600).contains(until.timeIntervalSince(now)))
                #expect(waiting.premises?.contains { $0.contains("an earlier document") } == true)
                // Clients with the earlier round get in by its grace until they have the next.
                #expect(waiting.lost == nil && waiting.blocking == nil, "\(waiting)")
                // Without the memory of the rounds it is unknown what they replaced.
                #expect(try await step([]).step == "wait")
                #expect(try await step(["--first"]).step == "deploy")

                let file = site.file("data/acme.replaced.json")
                let long = now.wholeSeconds - 26 * 3_600
                let kept = try String(contentsOf: file, encoding: .utf8)
                    .replacing(/"replaced":[0-9]+/, with: "\"replaced\":\(long)")
                try Data(kept.utf8).write(to: file)
                let ready = try await step()
                #expect(ready.step == "deploy" && ready.pins == [Pin.certificate(next.der).description], "\(ready)")

                try FileManager.default.removeItem(at: file)
                let lost = try await CommandRun.inProcess(
                    [
                        "rollover", "--trust-server", "output/acme.json.signed", "--signer", "output/acme.crt",
                        "--domains", "data/acme.domains", "--no-shipped-pins", "--ca", "root.pem",
                    ], in: site.folder)
                #expect(lost.status == 3 && lost.errors.contains("acme.replaced.json is not there"), "\(lost.errors)")
            }
        }
    }

    @Test("A repository whose root ends before its pins needs another root, and no other pins")
    func root() async throws {
        try await SigningSite.with { site in
            let repository = try await PublishedRepository(in: site, rootLasting: .seconds(20 * 86_400))
            try await withLoopbackTLSServer(serving: repository.leaf) { server in
                try await repository.served { url in
                    let run = try await site.run([
                        "rollover", "--repository", url, "--app-root", "site/public/metadata/1.root.json",
                        "--no-shipped-pins", "--published", "\(SystemWallClock().now.wholeSeconds - 86_400)", "--ca",
                        "root.pem", "--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s", "--json",
                    ])
                    let line = try run.json(Line.self)
                    #expect(line.step == "renew", "\(run.output)\(run.errors)")
                    #expect(line.action == "holdfastctl repository rotate with --role root, sign and publish it")
                    #expect(line.why?.hasPrefix("the root of the repository ends") == true, "\(run.output)")
                }
            }
        }
    }

    @Test("A repository: a backup is deployed once its pins have been published for as long as apps may not ask")
    func repository() async throws {
        try await SigningSite.with { site in
            let repository = try await PublishedRepository(in: site)
            let other = try site.leaf("other.pem")
            try await withLoopbackTLSServer(serving: repository.leaf) { server in
                try await repository.served { url in
                    func step(_ next: String, _ more: String..., status: Int32 = 0) async throws -> Line {
                        let run = try await site.run(
                            [
                                "rollover", "--repository", url, "--app-root", "site/public/metadata/1.root.json",
                                "--next", next, "--ca", "root.pem", "--connect-to", "127.0.0.1:\(server.port)",
                                "--timeout", "60s", "--json",
                            ] + more)
                        #expect(run.status == status, "\(run.output)\(run.errors)")
                        return try run.json(Line.self)
                    }
                    // Apps ask every six hours, but not those that stay closed, and it is unknown since when these pins
                    // are there.
                    let unknown = try await step("b.pem", "--no-shipped-pins")
                    #expect(unknown.step == "wait", "\(unknown)")
                    let until = try Date(#require(unknown.date), strategy: .iso8601)
                    #expect((6.9 * 86_400...7 * 86_400).contains(until.timeIntervalSince(SystemWallClock().now)))
                    // A machine's renewal is assumed, and stated.
                    #expect(unknown.premises?.contains { $0.contains("is renewed before it ends at ") } == true)
                    let day = "\(SystemWallClock().now.wholeSeconds - 8 * 86_400)"
                    let ready = try await step("b.pem", "--no-shipped-pins", "--published", day)
                    #expect(ready.step == "deploy", "\(ready)")
                    #expect(ready.pins == [try Pin.publicKey(of: repository.backup.der).description])
                    // The bundle that earlier apps carry lacks the other key.
                    try FileManager.default.copyItem(
                        at: site.folder.appending(path: "site/public/bundle.json"),
                        to: site.folder.appending(path: "old.bundle.json"))
                    let missing = try await step("other.pem", "--no-shipped-pins", "--published", day)
                    let pin = try Pin.publicKey(of: other.der).description
                    #expect(missing.step == "publishNext" && missing.pins == [pin])
                    #expect(missing.action?.hasSuffix("holdfastctl repository pins, sign and publish it") == true)
                    #expect(try await step("b.pem", "--published", day, status: 3).step == "deploy")
                    let bundled = try await step(
                        "b.pem", "--published", day, "--shipped", "7.4=old.bundle.json")
                    #expect(bundled.step == "deploy", "\(bundled)")
                    // A client that begins with the bundle when it has ended asks the repository first.
                    #expect(bundled.lost == nil && bundled.blocking == nil, "\(bundled)")
                }
            }
        }
    }
}
