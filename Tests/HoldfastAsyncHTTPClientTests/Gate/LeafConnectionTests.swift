import AsyncHTTPClient
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("A connection that its leaf alone let in, once its policy wants to know more", .timeLimit(.minutes(15)))
struct LeafConnectionTests {
    private let setting: HTTPSetting
    private let leaf: TestCertificate
    private let decisions = Lock<[TrustDecision]>([])

    init() throws {
        setting = try HTTPSetting()
        leaf = try setting.leaf()
        let decisions = decisions
        setting.manager.addObserver { decision in decisions.withLock { $0.append(decision) } }
    }

    private func pinOnly(_ pinned: TestCertificate) throws {
        setting.manager.add(
            policy: try PinnedPolicy(
                host: HostPattern("www.example.com"), pins: PinSet(pins: [pinned.publicKeyPin()]),
                certificatePinOnly: true))
    }

    /// A request whose answer comes after `change`.
    private func run(
        _ version: String, change: (PinnedHTTPClient) async throws -> Void,
        after: (PinnedHTTPClient, ScriptedOrigin, Result<String, any Error>) async throws -> Void
    ) async throws {
        let context = try ScriptedOrigin.context(leaf, protocols: [version])
        let held = HeldAnswer()
        let script: @Sendable (Int) -> ScriptedOrigin.Script = { _ in
            guard version == "h2" else {
                return .init(
                    answer: { _ in [Array("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok".utf8)] }, held: held)
            }
            return .init(
                greeting: [HTTP2Octets.settings()],
                answer: { [HTTP2Octets.headers($0, ends: false) + HTTP2Octets.data($0, "ok")] }, held: held)
        }
        try pinOnly(leaf)
        try await withScriptedOrigin(context, script: script) { origin in
            try await setting.withClient { client in
                let first = Task { try await client.text(origin.url()) }
                try await held.waitForRequest()
                #expect(decisions.withLock { $0.map { $0.chain?.certificates.count } } == [1])
                try await change(client)
                held.release()
                try await after(client, origin, await first.result)
            }
        }
    }

    @Test(
        "finishes its request, takes no other, and nobody hears of a rejection: the server is as good as before",
        arguments: ["h2", "http/1.1"])
    func issuerPinned(version: String) async throws {
        try await run(version) { client in
            let gate = try #require(client.clients.all.first?.gate)
            try pinOnly(setting.issuing.certificate)
            // The change is heard of.
            try await waitUntil { gate.isRetired }
        } after: { client, origin, result in
            #expect((try? result.get()) == "ok")
            try await client.expectAnswer(origin.url())
            #expect(origin.requestConnections.count == 2)
            #expect(Set(origin.requestConnections).count == 2)
        }
        #expect(decisions.withLock { $0.allSatisfy(\.isTrusted) })
    }

    @Test(
        "ends with its request when the whole chain is refused, which is what is told", arguments: ["h2", "http/1.1"])
    func otherPinned(version: String) async throws {
        try await run(version) { client in
            let gate = try #require(client.clients.all.first?.gate)
            try pinOnly(try setting.leaf())
            try await waitUntil { gate.connectionCount == 0 }
        } after: { client, origin, result in
            #expect(throws: (any Error).self) { _ = try result.get() }
            #expect(await client.refusal(origin.url())?.code == .pinMismatch)
            #expect(origin.requestConnections.count == 1)
        }
        let rejections = decisions.withLock { $0.filter { !$0.isTrusted } }
        #expect(!rejections.isEmpty)
        #expect(rejections.allSatisfy { $0.chain?.certificates.count == 2 })
    }

    @Test("stays when another policy trusts its leaf alone as well")
    func sameLeaf() async throws {
        try await run("h2") { _ in
            try pinOnly(leaf)
        } after: { client, origin, result in
            #expect((try? result.get()) == "ok")
            try await client.expectAnswer(origin.url())
            #expect(Set(origin.requestConnections).count == 1)
        }
    }
}
