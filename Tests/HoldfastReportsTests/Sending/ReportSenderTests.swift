import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastReports
import HoldfastReportsAsyncHTTPClient
import HoldfastTesting
import NIOSSL
import Testing

/// The senders that have to behave alike.
enum SenderKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case urlSession, asyncHTTPClient

    var testDescription: String { rawValue }
}

/// The requirements for every sender, against real servers on loopback.
@Suite("Sending reports", .timeLimit(.minutes(15)))
struct ReportSenderTests {
    private let leaf: TestCertificate
    private let root: TestAuthority

    init() throws {
        root = try TestAuthority.root()
        leaf = try root.leaf(names: ["localhost"])
    }

    /// URLSession's anchors are the system's, so it gets a collector without TLS where the test is not about TLS.
    private func withCollector(
        _ kind: SenderKind, limit: Duration = .seconds(60), _ steps: [ScriptedHTTPServer.Step],
        _ body: (any ReportSender, URL, ScriptedHTTPServer) async throws -> Void
    ) async throws {
        let tls = kind == .asyncHTTPClient ? try NIOSSLContext(configuration: .testServer(leaf)) : nil
        let sender: any ReportSender =
            switch kind {
            case .urlSession: URLSessionReportSender(limit: limit, allowsPlainHTTPToLoopback: true)
            case .asyncHTTPClient:
                AsyncHTTPClientReportSender(
                    validator: PathValidator(anchors: try TrustAnchors(der: [root.root])), limit: limit)
            }
        try await ScriptedHTTPServer.with(tls: tls, { _ in steps }) { server in
            let text = server.url("/reports?appName=bank", scheme: tls == nil ? "http" : "https", host: "localhost")
            try await body(sender, try #require(URL(string: text)), server)
        }
    }

    private func upload(_ url: URL) -> ReportUpload {
        ReportUpload(url: url, contentType: "application/reports+json", body: Data("[{}]".utf8))
    }

    private func code(_ sender: any ReportSender, _ url: URL) async -> ReportSendingError.Code? {
        do {
            _ = try await sender.send(upload(url))
            return nil
        } catch {
            return (error as? ReportSendingError)?.code
        }
    }

    @Test("A report is one POST with its media type, and nothing about the device", arguments: SenderKind.allCases)
    func post(kind: SenderKind) async throws {
        let answer = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nSet-Cookie: a=b\r\nConnection: close\r\n\r\n"
        try await withCollector(kind, [.send(answer)]) { sender, url, server in
            for _ in 0..<2 {
                let answer = try await sender.send(upload(url))
                #expect(answer == ReportAnswer(status: 202))
            }
            #expect(server.requests.count == 2)
            for head in server.requests {
                #expect(head.hasPrefix("POST /reports?appName=bank HTTP/1.1\r\n"))
                let lower = head.lowercased()
                #expect(lower.contains("content-type: application/reports+json\r\n"))
                #expect(lower.contains("content-length: 4\r\n"))
                #expect(lower.contains("user-agent: holdfast/\(HoldfastRelease.version)\r\n"))
                // Those of the connection, and none that could tell one device from another.
                let known: Set = [
                    "host", "connection", "content-type", "content-length", "user-agent", "accept", "accept-encoding",
                    "accept-language",
                ]
                // The body may have come with them.
                let end = lower.range(of: "\r\n\r\n")?.lowerBound ?? lower.endIndex
                let lines = lower[..<end].split(separator: "\r\n").dropFirst()
                let names = Set(lines.map { String($0.prefix { $0 != ":" }) })
                #expect(names.isSubset(of: known), "\(names)")
                #expect(lines.filter { $0.hasPrefix("accept-language:") }.allSatisfy { $0.hasSuffix(" *") })
            }
        }
    }

    @Test("Informational responses are not the answer", arguments: SenderKind.allCases)
    func informational(kind: SenderKind) async throws {
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nRetry-After: 9\r\n\r\n"
        let answer = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        try await withCollector(kind, [.send("HTTP/1.1 100 Continue\r\n\r\n" + hints), .send(answer)]) {
            sender, url, _ in
            let received = try await sender.send(upload(url))
            #expect(received == ReportAnswer(status: 202))
        }
        try await withCollector(kind, [.send(hints), .close]) { sender, url, _ in
            #expect(await code(sender, url) != nil)
        }
    }

    @Test("The collector's wish to be left alone is told", arguments: SenderKind.allCases)
    func retryAfter(kind: SenderKind) async throws {
        let answer = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nRetry-After: 120\r\nConnection: close\r\n\r\n"
        try await withCollector(kind, [.send(answer)]) { sender, url, _ in
            let answer = try await sender.send(upload(url))
            #expect(answer == ReportAnswer(status: 503, retryAfter: "120"))
        }
        #expect(ReportAnswer(status: 503, retryAfter: "120").retryAfter == .seconds(120))
        for text in ["", "-1", "1.5", "Fri, 31 Dec 1999 23:59:59 GMT", "9999999999", "١٢"] {
            #expect(ReportAnswer(status: 503, retryAfter: text).retryAfter == nil)
        }
    }

    @Test("A redirect is refused: the target gets nothing", arguments: SenderKind.allCases, [301, 302, 303, 307, 308])
    func redirect(kind: SenderKind, status: Int) async throws {
        try await ScriptedHTTPServer.with({ _ in [.close] }) { other in
            let answer =
                "HTTP/1.1 \(status) Moved\r\nLocation: \(other.url())\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            try await withCollector(kind, [.send(answer)]) { sender, url, _ in
                #expect(await code(sender, url) == .redirectRefused)
            }
            #expect(other.requests.isEmpty)
        }
    }

