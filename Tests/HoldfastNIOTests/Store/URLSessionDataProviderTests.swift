import Foundation
import Holdfast
import Testing

@Suite("Downloads with URLSession")
struct URLSessionDataProviderTests {
    private let provider = URLSessionDataProvider(allowsPlainHTTPToLoopback: true)

    private func answer(_ status: String, _ headers: [String] = [], _ body: String) -> String {
        (["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)", "Connection: close"] + headers)
            .joined(separator: "\r\n") + "\r\n\r\n\(body)"
    }

    private func download(
        _ text: String, headers: [String: String] = [:], maximumBytes: Int = 1_000,
        provider: URLSessionDataProvider? = nil
    ) async throws -> RemoteDataResponse {
        let request = RemoteDataRequest(
            url: try #require(URL(string: text)), headers: headers, maximumBytes: maximumBytes)
        return try await (provider ?? self.provider).data(for: request)
    }

    private func code(
        _ text: String, headers: [String: String] = [:], maximumBytes: Int = 1_000,
        provider: URLSessionDataProvider? = nil
    ) async -> RemoteDataError? {
        do {
            _ = try await download(text, headers: headers, maximumBytes: maximumBytes, provider: provider)
            return nil
        } catch {
            if let error = error as? RemoteDataError { return error }
            Issue.record("another error: \(error)")
            return nil
        }
    }

    @Test("A document is downloaded with its headers, and the request carries ours and no cookies")
    func document() async throws {
        let text = answer("200 OK", ["ETag: \"v1\"", "Set-Cookie: a=b"], "{}")
        try await ScriptedHTTPServer.with({ _ in [.send(text), .close] }) { server in
            for _ in 0..<2 {
                let response = try await download(
                    server.url("/list?x=1"), headers: ["X-Cert-Pinning-Challenge": "AAEC"])
                #expect(response.content == .body(Data("{}".utf8)) && response.header("etag") == "\"v1\"")
            }
            #expect(server.requests.count == 2)
            for head in server.requests {
                #expect(
                    head.hasPrefix("GET /list?x=1 HTTP/1.1\r\n") && head.contains("X-Cert-Pinning-Challenge: AAEC\r\n"))
                #expect(!head.lowercased().contains("cookie:"))
            }
        }
    }

    @Test("An unchanged document is said to be so, where its entity tag was sent")
    func notModified() async throws {
        let text = "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\nConnection: close\r\n\r\n"
        try await ScriptedHTTPServer.with({ _ in [.send(text), .close] }) { server in
            let response = try await download(server.url(), headers: ["If-None-Match": "\"v1\""])
            #expect(response.content == .notModified)
            #expect(server.requests.first?.contains("If-None-Match: \"v1\"\r\n") == true)
            #expect(await code(server.url())?.code == .unexpectedStatus)
        }
    }

    @Test(
        "Status codes are distinct errors",
        arguments: [
            ("404 Not Found", 404, RemoteDataError.Code.clientError), ("403 Forbidden", 403, .clientError),
            ("500 Internal Server Error", 500, .serverError), ("503 Service Unavailable", 503, .serverError),
            ("204 No Content", 204, .unexpectedStatus), ("206 Partial Content", 206, .unexpectedStatus),
        ])
    func statuses(line: String, status: Int, code expected: RemoteDataError.Code) async throws {
        let text = answer(line, [], status == 204 ? "" : "x")
        try await ScriptedHTTPServer.with({ _ in [.send(text), .close] }) { server in
            let error = await code(server.url())
            #expect(error?.code == expected && error?.status == status)
        }
    }

