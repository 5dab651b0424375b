import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastPublishing
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl gate, for pins that clients download", .timeLimit(.minutes(15)))
struct GateRepositoryTests {
    private struct Report: Decodable {
        struct Cause: Decodable {
            let code: String
            let text: String
        }
        struct Clients: Decodable {
            let document: String?
            let kind: String?
            let holders: String
        }
        let answer: String
        let until: String?
        let cause: Cause?
        let clients: Clients?
    }

    private static func seconds(daysAgo days: Double) -> Int64 {
        SystemWallClock().now.addingTimeInterval(-days * 86_400).wholeSeconds
    }

    private static func gate(_ server: LoopbackTLSServer, next: String) -> [String] {
        [
            "gate", SigningSite.name, "--next", next, "--ca", "root.pem", "--connect-to", "127.0.0.1:\(server.port)",
            "--timeout", "60s", "--no-shipped-pins",
        ]
    }

    // MARK: A repository

    private static let firstRoot = "site/public/metadata/1.root.json"

    /// A repository that pins what a server shows and the certificate of b.pem, and not that of other.pem.
    private static func withRepository(
        _ body: (SigningSite, PublishedRepository, LoopbackTLSServer) async throws -> Void
    ) async throws {
        try await SigningSite.with { site in
            let repository = try await PublishedRepository(in: site)
            try site.leaf("other.pem")
            try await withLoopbackTLSServer(serving: repository.leaf) { server in
                try await body(site, repository, server)
            }
        }
    }

    @Test(
        "A certificate of a key that the repository pins may be installed, and no other, as its clients say themselves")
    func repository() async throws {
        try await Self.withRepository { site, repository, server in
            let other = try site.issuing.leaf(names: [.dns(SigningSite.name)])
            try site.write("other.pem", other.chainPEM)
            try await repository.served { url in
                let pins = ["--repository", url, "--app-root", Self.firstRoot]
                for (next, certificate, status) in [
                    ("b.pem", repository.backup, Int32(0)), ("leaf.pem", repository.leaf, 0), ("other.pem", other, 1),
                ] {
                    let run = try await site.run(Self.gate(server, next: next) + pins + ["--first", "--json"])
                    #expect(run.status == status, "\(next): \(run.output) \(run.errors)")
                    let report = try run.json(Report.self)
                    #expect(report.answer == (status == 0 ? "open" : "closed"))
                    if status != 0 {
                        #expect(report.clients?.kind == "repository" && report.cause?.code == "pins")
                        #expect(report.until == nil)
                    }
                    let app = try RepositoryApp(site.published, name: SigningSite.name)
                    #expect(try await app.isLetIn(by: certificate, trusting: site.root) == (status == 0))
                }
            }
        }
    }

    @Test("The folder of a repository has what was published before, and with the served key nothing else matters")
    func folder() async throws {
        try await Self.withRepository { site, repository, server in
            let pins = ["--app-root", Self.firstRoot, "--repository"]
            for next in ["leaf.pem", "b.pem"] {
                let run = try await site.run(Self.gate(server, next: next) + pins + ["site"])
                #expect(run.status == 0, "\(next): \(run.output) \(run.errors)")
            }
            let other = try site.issuing.leaf(names: [.dns(SigningSite.name)])
            try site.write("other.pem", other.chainPEM)
            #expect(try await site.run(Self.gate(server, next: "other.pem") + pins + ["site"]).status == 1)
            try await repository.served { url in
                let run = try await site.run(Self.gate(server, next: "leaf.pem") + pins + [url])
                #expect(run.status == 0, "\(run.output) \(run.errors)")
                // It is unknown whether clients hold earlier pins without another key.
                #expect(try await site.run(Self.gate(server, next: "b.pem") + pins + [url]).status == 1)
            }
            #expect(try await site.run(Self.gate(server, next: "leaf.pem") + pins + ["nowhere"]).status == 2)
        }
    }

    @Test("If what is served has ended, a certificate with its key is open all the same, and another one is 5")
    func ended() async throws {
        try await Self.withRepository { site, repository, server in
            let ended = try site.issuing.renew(repository.leaf) {
                $0.notBefore = .days(-60)
                $0.notAfter = .days(-2)
            }
            try server.serve(ended)
            try await repository.served { url in
                let pins = ["--app-root", Self.firstRoot, "--repository", url]
                let same = try await site.run(Self.gate(server, next: "leaf.pem") + pins)
                #expect(same.status == 0 && same.output.hasPrefix("Open: "), "\(same.output) \(same.errors)")
                let other = try await site.run(Self.gate(server, next: "b.pem") + pins)
                let since = try #require(ended.notAfter).addingTimeInterval(1).formatted(.iso8601)
                #expect(other.status == 5, "\(other.output) \(other.errors)")
                #expect(other.output.contains("some clients are locked out either way, since \(since)."))
            }
        }
    }