    @Test("A huge answer is not read", arguments: SenderKind.allCases)
    func hugeAnswer(kind: SenderKind) async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n"
        // A terabyte.
        try await withCollector(kind, [.send(head), .flood(1 << 40)]) { sender, url, _ in
            let answer = try await sender.send(upload(url))
            #expect(answer.status == 200)
        }
    }

    @Test("A collector that does not answer is given up", arguments: SenderKind.allCases)
    func silent(kind: SenderKind) async throws {
        try await withCollector(kind, limit: .milliseconds(500), [.stall]) { sender, url, _ in
            #expect(await code(sender, url) == .noAnswerInTime)
        }
    }

    @Test("A collector that answers a character a minute is given up", arguments: SenderKind.allCases)
    func slow(kind: SenderKind) async throws {
        let drip = ScriptedHTTPServer.Step.drip("HTTP/1.1 200 OK\r\n\r\n", milliseconds: 60_000)
        try await withCollector(kind, limit: .milliseconds(500), [drip]) { sender, url, _ in
            #expect(await code(sender, url) == .noAnswerInTime)
        }
    }

    @Test("A collector that closes, or is not there, is an error", arguments: SenderKind.allCases)
    func closes(kind: SenderKind) async throws {
        var gone: (any ReportSender, URL)?
        try await withCollector(kind, [.close]) { sender, url, _ in
            #expect(await code(sender, url) == .connectionFailed)
            gone = (sender, url)
        }
        let (sender, url) = try #require(gone)
        #expect(await code(sender, url) == .connectionFailed)
    }

    @Test("A canceled task sends nothing more", arguments: SenderKind.allCases)
    func canceled(kind: SenderKind) async throws {
        try await withCollector(kind, [.stall]) { sender, url, _ in
            let task = Task { await code(sender, url) }
            task.cancel()
            #expect(await task.value == .canceled)
        }
    }

    @Test("A collector without TLS gets nothing", arguments: SenderKind.allCases)
    func plain(kind: SenderKind) async throws {
        let sender: any ReportSender =
            kind == .urlSession
            ? URLSessionReportSender()
            : AsyncHTTPClientReportSender(validator: PathValidator(anchors: TrustAnchors([])))
        try await ScriptedHTTPServer.with({ _ in [.close] }) { server in
            let url = try #require(URL(string: server.url()))
            #expect(await code(sender, url) == .insecureURL)
            #expect(server.requests.isEmpty)
        }
    }

    @Test(
        "A collector whose certificate no authority of the sender issued gets nothing", arguments: SenderKind.allCases)
    func untrusted(kind: SenderKind) async throws {
        let tls = try NIOSSLContext(configuration: .testServer(leaf))
        let stranger = try TestAuthority.root(name: "Stranger")
        let sender: any ReportSender =
            kind == .urlSession
            ? URLSessionReportSender()
            : AsyncHTTPClientReportSender(
                validator: PathValidator(anchors: try TrustAnchors(der: [stranger.root])))
        try await ScriptedHTTPServer.with(tls: tls, { _ in [.close] }) { server in
            let url = try #require(URL(string: server.url(scheme: "https", host: "localhost")))
            #expect(await code(sender, url) == .connectionFailed)
            #expect(server.requests.isEmpty)
        }
    }
}