    @Test("More than the limit ends the download while it arrives, announced or not")
    func tooLarge() async throws {
        let gigabyte = 1 << 30
        for head in [
            "HTTP/1.1 200 OK\r\nContent-Length: \(gigabyte)\r\n\r\n", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
        ] {
            try await ScriptedHTTPServer.with({ _ in [.send(head), .flood(gigabyte), .close] }) { server in
                #expect(await code(server.url(), maximumBytes: 100_000)?.code == .tooLarge)
            }
        }
        let exact = answer("200 OK", [], String(repeating: "x", count: 1_000))
        try await ScriptedHTTPServer.with({ _ in [.send(exact), .close] }) { server in
            #expect(await code(server.url(), maximumBytes: 1_000) == nil)
            #expect(await code(server.url(), maximumBytes: 999)?.code == .tooLarge)
        }
    }

    @Test("Half a body is no document")
    func halfABody() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\n{\"fingerprints\""
        try await ScriptedHTTPServer.with({ _ in [.send(head), .close] }) { server in
            #expect(await code(server.url())?.code == .connectionFailed)
        }
    }

    @Test("A server that says nothing, or never ends, meets the limits for both")
    func timeLimits() async throws {
        let quick = URLSessionDataProvider(answerLimit: 0.2, wholeLimit: 5, allowsPlainHTTPToLoopback: true)
        try await ScriptedHTTPServer.with({ _ in [.stall] }) { server in
            #expect(await code(server.url(), provider: quick)?.code == .noAnswerInTime)
        }
        let short = URLSessionDataProvider(answerLimit: 5, wholeLimit: 0.3, allowsPlainHTTPToLoopback: true)
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"
        try await ScriptedHTTPServer.with({ _ in [.send(head), .stall] }) { server in
            #expect(await code(server.url(), provider: short)?.code == .tookTooLong)
        }
    }

    @Test("A cancelled task ends its download at once")
    func cancellation() async throws {
        try await ScriptedHTTPServer.with({ _ in [.stall] }) { server in
            let text = server.url()
            let task = Task { await code(text) }
            task.cancel()
            #expect(await task.value?.code == .cancelled)
        }
    }

    @Test("Nothing listens: the connection fails")
    func noServer() async throws {
        let port = try await ScriptedHTTPServer.with({ _ in [] }) { $0.port }
        #expect(await code("http://127.0.0.1:\(port)/")?.code == .connectionFailed)
    }

    @Test("Plain HTTP is refused: everywhere by default, and with the setting everywhere but on loopback")
    func insecureURL() async throws {
        try await ScriptedHTTPServer.with({ _ in [.close] }) { server in
            #expect(await code(server.url(), provider: URLSessionDataProvider())?.code == .insecureURL)
            #expect(server.requests.isEmpty)
        }
        for text in [
            "http://pins.example.com/", "ftp://127.0.0.1/", "file:///etc/passwd", "http://127.0.0.1.example.com/",
        ] {
            #expect(await code(text)?.code == .insecureURL)
        }
    }

    @Test("A redirect to plain HTTP elsewhere is refused, one on loopback is followed, and not for ever")
    func redirects() async throws {
        let text = answer("200 OK", [], "{}")
        let away = "HTTP/1.1 302 Found\r\nLocation: http://pins.example.com/\r\nContent-Length: 0\r\n\r\n"
        let loop = "HTTP/1.1 302 Found\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n"
        let once = "HTTP/1.1 302 Found\r\nLocation: /list\r\nContent-Length: 0\r\n\r\n"
        let script: ScriptedHTTPServer.Script = { path in
            switch path {
            case "/away": [.send(away)]
            case "/loop": [.send(loop)]
            case "/once": [.send(once)]
            default: [.send(text), .close]
            }
        }
        try await ScriptedHTTPServer.with(script) { server in
            #expect(await code(server.url("/away"))?.code == .redirectRefused)
            #expect(await code(server.url("/loop"))?.code == .redirectRefused)
            #expect(await code(server.url("/once")) == nil)
        }
    }

    #if os(Linux)
    @Test("No validation is nothing that URLSession does here")
    func noValidation() async throws {
        let url = try #require(URL(string: "https://127.0.0.1/"))
        await #expect(throws: RemoteDataError.self) {
            try await provider.data(for: RemoteDataRequest(url: url, sslValidationStrategy: .noValidation))
        }
    }
    #endif
}