    @Test("What clients held before counts: unnamed it keeps the gate closed, named it is judged")
    func replacedBundle() async throws {
        try await Self.withRepository { site, repository, server in
            // Before, the backup was not pinned.
            let old = try await Self.earlierBundle(site, repository)
            try site.write("old-bundle.json", String(decoding: old, as: UTF8.self))
            let current = try Data(contentsOf: site.published.appending(path: "bundle.json"))
            try site.write("same-bundle.json", String(decoding: current, as: UTF8.self))
            try await repository.served { url in
                let gate =
                    Self.gate(server, next: "b.pem") + ["--repository", url, "--app-root", Self.firstRoot, "--json"]
                func answer(_ more: [String]) async throws -> Report {
                    let run = try await site.run(gate + more)
                    let report = try run.json(Report.self)
                    #expect(run.status == (report.answer == "open" ? 0 : 1), "\(run.errors)")
                    return report
                }
                let renewed = ["--renewed-every", "1d", "--lifetime", "14d"]
                let unnamed = try await answer(renewed)
                #expect(unnamed.answer == "closed" && unnamed.until != nil && unnamed.clients == nil)
                #expect(try await answer(["--published", "\(Self.seconds(daysAgo: 31))"]).answer == "open")
                let replaced = Self.seconds(daysAgo: 5)
                let closed = try await answer(["--replaced", "old-bundle.json@\(replaced)"] + renewed)
                #expect(closed.answer == "closed" && closed.clients?.holders == "replaced")
                let ready = Date(wholeSeconds: replaced).addingTimeInterval(7 * 86_400)
                #expect(try await answer(["--replaced", "old-bundle.json@\(replaced)"]).until == closed.until)
                #expect(closed.until == ready.formatted(.iso8601))
                #expect(
                    try await answer(["--replaced", "old-bundle.json@\(Self.seconds(daysAgo: 31))"]).answer == "open")
                #expect(try await answer(["--replaced", "same-bundle.json@\(replaced)"]).answer == "open")
            }
        }
    }

    /// Publishes pins without that of b.pem, and then those of the repository again, which is what clients of the first find.
    /// - Returns: the bundle of the first.
    private static func earlierBundle(_ site: SigningSite, _ repository: PublishedRepository) async throws -> Data {
        let now = SystemWallClock().now
        let elsewhere = try TestAuthority.root(name: "Another key").certificate.der
        let host = try PinFile.Host(
            try HostPattern(SigningSite.name),
            pins: [
                try PinFile.KeyPin(Pin.publicKey(of: repository.leaf.der)),
                try PinFile.KeyPin(Pin.publicKey(of: elsewhere), state: .backup),
            ])
        let without = try PinFile(
            issuedAt: now, notAfter: now.addingTimeInterval(90 * 86_400),
            refresh: PinFile.Refresh(after: 21_600, grace: 14 * 86_400), hosts: [host]
        ).json
        let folder = repository.folder
        func publish(_ pins: Data) async throws -> Data {
            var state = try await folder.state()
            try state.prepare(pins: pins, at: now)
            _ = try state.sign(by: repository.offline)
            try await folder.writeDrafts(state)
            try await folder.write(
                TUFPublication.make(of: folder.state(), in: folder, onlineKeys: [repository.online], at: now))
            return try Data(contentsOf: folder.published.appending(path: "bundle.json"))
        }
        let old = try await publish(without)
        _ = try await publish(repository.pins)
        return old
    }

    @Test("A repository that cannot be asked or read, or that apps with the root refuse, is 3 and never 0")
    func unknownRepository() async throws {
        try await Self.withRepository { site, repository, server in
            let gate = Self.gate(server, next: "b.pem") + ["--first"]
            try await repository.served { url in
                let ready = try await site.run(gate + ["--repository", url, "--app-root", Self.firstRoot])
                #expect(ready.status == 0, "\(ready.errors)")
                #expect(try await site.run(gate + ["--repository", url, "--app-root", "missing.json"]).status == 3)
                let foreign = try await SigningSite.with { other in
                    _ = try await PublishedRepository(in: other)
                    return try other.text(Self.firstRoot)
                }
                try site.write("foreign.json", foreign)
                let refused = try await site.run(gate + ["--repository", url, "--app-root", "foreign.json"])
                #expect(refused.status == 3 && refused.output.isEmpty, "\(refused.output) \(refused.errors)")
            }
            try await repository.served(breaking: "/bundle.json") { url in
                let broken = try await site.run(gate + ["--repository", url, "--app-root", Self.firstRoot])
                #expect(broken.status == 3 && broken.output.isEmpty, "\(broken.errors)")
            }
            let absent = try await site.run(
                gate + ["--repository", "http://127.0.0.1:1", "--app-root", Self.firstRoot])
            #expect(absent.status == 3, "\(absent.errors)")
        }
    }

    @Test("Clients that begin cannot follow once the timestamp ends, unless renewals go on")
    func timestamp() async throws {
        try await Self.withRepository { site, repository, server in
            try await repository.served { url in
                let gate =
                    Self.gate(server, next: "b.pem") + [
                        "--repository", url, "--app-root", Self.firstRoot, "--first", "--span", "21d", "--json",
                    ]
                let ending = try await site.run(gate)
                #expect(ending.status == 4, "\(ending.output) \(ending.errors)")
                let report = try ending.json(Report.self)
                #expect(report.answer == "ending" && report.cause?.code == "timestamp")
                #expect(report.clients?.holders == "beginning")
                let renewed = try await site.run(gate + ["--renewed-every", "1d"])
                #expect(renewed.status == 0, "\(renewed.output) \(renewed.errors)")
            }
        }
    }

    @Test("Of several roots in the field, apps with each of them are judged")
    func severalRoots() async throws {
        try await Self.withRepository { site, repository, server in
            var repository = repository
            try await repository.rotate()
            try await repository.served { url in
                let gate = Self.gate(server, next: "b.pem") + ["--first", "--repository", url]
                let roots = ["--app-root", Self.firstRoot, "--app-root", "site/public/metadata/2.root.json"]
                let run = try await site.run(gate + roots)
                #expect(run.status == 0, "\(run.output) \(run.errors)")
                #expect(run.output.contains("2 documents"))
            }
        }
    }

    // MARK: A trust server

    @Test("A trust server's document lets in what it has as a backup, once nobody can hold the one from before")
    func trustServer() async throws {
        try await SigningSite.with { site in
            let served = try site.leaf("served.pem")
            try site.leaf("next.pem")
            try await withLoopbackTLSServer(serving: served) { server in
                try FileManager.default.createDirectory(
                    at: site.folder.appending(path: "data"), withIntermediateDirectories: false)
                try TrustServerSite.makeKey(in: site.folder)
                try site.write("data/acme.domains", "\(SigningSite.name):443\n")
                let publish = [
                    "publish", "--customer", "acme", "--domains", "data/acme.domains", "--folder", "output", "--ca",
                    "root.pem", "--connect-to", "127.0.0.1:\(server.port)", "--no-shipped-pins",
                ]
                let run = try await site.run(["trust-server"] + publish)
                try #require(run.status == 0, "\(run.output) \(run.errors)")
                let document = "output/acme.json.signed"
                try FileManager.default.copyItem(
                    at: site.folder.appending(path: document), to: site.folder.appending(path: "before.signed"))
                let gate =
                    Self.gate(server, next: "next.pem") + [
                        "--trust-server", document, "--signer", "output/acme.crt", "--customer", "acme", "--json",
                    ]
                let closed = try await site.run(gate + ["--first"])
                #expect(closed.status == 1, "\(closed.errors)")
                #expect(try closed.json(Report.self).until == nil)

                let next = try await site.run(["trust-server"] + publish + ["--backup", "next.pem"])
                try #require(next.status == 0, "\(next.output) \(next.errors)")
                #expect(try await site.run(gate + ["--first"]).status == 0)
                // The one from before counts for 25 hours after it was made.
                let young = Self.seconds(daysAgo: 0)
                let waiting = try (try await site.run(gate + ["--replaced", "before.signed@\(young)"]))
                    .json(Report.self)
                #expect(waiting.answer == "closed" && waiting.clients?.holders == "replaced")
                let until = try Date(try #require(waiting.until), strategy: .iso8601)
                #expect((24.9 * 3_600...25.1 * 3_600).contains(until.timeIntervalSince(SystemWallClock().now)))
                #expect(try await site.run(gate + ["--published", "\(Self.seconds(daysAgo: 1.1))"]).status == 0)
                // Not its signer, and not its customer.
                try site.write("other.crt", site.root.certificate.pem)
                let foreign = gate.map { $0 == "output/acme.crt" ? "other.crt" : $0 }
                #expect(try await site.run(foreign + ["--first"]).status == 3)
                let customer = gate.map { $0 == "acme" ? "others" : $0 }
                #expect(try await site.run(customer + ["--first"]).status == 3)
            }
        }
    }
}
