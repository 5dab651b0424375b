import AsyncHTTPClient
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("A server that says nothing after the handshake", .timeLimit(.minutes(15)))
struct SilentServerTests {
    private static let silent = ScriptedOrigin.Script()
    private static let answering = ScriptedOrigin.Script(
        greeting: [HTTP2Octets.settings()], answer: { [HTTP2Octets.headers($0)] })

    /// Ends with its connection.
    private static let never: @Sendable (any Channel) -> EventLoopFuture<Void> = { $0.closeFuture }

    /// Longer than a handshake takes on a busy machine.
    private static let patience = TimeAmount.seconds(8)

    private static var limits: PinnedHTTPClient.Limits {
        var limits = PinnedHTTPClient.Limits()
        limits.closing = .milliseconds(200)
        return limits
    }

    @Test("keeps one request waiting, for the connect timeout, and none after it")
    func once() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let context = try ScriptedOrigin.context(try setting.leaf(), protocols: ["h2"])
        try await withScriptedOrigin(context, script: { $0 == 1 ? Self.silent : Self.answering }) { origin in
            try await setting.withClient(limits: Self.limits, { $0.timeout.connect = Self.patience }) { client in
                await #expect(throws: HTTPClientError.connectTimeout) { _ = try await client.text(origin.url()) }
                try await client.expectAnswer(origin.url(), "")
                #expect(origin.requests == 1)
            }
        }
    }

    @Test("does not keep a request that came later waiting any longer than the first")
    func later() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let context = try ScriptedOrigin.context(try setting.leaf(), protocols: ["h2"])
        try await withScriptedOrigin(context, script: { $0 == 1 ? Self.silent : Self.answering }) { origin in
            try await setting.withClient(limits: Self.limits, { $0.timeout.connect = Self.patience }) { client in
                let first = Task { try await client.text(origin.url()) }
                try await origin.waitForConnections(1)
                try await client.expectAnswer(origin.url(), "")
                await #expect(throws: HTTPClientError.connectTimeout) { _ = try await first.value }
            }
        }
    }

    @Test("beside a connection that said goodbye and still answers keeps no later request waiting")
    func draining() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let context = try ScriptedOrigin.context(try setting.leaf(), protocols: ["h2"])
        let leaving = ScriptedOrigin.Script(
            greeting: [HTTP2Octets.settings()],
            answer: { [HTTP2Octets.goAway(last: $0) + HTTP2Octets.headers($0, ends: false)] })
        let scripts = [leaving, Self.silent]
        try await withScriptedOrigin(
            context, script: { $0 <= scripts.count ? scripts[$0 - 1] : Self.answering }
        ) { origin in
            try await setting.withClient(limits: Self.limits, { $0.timeout.connect = Self.patience }) { client in
                let first = try await client.execute(HTTPClientRequest(url: origin.url()), timeout: .seconds(60))
                let gate = try #require(client.clients.all.first?.gate)
                await #expect(throws: HTTPClientError.self) { _ = try await client.text(origin.url()) }
                try await waitUntil { gate.isRetired }
                try await client.expectAnswer(origin.url(), "")
                #expect(origin.requestConnections == [1, 3])
                #expect(gate.connectionCount == 1)
                _ = first
            }
        }
    }

    @Test("does not keep a client from ending")
    func shutdown() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let context = try ScriptedOrigin.context(try setting.leaf(), protocols: ["h2"])
        try await withScriptedOrigin(context, script: { _ in Self.silent }) { origin in
            let client = try setting.client(limits: Self.limits)
            let request = HTTPClientRequest(url: origin.url())
            await #expect(throws: HTTPClientError.deadlineExceeded) {
                _ = try await client.execute(request, timeout: .milliseconds(300))
            }
            try await client.shutdown()
            #expect(client.clients.all.isEmpty)
        }
    }

    @Test("does not keep a client from ending with a request that waits")
    func shutdownWhileWaiting() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let context = try ScriptedOrigin.context(try setting.leaf(), protocols: ["h2"])
        try await withScriptedOrigin(context, script: { _ in Self.silent }) { origin in
            let client = try setting.client(limits: Self.limits)
            let text = Task { try await client.text(origin.url()) }
            try await origin.waitForConnections(1)
            try await client.shutdown(waitingAtMost: .milliseconds(100))
            await #expect(throws: (any Error).self) { _ = try await text.value }
        }
    }

    @Test("while it is judged ends with the client, at once")
    func shutdownWhileJudged() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let context = try ScriptedOrigin.context(try setting.leaf(), protocols: ["h2"])
        try await withScriptedOrigin(context, script: { _ in Self.answering }) { origin in
            // Longer than the test may take.
            let client = try setting.client { $0.http2ConnectionDebugInitializer = Self.never }
            let text = Task { try await client.text(origin.url()) }
            try await origin.waitForConnections(1)
            try await client.shutdown()
            await #expect(throws: (any Error).self) { _ = try await text.value }
            #expect(origin.requests == 0)
        }
    }

    @Test("and whose application's own initializer never ends keeps a request for no longer than the connect timeout")
    func initializer() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let context = try ScriptedOrigin.context(try setting.leaf(), protocols: ["h2"])
        try await withScriptedOrigin(context, script: { _ in Self.answering }) { origin in
            try await setting.withClient(
                limits: Self.limits,
                {
                    $0.timeout.connect = Self.patience
                    $0.http2ConnectionDebugInitializer = Self.never
                }
            ) { client in
                await #expect(throws: (any Error).self) { _ = try await client.text(origin.url()) }
                #expect(origin.requests == 0)
            }
        }
    }
}
