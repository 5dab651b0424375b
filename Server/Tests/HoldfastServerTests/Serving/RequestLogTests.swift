import HoldfastProbe
import Logging
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerHTTP
@testable import ServerModel

@Suite("Ids of requests, and their lines in the log", .timeLimit(.minutes(5)))
struct RequestLogTests {
    /// Keeps what is logged.
    private final class Lines: Sendable {
        struct Line: Sendable {
            let level: Logger.Level
            let facts: [String: String]
        }

        private let held = Mutex<[Line]>([])

        var all: [Line] { held.withLock { $0 } }

        func logger(_ level: Logger.Level) -> Logger {
            var logger = Logger(label: "test") { _ in Handler(lines: self) }
            logger.logLevel = level
            return logger
        }

        private struct Handler: LogHandler {
            let lines: Lines
            var logLevel = Logger.Level.trace
            var metadata: Logger.Metadata = [:]

            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) {
                let facts = (event.metadata ?? [:]).mapValues { "\($0)" }
                lines.held.withLock { $0.append(Line(level: event.level, facts: facts)) }
            }
        }
    }

    private func listening(
        _ lines: Lines, _ level: Logger.Level, behind proxies: TrustedProxies = .none,
        _ body: (Int) async throws -> Void
    ) async throws {
        let site = try ServingSite()
        site.publish(
            documents: ["lists/bank.json": ServingSite.document(Array("list".utf8))], apps: [try site.app()])
        try await site.listening(
            ListenerSettings(port: 0, proxies: proxies), requests: lines.logger(level), body)
    }

    @Test("An error has an id that the log has as well, each its own; what caches may keep has none")
    func ids() async throws {
        let lines = Lines()
        try await listening(lines, .debug) { port in
            let client = RawClient(port: port)
            let first = try await client.get("/nothing?s3cret=1")
            let second = try await client.get("/nothing")
            #expect(try await client.get("/lists/bank.json").header("X-Request-Id") == nil)
            let ids = [first, second].compactMap { $0.header("X-Request-Id") }
            #expect(ids.count == 2 && ids[0] != ids[1])
            let all = lines.all
            #expect(all.count == 3 && all.allSatisfy { $0.level == .debug })
            #expect(all.prefix(2).compactMap { $0.facts["request"] } == ids)
            #expect(Set(all.compactMap { $0.facts["request"] }).count == 3)
            #expect(all[0].facts["status"] == "404" && all[0].facts["path"] == "/nothing")
            #expect(all[0].facts["method"] == "GET" && all[0].facts["listener"] == "apps")
            #expect(Int(all[0].facts["microseconds"] ?? "") != nil)
            #expect(all[2].facts["octets"] == "4" && all[2].facts["status"] == "200")
            let text = all.flatMap { $0.facts.values }.joined(separator: " ")
            #expect(!text.contains("s3cret") && !text.contains("127.0.0.1"), "\(text)")
        }
    }

    @Test("Two requests on one connection have two ids")
    func pipelined() async throws {
        let lines = Lines()
        try await listening(lines, .debug) { port in
            let request = "GET /nothing HTTP/1.1\r\nHost: a\r\n"
            _ = try await RawClient(port: port).exchange("\(request)\r\n\(request)Connection: close\r\n\r\n")
            #expect(Set(lines.all.compactMap { $0.facts["request"] }).count == 2)
        }
    }

    @Test("The id that a client sends counts for nothing; that of a trusted proxy counts, once and if it is a name")
    func proxies() async throws {
        let trusted = TrustedProxies([try AddressBlock("127.0.0.1/32")])
        for (proxies, from, sent, isTaken) in [
            (TrustedProxies.none, "127.0.0.1", ["a-b_c.7"], false), (trusted, "127.0.0.2", ["a-b_c.7"], false),
            (trusted, "127.0.0.1", ["a-b_c.7"], true), (trusted, "127.0.0.1", ["a-b_c.7", "a-b_c.7"], false),
            (trusted, "127.0.0.1", ["a b"], false), (trusted, "127.0.0.1", [#"a"b"#], false),
            (trusted, "127.0.0.1", [String(repeating: "a", count: 65)], false),
            (trusted, "127.0.0.1", [String(repeating: "a", count: 64)], true), (trusted, "127.0.0.1", [""], false),
        ] {
            let lines = Lines()
            try await listening(lines, .debug, behind: proxies) { port in
                let answer = try await RawClient(port: port, from: from).get(
                    "/nothing", sent.map { "X-Request-Id: \($0)" })
                let id = try #require(answer.header("X-Request-Id"))
                #expect((id == sent[0]) == isTaken, "\(sent) from \(from): \(id)")
                #expect(lines.all.first?.facts["request"] == id)
            }
        }
    }

    @Test("What strangers ask fills no log: there is no line above debug, and a path is cut")
    func quiet() async throws {
        let lines = Lines()
        try await listening(lines, .info) { port in
            for method in ["GET", "POST", "DELETE"] { _ = try await RawClient(port: port).request(method, "/nothing") }
            #expect(lines.all.isEmpty)
        }
        try await listening(lines, .debug) { port in
            _ = try await RawClient(port: port).get("/" + String(repeating: "a", count: 3_000))
            #expect(lines.all.first?.facts["path"]?.utf8.count == 128)
        }
    }

    @Test("Who changed something through the administration is in the log, without the token")
    func administration() async throws {
        let lines = Lines()
        try await World.run { world in
            let token = try await world.token("ci", .propose)
            try await AdministrationSite.listening(for: world.publisher, requests: lines.logger(.info)) { port in
                let site = AdministrationSite(world: world, port: port, tokens: ["ci": token])
                let answer = try await site.call(
                    "POST", "/v1/changes", token: "ci", body: AdministrationSite.proposal())
                #expect(answer.status == 201, "\(answer.text)")
                let read = try await site.call("GET", "/v1/apps", token: "ci")
                #expect(read.header("X-Request-Id") != nil, "no cache keeps it")
                _ = try await site.call("POST", "/v1/changes", bearer: "hfp_wrong", body: "{}")
                try #require(lines.all.count == 1, "\(lines.all)")
                let facts = lines.all[0].facts
                #expect(lines.all[0].level == .info && facts["caller"] == "token ci" && facts["status"] == "201")
                #expect(facts["request"] == answer.header("X-Request-Id"))
                #expect(!facts.values.contains { $0.contains(token.secretText) })
            }
        }
    }
}
