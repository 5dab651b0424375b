import Foundation
import Holdfast
import HoldfastTesting
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import HostMonitoring
@testable import ServerHTTP

@Suite("Downloading what is public", .timeLimit(.minutes(3)))
struct PublicDataProviderTests {
    /// Runs a web server that sends the same bytes to all clients.
    private func serving(_ bytes: [UInt8], _ body: (URL) async throws -> Void) async throws {
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Saying(bytes))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(try #require(URL(string: "http://127.0.0.1:\(port)/lists/bank.json"))))
        } catch {
            result = .failure(error)
        }
        try await channel.close().get()
        try result.get()
    }

    private final class Saying: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
        }
    }

    private func failure(_ text: String, maximumBytes: Int = 1_024) async throws -> RemoteDataError? {
        var failure: RemoteDataError?
        try await serving(Array(text.utf8)) { url in
            do {
                _ = try await PublicDataProvider().data(for: RemoteDataRequest(url: url, maximumBytes: maximumBytes))
            } catch {
                failure = error as? RemoteDataError
            }
        }
        return failure
    }

    @Test("A document arrives as it was sent, and one that is encoded, too large or somewhere else is refused")
    func answers() async throws {
        let good = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 5\r\n\r\nhello"
        try await serving(Array(good.utf8)) { url in
            let response = try await PublicDataProvider().data(for: RemoteDataRequest(url: url, maximumBytes: 5))
            #expect(response.content == .body(Data("hello".utf8)) && response.header("etag") == "\"a\"")
        }
        #expect(try await failure(good, maximumBytes: 4)?.code == .tooLarge)
        #expect(try await failure("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")?.status == 404)
        // URLSession would make 1,153,433,600 bytes of 260 like these.
        let encoded = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip, gzip\r\nContent-Length: 5\r\n\r\nhello"
        #expect(try await failure(encoded)?.found.contains("encoded") == true)
        for location in [
            "http://192.0.2.1/", "http://localhost.example.com/", "ftp://127.0.0.1/", "https://a:b@127.0.0.1/", "//",
        ] {
            let moved = "HTTP/1.1 302 Found\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
            #expect(try await failure(moved)?.code == .redirectRefused, "\(location)")
        }
        // In a circle.
        #expect(
            try await failure("HTTP/1.1 302 Found\r\nLocation: /lists/bank.json\r\nContent-Length: 0\r\n\r\n")?.code
                == .redirectRefused)
        let away = try #require(URL(string: "http://192.0.2.1/lists/bank.json"))
        let insecure = await #expect(throws: RemoteDataError.self) {
            try await PublicDataProvider().data(for: RemoteDataRequest(url: away))
        }
        #expect(insecure?.code == .insecureURL)
    }

    @Test("A redirect leads from TLS to TLS alone, and to this machine only from it")
    func redirects() throws {
        func target(_ location: String, from text: String) throws -> String? {
            let answer = HTTPExchange.Answer(status: 302, headers: ["Location": location], body: [])
            return try? PublicDataProvider.target(of: answer, from: #require(URL(string: text))).absoluteString
        }
        let pins = "https://pins.example.com/lists/a.json"
        #expect(try target("b.json", from: pins) == "https://pins.example.com/lists/b.json")
        #expect(try target("https://cdn.example.com/x", from: pins) == "https://cdn.example.com/x")
        for location in [
            "http://pins.example.com/", "https://localhost/", "https://127.0.0.1/", "https://[::1]/",
            "http://127.0.0.1/",
            "https://user@cdn.example.com/", "file:///etc/passwd", "", "https://ä/",
        ] {
            #expect(try target(location, from: pins) == nil, "\(location)")
        }
        #expect(try target("http://127.0.0.2/x", from: "http://127.0.0.1/y") == "http://127.0.0.2/x")
    }

    @Test("Over TLS a certificate has to count for the name, and nobody waits for a task that was canceled")
    func validated() async throws {
        // No authority of the system issued it.
        let leaf = try TestAuthority.root().leaf(names: [.dns("localhost")])
        try await withFolder { folder in
            let (chain, key) = (folder.appending(path: "chain.pem"), folder.appending(path: "key.pem"))
            try Data(leaf.pem.utf8).write(to: chain)
            try Data(leaf.key.privateKeyPEM.utf8).write(to: key)
            let settings = try ListenerSettings(
                host: "127.0.0.1", port: 0, identity: TLSIdentity(certificates: chain, key: key))
            try await ServingSite().listening(settings) { port in
                let url = try #require(URL(string: "https://localhost:\(port)/health/live"))
                let failure = await #expect(throws: RemoteDataError.self) {
                    try await PublicDataProvider().data(for: RemoteDataRequest(url: url))
                }
                #expect(failure?.code == .connectionFailed)
            }
        }
        // A server that says nothing: only the end of the task ends the wait before this test is out of time.
        try await serving([]) { url in
            let provider = PublicDataProvider(limit: .seconds(3_600))
            let asking = Task { try await provider.data(for: RemoteDataRequest(url: url)) }
            asking.cancel()
            await #expect(throws: RemoteDataError.self) { try await asking.value }
        }
    }
}
