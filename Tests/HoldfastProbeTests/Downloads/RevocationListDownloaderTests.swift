import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastTesting
import NIOSSL
import Testing

/// The command's downloads of revocation lists, also from servers over https.
@Suite("Downloads of revocation lists", .timeLimit(.minutes(15)))
struct RevocationListDownloaderTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nlist"

    private let root: TestAuthority
    private let leaf: TestCertificate

    init() throws {
        root = try TestAuthority.root()
        leaf = try root.leaf(names: ["localhost"])
    }

    private func downloader(
        answerLimit: Duration = .seconds(60), wholeLimit: Duration = .seconds(120)
    ) throws -> RevocationListDownloader {
        let anchors = try TrustAnchors(der: [root.root])
        return RevocationListDownloader(answerLimit: answerLimit, wholeLimit: wholeLimit) { anchors }
    }

    /// A server over https.
    private func with(
        _ steps: [ScriptedHTTPServer.Step], serving certificate: TestCertificate? = nil,
        _ body: (ScriptedHTTPServer) async throws -> Void
    ) async throws {
        let tls = try NIOSSLContext(configuration: .testServer(certificate ?? leaf))
        try await ScriptedHTTPServer.with(tls: tls, { _ in steps }, body)
    }

    private func download(
        from server: ScriptedHTTPServer, scheme: String = "https", by downloader: RevocationListDownloader
    ) async throws -> RemoteDataResponse {
        let url = try #require(URL(string: server.url("/a.crl", scheme: scheme, host: "localhost")))
        var request = RemoteDataRequest(url: url, maximumBytes: 1_000)
        request.allowsPlainHTTP = true
        return try await downloader.data(for: request)
    }

    private func error(
        from server: ScriptedHTTPServer, by downloader: RevocationListDownloader,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> RemoteDataError? {
        await #expect(throws: RemoteDataError.self, sourceLocation: sourceLocation) {
            try await download(from: server, by: downloader)
        }
    }

    @Test("Over https a list comes from a server that the system's authorities vouch for, and from no other")
    func servers() async throws {
        let list = RemoteDataResponse.Content.body(Data("list".utf8))
        try await with([.send(Self.ok), .close]) { server in
            let response = try await download(from: server, by: downloader())
            #expect(response.content == list)
            // Those of the machine do not know the authority of this test.
            #expect(await error(from: server, by: RevocationListDownloader())?.code == .connectionFailed)
            #expect(server.requests.count == 1)
        }
        try await with([.send(Self.ok), .close], serving: root.leaf(names: ["other.example"])) { server in
            let error = await error(from: server, by: try downloader())
            #expect(error?.found.contains("hostNameMismatch") == true)
            #expect(server.requests.isEmpty)
        }
        // A list is signed, so over plain HTTP no server has to be vouched for.
        try await ScriptedHTTPServer.with({ _ in [.send(Self.ok), .close] }) { server in
            let response = try await download(from: server, scheme: "http", by: downloader())
            #expect(response.content == list)
        }
    }

    @Test("Without the system's authorities a list over https is an error that says so, and nothing is asked for")
    func noAuthorities() async throws {
        let missing = TrustAnchorError(.noneFound, expected: "authorities of the system", found: "none here")
        try await with([.send(Self.ok), .close]) { server in
            let downloader = RevocationListDownloader { throw missing }
            let error = await error(from: server, by: downloader)
            #expect(error?.code == .connectionFailed && error?.found == missing.found)
            #expect(server.requests.isEmpty)
        }
    }

    @Test("Over https a server that stalls or sends byte by byte meets the limits of time")
    func times() async throws {
        let quick = try downloader(answerLimit: .milliseconds(300))
        let short = try downloader(wholeLimit: .milliseconds(600))
        try await with([.stall]) { server in
            #expect(await error(from: server, by: quick)?.code == .noAnswerInTime)
            #expect(await error(from: server, by: short)?.code == .tookTooLong)
        }
        // Each byte comes in time, and the head never ends.
        try await with([.drip(Self.ok, milliseconds: 50)]) { server in
            #expect(await error(from: server, by: quick)?.code == .noAnswerInTime)
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
        try await with([.send(head), .drip(String(repeating: "x", count: 100), milliseconds: 1_000)]) { server in
            #expect(await error(from: server, by: short)?.code == .tookTooLong)
        }
        let plain = try downloader(answerLimit: .milliseconds(300))
        try await ScriptedHTTPServer.with({ _ in [.stall] }) { server in
            let error = await #expect(throws: RemoteDataError.self) {
                try await download(from: server, scheme: "http", by: plain)
            }
            #expect(error?.code == .noAnswerInTime)
        }
    }

    @Test("Over https no more is read than a list may have, in one part, in chunks of one byte, or in header lines")
    func sizes() async throws {
        let downloader = try downloader()
        for announced in ["Content-Length: 1000000\r\n", ""] {
            let head = "HTTP/1.1 200 OK\r\n\(announced)Connection: close\r\n\r\n"
            try await with([.send(head), .flood(1_000_000), .close]) { server in
                #expect(await error(from: server, by: downloader)?.code == .tooLarge)
            }
        }
        let chunks = String(repeating: "1\r\nx\r\n", count: 100_000)
        try await with([.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), .send(chunks), .stall]) {
            server in
            #expect(await error(from: server, by: downloader)?.code == .tooLarge)
        }
        let fields = (0..<100_000).map { "x-\($0): y\r\n" }.joined()
        try await with([.send("HTTP/1.1 200 OK\r\n" + fields), .stall]) { server in
            let error = await error(from: server, by: downloader)
            #expect(error?.code == .connectionFailed && error?.found.contains("more fields") == true, "\(error as Any)")
        }
    }
}
