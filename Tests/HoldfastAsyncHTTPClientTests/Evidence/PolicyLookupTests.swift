import Foundation
import Holdfast
import HoldfastTesting
import NIOHTTP1
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("The policy of a host", .timeLimit(.minutes(15)))
struct PolicyLookupTests {
    @Test("is looked up once before a decision; after it a number tells that nothing has changed")
    func decision() throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let evaluator = TrustEvaluator(
            manager: setting.manager, validator: PathValidator(anchors: try setting.anchors()),
            clock: setting.clock)
        let host = try DialedHost("www.example.com", port: 443)
        let chain = PresentedChain(try setting.leaf().chain)
        let before = setting.manager.lookups
        let look = try evaluator.look(at: HTTPOrigin(scheme: .https, host: host))
        #expect(setting.manager.lookups == before + 1)
        #expect(evaluator.evaluation(of: chain, under: look).decision.isTrusted)
        #expect(setting.manager.lookups == before + 1)
        #expect(evaluator.evaluation(of: chain, under: look).version == look.version)
    }

    @Test("is looked up twice for a request: before a connection is chosen, and when the request is on it")
    func pooledRequest() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try await withOrigin(try setting.leaf()) { origin in
            try await setting.withClient { client in
                try await client.expectAnswer(origin.url())
                let before = setting.manager.lookups
                for _ in 0..<3 { try await client.expectAnswer(origin.url()) }
                #expect(setting.manager.lookups == before + 6)
                #expect(origin.counters.accepted == 2)
            }
        }
    }

    @Test("is looked up once for a further connection, and twice for the request on it")
    func furtherConnection() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let decisions = Lock(0)
        setting.manager.addObserver { _ in decisions.withLock { $0 += 1 } }
        let closing: TestOrigin.Answer = { _ in .init(headers: ["connection": "close"]) }
        try await withOrigin(try setting.leaf(), answer: closing) { origin in
            try await setting.withClient { client in
                try await client.expectAnswer(origin.url())
                try await origin.waitForDisconnection()
                let (before, made) = (setting.manager.lookups, decisions.withLock { $0 })
                try await client.expectAnswer(origin.url())
                #expect(setting.manager.lookups == before + 3)
                #expect(decisions.withLock { $0 } == made + 1)
            }
        }
    }
}
