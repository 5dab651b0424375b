import AsyncHTTPClient
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("A connection on which the server says nothing", .timeLimit(.minutes(15)))
struct SilentConnectionTests {
    private static let silent = ScriptedOrigin.Script()
    private static let answering = ScriptedOrigin.Script(
        greeting: [HTTP2Octets.settings()],
        answer: { [HTTP2Octets.headers($0, ends: false) + HTTP2Octets.data($0, "ok")] }
    )
    private static let names = ["www.example.com", "api.example.com", "other.example.net"]

    private static func start(_ setting: HTTPSetting, _ script: ScriptedOrigin.Script) async throws -> ScriptedOrigin {
        let leaf = try setting.leaf("www.example.com", "api.example.com", "other.example.net")
        let context = try ScriptedOrigin.context(leaf, protocols: ["h2"])
        return try await ScriptedOrigin.start(context) { _ in script }
    }

    private static func start(
        _ count: Int, _ setting: HTTPSetting, _ script: ScriptedOrigin.Script
    ) async throws -> [ScriptedOrigin] {
        var origins: [ScriptedOrigin] = []
        for _ in 0..<count { origins.append(try await start(setting, script)) }
        return origins
    }

    private static func setting() throws -> HTTPSetting {
        let setting = try HTTPSetting()
        for name in names { try setting.trust(name) }
        return setting
    }

    @Test("is closed, although AsyncHTTPClient shows it to nobody")
    func closed() async throws {
        let setting = try Self.setting()
        let origin = try await Self.start(setting, Self.silent)
        try await setting.withClient({ $0.timeout.connect = .seconds(2) }) { client in
            await #expect(throws: HTTPClientError.connectTimeout) { _ = try await client.text(origin.url()) }
            try await waitUntil { origin.openConnections == 0 }
            #expect(origin.connections == 1)
        }
        await origin.shutdown()
    }

    @Test("is closed after the client is shut down")
    func closedByShutdown() async throws {
        let setting = try Self.setting()
        let origin = try await Self.start(setting, Self.silent)
        var limits = PinnedHTTPClient.Limits()
        limits.closing = .milliseconds(200)
        let client = try setting.client(limits: limits)
        let text = Task { try await client.text(origin.url()) }
        try await origin.waitForConnections(1)
        try await client.shutdown()
        await #expect(throws: (any Error).self) { _ = try await text.value }
        try await waitUntil { origin.openConnections == 0 }
        await origin.shutdown()
    }

