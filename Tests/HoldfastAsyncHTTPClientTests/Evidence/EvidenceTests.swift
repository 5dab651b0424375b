import Foundation
import Holdfast
import HoldfastTesting
import NIOCore
import NIOHTTP1
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("Evidence about a leaf", .timeLimit(.minutes(15)))
struct EvidenceTests {
    private static let closing: TestOrigin.Answer = { _ in .init(headers: ["connection": "close"]) }

    @Test("is looked for again when the server has two certificates")
    func twoCertificates() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let leaves = [try setting.leaf(), try setting.leaf()]
        var options = TestOrigin.Options()
        options.certificate = { leaves[$0 % 2] }
        try await withOrigin(nil, options: options, answer: Self.closing) { origin in
            try await setting.withClient { client in
                try await client.expectAnswer(origin.url())
                // The connection, another certificate at the same time, then one after the other until it is the same.
                #expect((3...4).contains(origin.counters.accepted))
                try await origin.waitForDisconnection()
                // The one or the other.
                try await client.expectAnswer(origin.url())
                try await origin.expectHandshakes(2)
            }
        }
    }

    @Test("that does not come up refuses the connection")
    func certificatesDiffer() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let issuing = setting.issuing
        var options = TestOrigin.Options()
        options.certificate = { _ in try issuing.leaf(names: ["www.example.com"]) }
        try await withOrigin(nil, options: options) { origin in
            try await setting.withClient { client in
                #expect(await client.clientError(origin.url()) == .certificatesDiffer)
                // The connection, the handshake at the same time, four more.
                #expect(origin.counters.accepted == 6)
                try await expectNoRequest(origin)
            }
        }
    }

    @Test("is collected once for connections that need it at one time")
    func shared() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try await withOrigin(try setting.leaf()) { origin in
            try await setting.withClient { client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<8 { group.addTask { try await client.expectAnswer(origin.url()) } }
                    try await group.waitForAll()
                }
                let collected = client.clients.all.reduce(0) { $0 + $1.gate.evidenceHandshakes }
                #expect(origin.counters.requests.count == 8)
                // Connections that come while it is under way share it; one that comes just after knows it.
                #expect(collected <= 2)
            }
        }
    }

    @Test("is not kept when the server is refused")
    func refusalsAreNotKept() async throws {
        let setting = try HTTPSetting()
        setting.manager.add(
            policy: try PinnedPolicy(
                host: HostPattern("www.example.com"), pins: PinSet(pins: [setting.leaf().publicKeyPin()]),
                certificatePinOnly: true))
        try await withOrigin(try setting.leaf()) { origin in
            try await setting.withClient { client in
                #expect(await client.refusal(origin.url())?.code == .pinMismatch)
                #expect(client.evidence.count == 0)
                try setting.trust("www.example.com")
                try await client.expectAnswer(origin.url())
                #expect(client.evidence.count == 1)
            }
        }
    }

    @Test("serves every host that shows the leaf, each judged by its own policy")
    func severalHosts() async throws {
        let setting = try HTTPSetting()
        let leaf = try setting.leaf("www.example.com", "api.example.com")
        try setting.trust("www.example.com")
        try setting.trust("api.example.com", pins: [try setting.leaf().publicKeyPin()])
        try await withOrigin(leaf) { origin in
            try await setting.withClient { client in
                try await client.expectAnswer(origin.url())
                #expect(await client.refusal(origin.url(host: "api.example.com"))?.code == .pinMismatch)
                #expect(origin.counters.requests.count == 1)
            }
        }
    }

    @Test("is bounded, the oldest makes room")
    func bound() throws {
        let setting = try HTTPSetting()
        let store = EvidenceStore(capacity: 2, lifetime: .minutes(10))
        let anchors = try setting.anchors()
        let chains = try (0..<3).map { _ in PresentedChain(try setting.leaf().chain) }
        for chain in chains {
            let decision = TrustDecision(.trusted, policyName: "", host: nil, time: setting.clock.now, chain: chain)
            _ = store.remember(decision, about: chain, anchors: anchors)
        }
        #expect(store.count == 2)
        let found = chains.map { chain in
            chain.leaf.flatMap { store.evidence(about: $0, anchors: anchors, at: setting.clock.now) } != nil
        }
        #expect(found == [false, true, true])
    }

    @Test("counts for its anchors alone, and until the earliest end of a validity")
    func expiry() throws {
        let setting = try HTTPSetting()
        let store = EvidenceStore(capacity: 2, lifetime: .minutes(10))
        let anchors = try setting.anchors()
        let leaf = try setting.leaf { $0.notAfter = .hours(2) }
        let chain = PresentedChain(leaf.chain)
        let now = setting.clock.now
        let decision = TrustDecision(.trusted, policyName: "", host: nil, time: now, chain: chain)
        _ = store.remember(decision, about: chain, anchors: anchors)
        #expect(store.evidence(about: leaf.der, anchors: TrustAnchors([]), at: now) == nil)
        #expect(store.evidence(about: leaf.der, anchors: anchors, at: now.addingTimeInterval(7_000)) != nil)
        #expect(store.evidence(about: leaf.der, anchors: anchors, at: Date(timeIntervalSince1970: .nan)) == nil)
        _ = store.remember(decision, about: chain, anchors: anchors)
        #expect(store.evidence(about: leaf.der, anchors: anchors, at: now.addingTimeInterval(7_300)) == nil)
        #expect(store.count == 0)
    }

    @Test("leaves a wait that neither overflows nor is longer than its lifetime")
    func remaining() {
        let now = Date(timeIntervalSince1970: 1_000)
        func remaining(_ end: Date) -> TimeAmount {
            EvidenceExpiry(deadline: .now() + .minutes(10), holdsUntil: end).remaining(at: now)
        }
        #expect(remaining(now.addingTimeInterval(9)) == .seconds(9))
        #expect(remaining(now.addingTimeInterval(-9)) == .zero)
        #expect(remaining(.distantFuture) <= .minutes(10))
        #expect(remaining(Date(timeIntervalSince1970: .infinity)) <= .minutes(10))
        #expect(remaining(Date(timeIntervalSince1970: .nan)) == .zero)
    }
}
