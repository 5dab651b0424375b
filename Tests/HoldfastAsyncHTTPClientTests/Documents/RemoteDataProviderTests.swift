import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastNIOTesting
import HoldfastTesting
import NIOSSL
import Testing

/// The providers that have to behave alike.
enum ProviderKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case urlSession, asyncHTTPClient

    var testDescription: String { rawValue }

    func provider(
        answerLimit: Duration = .seconds(60), wholeLimit: Duration = .seconds(120),
        allowsPlainHTTPToLoopback: Bool = true,
        anchors: TrustAnchors = TrustAnchors([])
    ) -> any RemoteDataProvider {
        switch self {
        case .urlSession:
            URLSessionDataProvider(
                answerLimit: answerLimit, wholeLimit: wholeLimit, allowsPlainHTTPToLoopback: allowsPlainHTTPToLoopback)
        case .asyncHTTPClient:
            // Of plain HTTP it says that nothing is validated.
            PolicyLog.$shared.withValue(RecordingLog().policyLog) {
                AsyncHTTPClientDataProvider(
                    validator: PathValidator(anchors: anchors), answerLimit: answerLimit, wholeLimit: wholeLimit,
                    allowsPlainHTTPToLoopback: allowsPlainHTTPToLoopback)
            }
        }
    }
}

/// Requirements on every provider, tested against real servers on loopback.
@Suite("Downloads of documents", .timeLimit(.minutes(15)))
struct RemoteDataProviderTests {
    private func answer(_ status: String, _ headers: [String] = [], _ body: String) -> String {
        (["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)", "Connection: close"] + headers)
            .joined(separator: "\r\n") + "\r\n\r\n\(body)"
    }