    @Test("is closed after the client is let go of")
    func closedByRelease() async throws {
        let setting = try Self.setting()
        let origin = try await Self.start(setting, Self.silent)
        try await {
            let client = try setting.client { $0.timeout.connect = .seconds(2) }
            let request = HTTPClientRequest(url: origin.url())
            await #expect(throws: HTTPClientError.self) {
                _ = try await client.execute(request, timeout: .milliseconds(500))
            }
        }()
        try await waitUntil { origin.openConnections == 0 }
        await origin.shutdown()
    }

    @Test("takes no request from another host's connection, which ends when its last request does")
    func neighbor() async throws {
        let setting = try Self.setting()
        let held = HeldAnswer()
        var script = Self.answering
        script.held = held
        let (neighbor, silent) = (try await Self.start(setting, script), try await Self.start(setting, Self.silent))
        try await setting.withClient({ $0.timeout.connect = .seconds(5) }) { client in
            async let first = client.text(neighbor.url())
            try await held.waitForRequest()
            let lane = try #require(client.clients.all.first?.lane)
            let url = silent.url(host: "api.example.com")
            await #expect(throws: HTTPClientError.connectTimeout) { _ = try await client.text(url) }
            try await waitUntil { client.clients.state.withLock { $0.isCondemned(lane) } }
            // The next request has a connection on another lane.
            let response = Task { try await client.text(neighbor.url("/next")) }
            try await waitUntil { neighbor.requests == 2 }
            #expect(client.clients.all.contains { $0.lane !== lane })
            #expect(silent.openConnections == 1)
            held.release()
            #expect(try await first == "ok")
            #expect(try await response.value == "ok")
            #expect(Set(neighbor.requestConnections).count == 2)
            try await waitUntil { silent.openConnections == 0 }
            try await client.expectAnswer(neighbor.url())
            #expect(Set(neighbor.requestConnections).count == 2)
        }
        await neighbor.shutdown()
        await silent.shutdown()
    }

    @Test("is one of at most four to a host; a request for a fifth waits until its deadline")
    func four() async throws {
        let setting = try Self.setting()
        let origins = try await Self.start(5, setting, Self.silent)
        let other = try await Self.start(setting, Self.answering)
        var limits = PinnedHTTPClient.Limits()
        limits.closing = .milliseconds(200)
        try await setting.withClient(limits: limits) { client in
            let waiting = origins[..<4].map { origin in Task { try await client.text(origin.url()) } }
            for origin in origins[..<4] { try await origin.waitForConnections(1) }
            let fifth = origins[4].url()
            let request = HTTPClientRequest(url: fifth)
            let start = NIODeadline.now()
            let error = await #expect(throws: PinnedHTTPClientError.self) {
                _ = try await client.execute(request, timeout: .milliseconds(500))
            }
            #expect(error?.code == .silentPeer)
            #expect(NIODeadline.now() - start >= .milliseconds(500))
            #expect(origins[4].connections == 0)
            // Another host has its own four.
            try await client.expectAnswer(other.url(host: "api.example.com"))
            let canceled = Task { try await client.text(fifth) }
            try await waitUntil { client.clients.state.withLock { $0.isWaiting } }
            canceled.cancel()
            await #expect(throws: HTTPClientError.cancelled) { _ = try await canceled.value }
            for text in waiting {
                text.cancel()
                _ = await text.result
            }
        }
        for origin in origins + [other] { await origin.shutdown() }
    }

    @Test("is one of so many to new origins as the client allows; those that have answered before do not wait")
    func unanswered() async throws {
        let setting = try Self.setting()
        let (silent, other) = (
            try await Self.start(setting, Self.silent), try await Self.start(setting, Self.answering)
        )
        var limits = PinnedHTTPClient.Limits()
        limits.closing = .milliseconds(200)
        limits.unansweredConnections = 1
        try await setting.withClient(limits: limits) { client in
            try await client.expectAnswer(other.url())
            client.clients.retire { _ in true }
            try await waitUntil { client.clients.all.isEmpty }
            let text = Task { try await client.text(silent.url(host: "api.example.com")) }
            try await silent.waitForConnections(1)
            let request = HTTPClientRequest(url: other.url(host: "other.example.net"))
            let error = await #expect(throws: PinnedHTTPClientError.self) {
                _ = try await client.execute(request, timeout: .milliseconds(500))
            }
            #expect(error?.code == .silentPeer)
            try await client.expectAnswer(other.url())
            text.cancel()
            _ = await text.result
        }
        await silent.shutdown()
        await other.shutdown()
    }

    @Test("leaves its room to a request that waits, once it is given up")
    func room() async throws {
        let setting = try Self.setting()
        let (silent, other) = (
            try await Self.start(setting, Self.silent), try await Self.start(setting, Self.answering)
        )
        var limits = PinnedHTTPClient.Limits()
        limits.unansweredConnections = 1
        try await setting.withClient(limits: limits, { $0.timeout.connect = .seconds(2) }) { client in
            let text = Task { try await client.text(silent.url()) }
            try await silent.waitForConnections(1)
            try await client.expectAnswer(other.url(host: "api.example.com"))
            await #expect(throws: HTTPClientError.connectTimeout) { _ = try await text.value }
        }
        await silent.shutdown()
        await other.shutdown()
    }

    @Test("is no reason to refuse another: sixteen ports of one host are kept, idle ones make room, others stay")
    func ports() async throws {
        let setting = try Self.setting()
        let held = HeldAnswer()
        var script = Self.answering
        script.held = held
        let origins = try await Self.start(16, setting, script)
        let other = try await Self.start(setting, Self.answering)
        try await setting.withClient { client in
            let otherURL = other.url(host: "api.example.com")
            try await client.expectAnswer(otherURL)
            let busy = origins.map { origin in Task { try await client.text(origin.url()) } }
            try await waitUntil { origins.allSatisfy { $0.requests == 1 } }
            let error = await #expect(throws: PinnedHTTPClientError.self) { _ = try await client.text(other.url()) }
            #expect(error?.code == .tooManyOrigins)
            #expect(error?.expected.contains("ports") == true)
            try await client.expectAnswer(other.url(host: "other.example.net"))
            held.release()
            for text in busy { #expect(try await text.value == "ok") }
            try await client.expectAnswer(other.url())
            try await client.expectAnswer(otherURL)
            #expect(other.connections == 3)
        }
        for origin in origins + [other] { await origin.shutdown() }
    }
}
