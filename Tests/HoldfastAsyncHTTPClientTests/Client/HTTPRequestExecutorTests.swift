import AsyncHTTPClient
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastTesting
import NIOCore
import NIOHTTP1
import Testing

@Suite("Something that executes requests", .timeLimit(.minutes(15)))
struct HTTPRequestExecutorTests {
    /// A third-party library: it has its own transport, made from anything that executes requests.
    private struct Library {
        typealias Transport = @Sendable (_ method: String, _ url: String, _ body: [UInt8]) async throws -> [UInt8]
        let transport: Transport

        func upload(_ text: String, to url: String) async throws -> String {
            String(decoding: try await transport("POST", url, Array(text.utf8)), as: UTF8.self)
        }
    }

    private func library(on executor: any HTTPRequestExecutor) -> Library {
        Library { method, url, body in
            var request = HTTPClientRequest(url: url)
            request.method = .RAW(value: method)
            request.body = .bytes(ByteBuffer(bytes: body))
            let response = try await executor.execute(request, deadline: .now() + .seconds(60), logger: nil)
            return Array(buffer: try await response.body.collect(upTo: 1 << 20))
        }
    }

    @Test("can be a pinned client: the library's requests go to the pinned server, and to no other")
    func pinned() async throws {
        let setting = try HTTPSetting()
        let leaf = try setting.leaf()
        try setting.trust("www.example.com", pins: [try leaf.publicKeyPin()])
        try await withOrigin(leaf, answer: { .init(body: "\($0.method) \($0.body)") }) { origin in
            try await setting.withClient { client in
                let library = library(on: client)
                let answer = try await library.upload("text", to: origin.url())
                #expect(answer == "POST text")
                try setting.trust("www.example.com", pins: [try setting.leaf().publicKeyPin()])
                let failure = await #expect(throws: TrustFailure.self) {
                    _ = try await library.upload("text", to: origin.url())
                }
                #expect(failure?.code == .pinMismatch)
                #expect(origin.counters.requests.count == 1)
            }
        }
    }

    @Test("can be AsyncHTTPClient's own client")
    func plain() async throws {
        var options = TestOrigin.Options()
        options.isPlain = true
        try await withOrigin(nil, options: options) { origin in
            let url = origin.url(host: "127.0.0.1", scheme: "http")
            let answer = try await library(on: HTTPClient.shared).upload("text", to: url)
            #expect(answer == "ok")
        }
    }
}