    private func download(
        _ text: String, headers: [String: String] = [:], maximumBytes: Int = 1_000,
        validatesServer: Bool = true, by provider: any RemoteDataProvider
    ) async throws -> RemoteDataResponse {
        var request = RemoteDataRequest(
            url: try #require(URL(string: text)), headers: headers, maximumBytes: maximumBytes)
        request.validatesServer = validatesServer
        return try await provider.data(for: request)
    }

    private func error(
        _ text: String, headers: [String: String] = [:], maximumBytes: Int = 1_000,
        validatesServer: Bool = true, by provider: any RemoteDataProvider
    ) async -> RemoteDataError? {
        do {
            _ = try await download(
                text, headers: headers, maximumBytes: maximumBytes, validatesServer: validatesServer, by: provider)
            return nil
        } catch {
            if let error = error as? RemoteDataError { return error }
            Issue.record("another error: \(error)")
            return nil
        }
    }

    private func tls(_ certificate: TestCertificate) throws -> NIOSSLContext {
        try NIOSSLContext(configuration: .testServer(certificate))
    }

    @Test(
        "A document comes with its headers, and the request carries ours and no cookies",
        arguments: ProviderKind.allCases)
    func document(kind: ProviderKind) async throws {
        let text = answer("200 OK", ["ETag: \"v1\"", "Set-Cookie: a=b"], "{}")
        let provider = kind.provider()
        try await ScriptedHTTPServer.with({ _ in [.send(text), .close] }) { server in
            for _ in 0..<2 {
                let response = try await download(
                    server.url("/list?x=1"), headers: ["X-Cert-Pinning-Challenge": "AAEC"], by: provider)
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

    @Test("Informational responses before the document are not the answer", arguments: ProviderKind.allCases)
    func informational(kind: ProviderKind) async throws {
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"
        let text = "HTTP/1.1 100 Continue\r\n\r\n" + hints + hints + answer("200 OK", ["ETag: \"v1\""], "{}")
        try await ScriptedHTTPServer.with({ _ in [.send(text), .close] }) { server in
            let response = try await download(server.url(), by: kind.provider())
            #expect(response.content == .body(Data("{}".utf8)) && response.header("etag") == "\"v1\"")
        }
        try await ScriptedHTTPServer.with({ _ in [.send(hints), .close] }) { server in
            #expect(await error(server.url(), by: kind.provider()) != nil)
        }
    }

    @Test("An unchanged document is said to be so, where its entity tag was sent", arguments: ProviderKind.allCases)
    func notModified(kind: ProviderKind) async throws {
        let text = "HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\nConnection: close\r\n\r\n"
        let provider = kind.provider()
        try await ScriptedHTTPServer.with({ _ in [.send(text), .close] }) { server in
            let response = try await download(server.url(), headers: ["If-None-Match": "\"v1\""], by: provider)
            #expect(response.content == .notModified)
            #expect(server.requests.first?.contains("If-None-Match: \"v1\"\r\n") == true)
            #expect(await error(server.url(), by: provider)?.code == .unexpectedStatus)
        }
    }

    @Test(
        "Status codes are distinct errors", arguments: ProviderKind.allCases,
        [
            ("404 Not Found", 404, RemoteDataError.Code.clientError), ("403 Forbidden", 403, .clientError),
            ("500 Internal Server Error", 500, .serverError), ("503 Service Unavailable", 503, .serverError),
            ("204 No Content", 204, .unexpectedStatus), ("206 Partial Content", 206, .unexpectedStatus),
        ])
    func statuses(kind: ProviderKind, status: (line: String, number: Int, code: RemoteDataError.Code)) async throws {
        let text = answer(status.line, [], status.number == 204 ? "" : "x")
        try await ScriptedHTTPServer.with({ _ in [.send(text), .close] }) { server in
            let error = await error(server.url(), by: kind.provider())
            #expect(error?.code == status.code && error?.status == status.number)
        }
    }

    @Test("1 GiB is cut off by the limit while it arrives, announced or not", arguments: ProviderKind.allCases)
    func tooLarge(kind: ProviderKind) async throws {
        let gigabyte = 1 << 30
        let provider = kind.provider()
        for head in [
            "HTTP/1.1 200 OK\r\nContent-Length: \(gigabyte)\r\n\r\n", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
        ] {
            try await ScriptedHTTPServer.with({ _ in [.send(head), .flood(gigabyte), .close] }) { server in
                #expect(await error(server.url(), maximumBytes: 100_000, by: provider)?.code == .tooLarge)
            }
        }
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40000000\r\n"
        try await ScriptedHTTPServer.with({ _ in [.send(chunked), .flood(gigabyte), .close] }) { server in
            #expect(await error(server.url(), maximumBytes: 100_000, by: provider)?.code == .tooLarge)
        }
        let exact = answer("200 OK", [], String(repeating: "x", count: 1_000))
        try await ScriptedHTTPServer.with({ _ in [.send(exact), .close] }) { server in
            #expect(await error(server.url(), maximumBytes: 1_000, by: provider) == nil)
            #expect(await error(server.url(), maximumBytes: 999, by: provider)?.code == .tooLarge)
        }
    }

    @Test("Half a body is no document", arguments: ProviderKind.allCases)
    func halfABody(kind: ProviderKind) async throws {
        let heads = [
            "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\n{\"fingerprints\"",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n100\r\n{\"fingerprints\"",
        ]
        for head in heads {
            try await ScriptedHTTPServer.with({ _ in [.send(head), .close] }) { server in
                #expect(await error(server.url(), by: kind.provider())?.code == .connectionFailed)
            }
        }
    }

    @Test("An answer that is no HTTP, and none at all, is a failed connection", arguments: ProviderKind.allCases)
    func noHTTP(kind: ProviderKind) async throws {
        for steps: [ScriptedHTTPServer.Step] in [[.send("SSH-2.0-OpenSSH_9.6\r\n\r\n"), .close], [.close]] {
            try await ScriptedHTTPServer.with({ _ in steps }) { server in
                #expect(await error(server.url(), by: kind.provider())?.code == .connectionFailed)
            }
        }
    }

    @Test(
        "What the server calls its content makes no difference: it is verified, not believed",
        arguments: ProviderKind.allCases)
    func wrongContent(kind: ProviderKind) async throws {
        let text = answer("200 OK", ["Content-Type: text/html"], "<html>")
        try await ScriptedHTTPServer.with({ _ in [.send(text), .close] }) { server in
            let response = try await download(server.url(), by: kind.provider())
            #expect(response.content == .body(Data("<html>".utf8)))
            let key = "BC3kV9OIDnMuVoCdDR9nEA/JidJLTTDLuSA2TSZsGgODSshfbZg31MS90WC/HdbU/A5WL5GmyDkE/iks6INv+XE="
            let store = try CertStore(
                checking: CertStoreConfiguration(
                    serviceURL: try #require(URL(string: server.url())), publicKey: key),
                secureDataStore: InMemoryDataStore(), remoteDataProvider: kind.provider(),
                logger: RecordingLog().logger)
            let error = await #expect(throws: StoreError.self) { try await store.update() }
            #expect(error?.code == .invalidData)
        }
    }

    @Test(
        "A server that stalls before its answer, in it, or drips it byte by byte meets the limits",
        arguments: ProviderKind.allCases)
    func timeLimits(kind: ProviderKind) async throws {
        let quick = kind.provider(answerLimit: .milliseconds(200))
        let short = kind.provider(wholeLimit: .milliseconds(400))
        try await ScriptedHTTPServer.with({ _ in [.stall] }) { server in
            #expect(await error(server.url(), by: quick)?.code == .noAnswerInTime)
            #expect(await error(server.url(), by: short)?.code == .tookTooLong)
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"
        try await ScriptedHTTPServer.with({ _ in [.send(head), .stall] }) { server in
            #expect(await error(server.url(), by: short)?.code == .tookTooLong)
        }
        let body = String(repeating: "x", count: 100)
        try await ScriptedHTTPServer.with({ _ in [.send(head), .drip(body, milliseconds: 1_000)] }) { server in
            #expect(await error(server.url(), by: short)?.code == .tookTooLong)
        }
        // Each byte comes in time, and the head never ends.
        try await ScriptedHTTPServer.with({ _ in [.drip(head, milliseconds: 50)] }) { server in
            #expect(await error(server.url(), by: quick)?.code == .noAnswerInTime)
        }
    }

    @Test("A canceled task ends its download at once", arguments: ProviderKind.allCases)
    func cancellation(kind: ProviderKind) async throws {
        try await ScriptedHTTPServer.with({ _ in [.stall] }) { server in
            let text = server.url()
            let task = Task { await error(text, by: kind.provider()) }
            task.cancel()
            #expect(await task.value?.code == .canceled)
        }
    }

    @Test(
        "Nothing listens: the connection fails, and AsyncHTTPClient's error names the address",
        arguments: ProviderKind.allCases)
    func noServer(kind: ProviderKind) async throws {
        let port = try await ScriptedHTTPServer.with({ _ in [] }) { $0.port }
        for host in ["127.0.0.1", "localhost"] {
            let error = await error("http://\(host):\(port)/", by: kind.provider())
            #expect(error?.code == .connectionFailed)
            let found = error?.found ?? ""
            #expect(kind == .urlSession || found.contains("127.0.0.1:\(port): connection refused"), "\(found)")
        }
    }

    @Test(
        "Plain HTTP is refused: everywhere by default, and with the setting everywhere but on loopback",
        arguments: ProviderKind.allCases)
    func insecureURL(kind: ProviderKind) async throws {
        try await ScriptedHTTPServer.with({ _ in [.close] }) { server in
            let strict = kind.provider(allowsPlainHTTPToLoopback: false)
            #expect(await error(server.url(), by: strict)?.code == .insecureURL)
            #expect(server.requests.isEmpty)
        }
        for text in [
            "http://pins.example.com/", "ftp://127.0.0.1/", "file:///etc/passwd", "http://127.0.0.1.example.com/",
        ] {
            #expect(await error(text, by: kind.provider())?.code == .insecureURL)
        }
    }

    @Test(
        "A redirect to plain HTTP elsewhere is refused, one on loopback is followed, and not for ever",
        arguments: ProviderKind.allCases)
    func redirects(kind: ProviderKind) async throws {
        let text = answer("200 OK", [], "{}")
        func redirect(_ location: String) -> String {
            "HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
        }
        let (away, loop, once) = (redirect("http://pins.example.com/"), redirect("/loop"), redirect("/list"))
        let script: ScriptedHTTPServer.Script = { path in
            switch path {
            case "/away": [.send(away)]
            case "/loop": [.send(loop)]
            case "/once": [.send(once)]
            default: [.send(text), .close]
            }
        }
        let provider = kind.provider()
        try await ScriptedHTTPServer.with(script) { server in
            let refused = await error(server.url("/away"), by: provider)
            #expect(refused?.code == .redirectRefused && refused?.status == 302)
            #expect(await error(server.url("/loop"), by: provider)?.code == .redirectRefused)
            #expect(server.requests.count == 1 + 6)
            #expect(await error(server.url("/once"), by: provider) == nil)
        }
    }

    @Test("A redirect without a target is no document", arguments: ProviderKind.allCases)
    func redirectToNowhere(kind: ProviderKind) async throws {
        let text = answer("302 Found", [], "{}")
        try await ScriptedHTTPServer.with({ _ in [.send(text), .close] }) { server in
            let error = await error(server.url(), by: kind.provider())
            #expect(error?.code == .unexpectedStatus && error?.status == 302)
        }
    }

    // MARK: HTTPS

    @Test(
        "Over HTTPS a server that is not trusted is refused before it sees a request", arguments: ProviderKind.allCases)
    func untrusted(kind: ProviderKind) async throws {
        let text = answer("200 OK", [], "{}")
        let leaf = try TestAuthority.root().leaf(names: [.dns("localhost"), .address([127, 0, 0, 1])])
        try await ScriptedHTTPServer.with(tls: try tls(leaf), { _ in [.send(text), .close] }) { server in
            for host in ["localhost", "127.0.0.1"] {
                let url = server.url(scheme: "https", host: host)
                #expect(await error(url, by: kind.provider())?.code == .connectionFailed)
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test("Plain HTTP where TLS is due is a failed connection", arguments: ProviderKind.allCases)
    func noTLS(kind: ProviderKind) async throws {
        try await ScriptedHTTPServer.with({ _ in [.send("no TLS\r\n"), .close] }) { server in
            // A server that waits for the end of a head that never comes.
            let quick = kind.provider(answerLimit: .milliseconds(300))
            #expect(await error(server.url(scheme: "https"), by: quick)?.code == .noAnswerInTime)
        }
    }

    // FoundationNetworking on Linux takes its anchors from fixed paths, whatever the environment says: only the other
    // provider can be shown a server of a test's own that it trusts.

    @Test("AsyncHTTPClient: over HTTPS a document comes from a server that Holdfast's standard validation trusts")
    func trusted() async throws {
        let text = answer("200 OK", ["ETag: \"v1\""], "{}")
        let root = try TestAuthority.root()
        let leaf = try root.intermediate().leaf(names: [.dns("localhost"), .address([127, 0, 0, 1])])
        let provider = ProviderKind.asyncHTTPClient.provider(
            allowsPlainHTTPToLoopback: false, anchors: try TrustAnchors(der: [root.root]))
        try await ScriptedHTTPServer.with(tls: try tls(leaf), { _ in [.send(text), .close] }) { server in
            for host in ["localhost", "127.0.0.1"] {
                let response = try await download(server.url(scheme: "https", host: host), by: provider)
                #expect(response.content == .body(Data("{}".utf8)))
            }
            #expect(server.requests.count == 2)
        }
    }

    @Test("AsyncHTTPClient: a trusted authority's certificate for another name, or one that has expired, is refused")
    func standardValidation() async throws {
        let root = try TestAuthority.root()
        let expired = try root.leaf(names: [.dns("localhost")]) {
            $0.notBefore = .days(-2)
            $0.notAfter = .days(-1)
        }
        let provider = ProviderKind.asyncHTTPClient.provider(anchors: try TrustAnchors(der: [root.root]))
        for (leaf, code) in [
            (try root.leaf(names: [.dns("www.example.com")]), "hostNameMismatch"), (expired, "expired"),
        ] {
            try await ScriptedHTTPServer.with(tls: try tls(leaf), { _ in [.close] }) { server in
                let error = await error(server.url(scheme: "https", host: "localhost"), by: provider)
                #expect(error?.code == .connectionFailed && error?.found.contains("(\(code))") == true)
                #expect(server.requests.isEmpty)
            }
        }
    }

    @Test("AsyncHTTPClient: from HTTPS no redirect leads to plain HTTP, not even on loopback")
    func redirectToPlaintext() async throws {
        let root = try TestAuthority.root()
        let leaf = try root.leaf(names: [.dns("localhost")])
        let provider = ProviderKind.asyncHTTPClient.provider(anchors: try TrustAnchors(der: [root.root]))
        let document = answer("200 OK", [], "{}")
        try await ScriptedHTTPServer.with({ _ in [.send(document), .close] }) { plain in
            let target = plain.url()
            let script: ScriptedHTTPServer.Script = { _ in
                [.send("HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n"), .close]
            }
            try await ScriptedHTTPServer.with(tls: try tls(leaf), script) { server in
                let error = await error(server.url(scheme: "https", host: "localhost"), by: provider)
                #expect(error?.code == .redirectRefused)
                #expect(plain.requests.isEmpty && server.requests.count == 1)
            }
        }
    }

    @Test("AsyncHTTPClient: with noValidation any certificate will do, for documents that are signed as a whole")
    func noValidation() async throws {
        let text = answer("200 OK", [], "{}")
        let leaf = try TestAuthority.selfSigned(names: [.dns("www.example.com")])
        try await ScriptedHTTPServer.with(tls: try tls(leaf), { _ in [.send(text), .close] }) { server in
            let url = server.url(scheme: "https", host: "localhost")
            let provider = ProviderKind.asyncHTTPClient.provider()
            #expect(await error(url, validatesServer: false, by: provider) == nil)
            #expect(await error(url, by: provider)?.code == .connectionFailed)
        }
    }

    @Test("AsyncHTTPClient: anchors that are replaced count with the next download")
    func replacedAnchors() async throws {
        let text = answer("200 OK", [], "{}")
        let root = try TestAuthority.root()
        let other = try TestAuthority.root(name: "Another Root")
        let leaf = try root.leaf(names: [.dns("localhost")])
        let box = AnchorBox(try TrustAnchors(der: [other.root]))
        let store = try await TrustAnchorStore { box.current }
        let provider = AsyncHTTPClientDataProvider(
            validator: PathValidator(anchors: store), answerLimit: .seconds(60), wholeLimit: .seconds(120))
        try await ScriptedHTTPServer.with(tls: try tls(leaf), { _ in [.send(text), .close] }) { server in
            let url = server.url(scheme: "https", host: "localhost")
            #expect(await error(url, by: provider)?.code == .connectionFailed)
            box.current = try TrustAnchors(der: [root.root])
            #expect(try await store.reload())
            #expect(await error(url, by: provider) == nil)
        }
    }

    #if os(Linux)
    @Test("URLSession: no validation is nothing that it does here")
    func noValidationOfURLSession() async throws {
        let provider = ProviderKind.urlSession.provider()
        let error = await error("https://127.0.0.1/", validatesServer: false, by: provider)
        #expect(error?.code == .unsupported)
    }
    #endif

    @Test("Limits that are negative or endless do no harm", arguments: [Duration.seconds(-1), .seconds(Int64.max)])
    func oddLimits(limit: Duration) async throws {
        let text = answer("200 OK", [], "{}")
        let provider = ProviderKind.asyncHTTPClient.provider(answerLimit: limit, wholeLimit: limit)
        try await ScriptedHTTPServer.with({ _ in [.send(text), .close] }) { server in
            let error = await error(server.url(), by: provider)
            #expect(limit < .zero ? error != nil : error == nil)
        }
    }
}
