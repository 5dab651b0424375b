import AsyncHTTPClient
import Holdfast
import HoldfastTesting
import NIOCore
import NIOHTTP1
import NIOHTTP2
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("Over HTTP/2", .timeLimit(.minutes(15)))
struct HTTP2Tests {
    private var options: TestOrigin.Options {
        var options = TestOrigin.Options()
        options.protocols = ["h2", "http/1.1"]
        return options
    }

    @Test("the first sight of a server costs one handshake and the start of another, and requests share a connection")
    func shared() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try await withOrigin(try setting.leaf(), options: options) { origin in
            try await setting.withClient { client in
                try await client.expectAnswer(origin.url())
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<20 { group.addTask { try await client.expectAnswer(origin.url()) } }
                    try await group.waitForAll()
                }
                try await origin.expectHandshakes(1)
                #expect(origin.counters.protocols == ["h2"])
                #expect(origin.counters.accepted == 2)
            }
        }
    }

    @Test("a server that is refused gets the preface and settings, and no stream")
    func refused() async throws {
        let setting = try HTTPSetting()
        let leaf = try setting.leaf()
        try setting.trust("www.example.com", pins: [try leaf.publicKeyPin()])
        try await withOrigin(try setting.issuing.impersonate(leaf), options: options) { origin in
            try await setting.withClient { client in
                #expect(await client.refusal(origin.url())?.code == .pinMismatch)
                try await origin.waitForDisconnection()
                #expect(origin.counters.requests.isEmpty)
                // The preface has 24 bytes, SETTINGS at most 27 here, their acknowledgment 9.
                #expect(origin.counters.plaintextBytes <= 60)
            }
        }
    }

    @Test(
        "frames that a server sends while it is judged do not reach a pool that does not have the connection yet",
        arguments: ["goAway", "settings", "many", "goAway and refused"])
    func earlyFrames(kind: String) async throws {
        let setting = try HTTPSetting()
        let leaf = try setting.leaf()
        try setting.trust(
            "www.example.com", pins: kind.hasSuffix("refused") ? [try setting.leaf().publicKeyPin()] : [])
        var options = options
        let fewer = HTTP2Frame.FramePayload.settings(
            .settings([HTTP2Setting(parameter: .maxConcurrentStreams, value: 7)]))
        let goAway = HTTP2Frame.FramePayload.goAway(
            lastStreamID: .maxID, errorCode: .noError, opaqueData: nil)
        options.http2Greeting =
            switch kind {
            case "settings": [fewer]
            case "many": Array(repeating: fewer, count: 10_000)
            default: [goAway]
            }
        try await withOrigin(leaf, options: options) { origin in
            try await setting.withClient { client in
                switch kind {
                case "settings":
                    try await client.expectAnswer(origin.url())
                case "goAway and refused":
                    #expect(await client.refusal(origin.url())?.code == .pinMismatch)
                    #expect(origin.counters.requests.isEmpty)
                case "many":
                    // More than are held end the connection. On a busy machine some come after the verdict: then the pool
                    // takes them as it takes any, or NIOHTTP2 finds them too many and the guard ends the connection.
                    do {
                        try await client.expectAnswer(origin.url())
                        #expect(origin.counters.requests.count == 1)
                    } catch {
                        let isMalformed = (error as? PinnedHTTPClientError)?.code == .malformedResponse
                        #expect(error as? HTTPClientError == .remoteConnectionClosed || isMalformed, "\(error)")
                        // The request may have gone out before the frames came that end the connection.
                        #expect(origin.counters.requests.count <= 1)
                    }
                default:
                    // The verdict may be there first: then the pool has the connection, and ends the request itself, or
                    // NIOHTTP2 refuses its stream.
                    let error = await #expect(throws: (any Error).self) { _ = try await client.text(origin.url()) }
                    #expect(error is HTTPClientError || error is any NIOHTTP2Error, "\(String(describing: error))")
                    #expect(origin.counters.requests.isEmpty)
                }
            }
            try await origin.waitForDisconnection()
        }
    }

    @Test("a connection ends when its host's policy gets stricter, with the requests on it")
    func stricterPolicy() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try await withOrigin(try setting.leaf(), options: options, answer: { _ in .init(stalls: true) }) { origin in
            try await setting.withClient { client in
                let response = try await client.execute(HTTPClientRequest(url: origin.url()), timeout: .minutes(5))
                try setting.trust("www.example.com", pins: [try setting.leaf().publicKeyPin()])
                try await origin.waitForDisconnection()
                await #expect(throws: (any Error).self) { _ = try await response.body.collect(upTo: 1_000) }
                #expect(await client.refusal(origin.url())?.code == .pinMismatch)
                #expect(origin.counters.requests.count == 1)
            }
        }
    }
}
