import AsyncHTTPClient
import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOHTTP1
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("A request that waited for a connection", .timeLimit(.minutes(15)))
struct QueuedRequestTests {
    private static let oneConnection: @Sendable (inout HTTPClient.Configuration) -> Void = {
        $0.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1
    }

    private static func http1(_ held: HeldAnswer) -> ScriptedOrigin.Script {
        let rest = Array("content-length: 2\r\n\r\nok".utf8)
        return ScriptedOrigin.Script(answer: { _ in [Array("HTTP/1.1 200 OK\r\n".utf8) + rest] }, held: held)
    }

    private static func http2(_ held: HeldAnswer) -> ScriptedOrigin.Script {
        ScriptedOrigin.Script(
            greeting: [HTTP2Octets.settings(streams: 1)],
            answer: { [HTTP2Octets.headers($0, ends: false) + HTTP2Octets.data($0, "ok")] }, held: held)
    }

    /// Two requests to a server that lets one at a time through; the second waits while `change` happens.
    private func run(
        _ version: String, _ setting: HTTPSetting, _ leaf: TestCertificate,
        body: HTTPClientRequest.Body? = nil, change: (PinnedHTTPClient) -> Void,
        after: (PinnedHTTPClient, ScriptedOrigin, Result<String, any Error>) async throws -> Void
    ) async throws {
        let context = try ScriptedOrigin.context(leaf, protocols: [version])
        let held = HeldAnswer()
        let script: @Sendable (Int) -> ScriptedOrigin.Script = { _ in
            version == "h2" ? Self.http2(held) : Self.http1(held)
        }
        try await withScriptedOrigin(context, script: script) { origin in
            try await setting.withClient(Self.oneConnection) { client in
                async let first = client.text(origin.url())
                try await held.waitForRequest()
                let queued = Task { try await client.text(origin.url("/queued")) { $0.body = body } }
                try await waitUntil { client.clients.requestsInFlight >= 2 }
                change(client)
                held.release()
                #expect(try await first == "ok")
                try await after(client, origin, await queued.result)
            }
        }
    }

    @Test(
        "does not go out on one whose evidence has ended meanwhile, but on a new one",
        arguments: ["http/1.1", "h2"])
    func evidence(version: String) async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let leaf = try setting.leaf()
        try await run(version, setting, leaf) { client in
            client.clients.retire { _ in true }
        } after: { _, origin, result in
            let text = try result.get()
            #expect(text == "ok")
            #expect(origin.requestConnections.count == 2)
            #expect(Set(origin.requestConnections).count == 2)
        }
    }

    @Test(
        "is refused when the certificate has ended meanwhile, and with it the connection",
        arguments: ["http/1.1", "h2"])
    func certificate(version: String) async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let leaf = try setting.leaf { $0.notAfter = .hours(1) }
        try await run(version, setting, leaf) { _ in
            setting.clock.advance(by: .seconds(3_700))
        } after: { _, origin, result in
            #expect(throws: TrustFailure.self) { _ = try result.get() }
            #expect(origin.requestConnections.count == 1)
        }
    }

    @Test("is refused when the pins have ended meanwhile", arguments: ["http/1.1", "h2"])
    func pins(version: String) async throws {
        let setting = try HTTPSetting()
        let leaf = try setting.leaf()
        let pins = try PinSet(
            pins: [leaf.publicKeyPin()], until: setting.clock.now.addingTimeInterval(3_600))
        let log = RecordingLog()
        let policy = try PolicyLog.$shared.withValue(log.policyLog) {
            try PinnedPolicy(host: HostPattern("www.example.com"), pins: pins)
        }
        setting.manager.add(policy: policy)
        try await run(version, setting, leaf) { _ in
            setting.clock.advance(by: .seconds(3_700))
        } after: { _, origin, result in
            #expect(throws: TrustFailure.self) { _ = try result.get() }
            #expect(origin.requestConnections.count == 1)
        }
    }

    @Test("is sent whole, with a body that can be read once", arguments: ["http/1.1", "h2"])
    func body(version: String) async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let (stream, continuation) = AsyncStream.makeStream(of: ByteBuffer.self)
        continuation.yield(ByteBuffer(string: "once"))
        continuation.finish()
        try await run(
            version, setting, try setting.leaf(), body: .stream(stream, length: .known(Int64(4)))
        ) { client in
            client.clients.retire { _ in true }
        } after: { _, origin, result in
            let text = try result.get()
            #expect(text == "ok")
            #expect(Set(origin.requestConnections).count == 2)
        }
    }
    @Test("goes out on another one if its connection ends at that moment because it is retired")
    func moment() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let context = try ScriptedOrigin.context(try setting.leaf(), protocols: ["h2"])
        let script = ScriptedOrigin.Script(
            greeting: [HTTP2Octets.settings()],
            answer: { [HTTP2Octets.headers($0, ends: false) + HTTP2Octets.data($0, "ok")] })
        try await withScriptedOrigin(context, script: { _ in script }) { origin in
            try await setting.withClient { client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            for _ in 0..<300 { try await client.expectAnswer(origin.url()) }
                        }
                    }
                    group.addTask {
                        for _ in 0..<150 {
                            client.clients.retire { _ in true }
                            try await client.expectAnswer(origin.url())
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }
}
