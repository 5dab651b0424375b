import HoldfastProbe
import NIOCore
import NIOPosix
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite("What the server counts", .timeLimit(.minutes(5)))
struct MetricsTests {
    private func listening(
        _ site: ServingSite, _ counters: ListenerCounters, _ body: (Int) async throws -> Void
    ) async throws {
        try await World.run { world in
            var settings = try ListenerSettings(port: 0)
            settings.limits.bodyBytes = 1_000
            let publisher = Publisher(world.catalog, folder: world.publisher.folder, secret: nil, live: site.live)
            try await AdministrationSite.listening(for: publisher, counters: counters, settings, body)
        }
    }

    @Test("/metrics has what was answered, signed and refused, and when what is published ends")
    func metrics() async throws {
        let site = try ServingSite()
        site.publish(
            7, documents: ["lists/bank.json": ServingSite.document(Array("list".utf8))], apps: [try site.app()])
        let counters = ListenerCounters()
        let challenge = "X-Cert-Pinning-Challenge: AAECAwQFBgcICQoLDA0ODw=="
        try await site.listening(ceiling: 8, counters: counters) { port in
            let client = RawClient(port: port)
            _ = try await client.get("/lists/bank.json")
            _ = try await client.get("/nothing\"}")
            // At once, so that the source has saved nothing in between.
            let request = "GET /app/init?appName=bank HTTP/1.1\r\nHost: a\r\n\(challenge)\r\n"
            _ = try await client.exchange(request + "\r\n" + request + "Connection: close\r\n\r\n")
        }
        try await listening(site, counters) { port in
            let answer = try await RawClient(port: port).get("/metrics")
            #expect(
                answer.status == 200 && answer.header("Content-Type")?.hasPrefix("text/plain; version=0.0.4") == true)
            let lines = Set(answer.body.split(separator: "\n").map(String.init))
            for line in [
                #"holdfast_answers_total{route="document",status="200"} 1"#,
                #"holdfast_answers_total{route="other",status="400"} 1"#,
                #"holdfast_answers_total{route="challenge",status="200"} 1"#,
                #"holdfast_answers_total{route="challenge",status="503"} 1"#,
                "holdfast_signatures_total 1", #"holdfast_signatures_refused_total{limit="source"} 1"#,
                "holdfast_snapshot_sequence 7", #"holdfast_app_end_seconds{app="bank"} \#(ServingSite.end)"#,
                #"holdfast_document_end_seconds{path="lists/bank.json"} \#(ServingSite.end)"#,
                "# TYPE holdfast_answers_total counter",
            ] { #expect(lines.contains(line), "\(line) is not in \(answer.body)") }
        }
    }

    @Test("The administration's listener takes bodies up to a limit")
    func bodies() async throws {
        let site = try ServingSite()
        try await listening(site, ListenerCounters()) { port in
            let client = RawClient(port: port)
            let head = "POST /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
            let small = try await client.exchange(head + "Content-Length: 5\r\n\r\nhello")
            #expect(RawAnswer(small).status == 405 && RawAnswer(small).header("Allow") == "GET, HEAD")
            let chunked = try await client.exchange(head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
            #expect(RawAnswer(chunked).status == 405)
            let text = String(repeating: "a", count: 1_001)
            for body in [
                "Content-Length: 1001\r\n\r\n\(text)", "Transfer-Encoding: chunked\r\n\r\n3e9\r\n\(text)\r\n0\r\n\r\n",
            ] {
                #expect(RawAnswer(try await client.exchange(head + body)).status == 413)
            }
            let waiting = try await client.exchange(head + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\nhello")
            #expect(waiting.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 405"), "\(waiting)")
        }
    }

    @Test("A proxy before the administration's listener may forward addresses, and speaks TLS for no other machine")
    func proxies() async throws {
        func settings(_ host: String) throws -> ListenerSettings {
            try ListenerSettings(host: host, port: 0, proxies: TrustedProxies([try AddressBlock("10.0.0.0/8")]))
        }
        try await World.run { world in
            func listener(_ settings: ListenerSettings) throws -> AdministrationListener {
                try AdministrationListener(
                    settings, for: world.publisher, counters: ListenerCounters(),
                    on: .singletonMultiThreadedEventLoopGroup, logger: AdministrationSite.quiet)
            }
            let (beyond, loopback) = (try settings("0.0.0.0"), try settings("127.0.0.1"))
            expectError(.invalidValue) { try listener(beyond) }
            #expect(throws: Never.self) { try listener(loopback) }
        }
    }
}
