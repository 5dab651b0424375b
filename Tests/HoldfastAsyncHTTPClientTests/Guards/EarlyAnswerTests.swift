import AsyncHTTPClient
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOHTTP1
import Testing

@testable import HoldfastAsyncHTTPClient

/// AsyncHTTPClient stops the process when something happens to a request that it takes for answered: nothing here may
/// get that far. That the test goes on is what it tests.
@Suite("A server that answers before it has the whole request", .timeLimit(.minutes(15)))
struct EarlyAnswerTests {
    /// The server's action on the stream, or the connection, once it has answered.
    enum Ending: String, CaseIterable, Sendable {
        case nothing, noError, cancel, goAway, goAwayAndReset, unfinishedAndReset, rejection, close

        func frames(_ stream: UInt32) -> [[UInt8]] {
            let answer = HTTP2Octets.headers(stream, ends: false) + HTTP2Octets.data(stream, "early")
            return switch self {
            case .nothing, .close: [answer]
            case .noError: [answer + HTTP2Octets.reset(stream, code: 0)]
            case .cancel: [answer, HTTP2Octets.reset(stream)]
            case .goAway: [answer, HTTP2Octets.goAway(last: stream)]
            case .goAwayAndReset: [answer + HTTP2Octets.goAway(last: stream) + HTTP2Octets.reset(stream, code: 0)]
            case .unfinishedAndReset:
                [HTTP2Octets.headers(stream, ends: false), HTTP2Octets.reset(stream, code: 0)]
            // Status 404 of HPACK's static table.
            case .rejection: [HTTP2Octets.headers(stream, block: [0x8D]), HTTP2Octets.reset(stream, code: 0)]
            }
        }

        var octets: [[UInt8]] {
            let answer = Array("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nearly".utf8)
            return switch self {
            case .unfinishedAndReset: [Array("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nearly".utf8)]
            case .rejection: [Array("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".utf8)]
            case .goAwayAndReset: [answer + answer]
            default: [answer]
            }
        }

        /// Whether the connection ends with the answer.
        func closes(_ version: String) -> Bool {
            self == .close || version == "http/1.1" && [.cancel, .unfinishedAndReset, .rejection].contains(self)
        }
    }

    /// When the request's body ends.
    enum BodyEnd: String, CaseIterable, Sendable {
        /// After the response, or its beginning, is there.
        case afterTheAnswer
        /// Never: the client is shut down first.
        case withTheClient
        /// Never: the task that sends it is canceled first.
        case withItsTask
    }

    private static func script(_ version: String, _ ending: Ending, at place: ScriptedOrigin.Script.Place)
        -> @Sendable (Int) -> ScriptedOrigin.Script
    {
        { connection in
            var script = ScriptedOrigin.Script()
            if version == "h2" { script.greeting = [HTTP2Octets.settings()] }
            guard connection == 1 else {
                script.answer = { stream in
                    version == "h2"
                        ? [HTTP2Octets.headers(stream)] : [Array("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".utf8)]
                }
                return script
            }
            script.place = place
            script.answer = { version == "h2" ? ending.frames($0) : ending.octets }
            script.closesAfterAnswer = ending.closes(version)
            return script
        }
    }

    @Test(
        "kills nothing, whatever it does next, and however the body ends",
        arguments: ["h2", "http/1.1"], Ending.allCases)
    func everyEnding(version: String, ending: Ending) async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let context = try ScriptedOrigin.context(try setting.leaf(), protocols: [version])
        for place in ScriptedOrigin.Script.Place.allCases {
            for end in BodyEnd.allCases {
                try await withScriptedOrigin(context, script: Self.script(version, ending, at: place)) { origin in
                    try await Self.meet(origin, setting, end)
                }
            }
        }
    }

    private static func meet(_ origin: ScriptedOrigin, _ setting: HTTPSetting, _ end: BodyEnd) async throws {
        var limits = PinnedHTTPClient.Limits()
        limits.closing = .seconds(1)
        let client = try setting.client(limits: limits)
        let (body, parts) = AsyncStream.makeStream(of: ByteBuffer.self)
        // This server opens no window of HTTP/2 beyond the first 64 kB: more than that never gets its body's end through,
        // and then the response has none either.
        let part = ByteBuffer(repeating: 7, count: end == .afterTheAnswer ? 10_000 : 60_000)
        for _ in 0..<3 { parts.yield(part) }
        var request = HTTPClientRequest(url: origin.url())
        request.method = .POST
        request.body = .stream(body, length: .unknown)
        let sent = request
        let (heads, seen) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            defer { seen.finish() }
            // Whatever it ends with: it ends.
            guard let response = try? await client.execute(sent, timeout: .seconds(20)) else { return }
            seen.yield()
            _ = try? await response.body.collect(upTo: 1_000)
        }
        for await _ in heads { break }
        switch end {
        case .afterTheAnswer: break
        case .withTheClient: try await client.shutdown()
        case .withItsTask: task.cancel()
        }
        parts.yield(ByteBuffer(string: "rest"))
        parts.finish()
        await task.value
        guard end != .withTheClient else { return }
        // The client is as good as ever; the first connection may have ended meanwhile.
        _ = try? await client.execute(HTTPClientRequest(url: origin.url()), timeout: .seconds(20))
        try await client.shutdown()
    }
}
