import Crypto
import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Policies of a store", .timeLimit(.minutes(15)))
struct StorePolicyTests {
    private let pki: PolicyFixture
    private var fixture: StoreFixture

    init() throws {
        pki = try PolicyFixture()
        fixture = try StoreFixture()
    }

    private func publish(
        _ entries: [(String, [UInt8], days: Int64, depth: Int)], on other: StoreFixture? = nil
    ) throws {
        let fixture = other ?? fixture
        let dated = entries.map { name, der, days, depth in
            (
                name: name, fingerprint: Data(SHA256.hash(data: der)),
                expires: StoreFixture.start + days * StoreFixture.day
            )
        }
        guard !fixture.configuration.useChallenge else {
            return fixture.publishSigned(body: DocumentSigner.body(dated, at: StoreFixture.start))
        }
        fixture.provider.answer(
            fixture.signer.list(
                try zip(dated, entries).map { entry, source in
                    try fixture.signer.entry(
                        entry.name, entry.fingerprint, entry.expires, more: ",\"depth\":\(source.depth)")
                }))
    }

    private func code(_ store: CertStore, host: String = PolicyFixture.host, _ chain: [[UInt8]]? = nil) throws
        -> TrustFailure.Code?
    {
        try store.policy(for: host).decision(about: pki.trust(chain, host: host), at: pki.now).failure?.code
    }

    @Test("A server is trusted by standard validation and a pin of the store in the validated path")
    func pinned() async throws {
        try publish([(PolicyFixture.host, pki.leaf.der, 10, 0)])
        let store = fixture.store()
        try await store.update()
        let policy = try store.policy(for: "https://\(PolicyFixture.host)/x")
        let decision = try policy.evaluate(pki.trust(), at: pki.now)
        #expect(decision.isTrusted && decision.matchedPins == [Pin.certificate(pki.leaf.der)])
        #expect(policy.hostName == PolicyFixture.host)
        // The pin alone is not enough.
        #expect(try policy.evaluate(pki.untrusted(), at: pki.now).failure?.code == .unknownIssuer)
    }

    @Test("Without usable pins a host is rejected, whatever its chain is worth: empty store, other names, all expired")
    func noUsablePins() async throws {
        let store = fixture.store()
        #expect(try code(store) == .noUsablePins)
        try publish([("other.example.com", pki.leaf.der, 10, 0), (PolicyFixture.host, pki.leaf.der, 1, 0)])
        try await store.update()
        #expect(try code(store) == nil)
        let later = pki.now.addingTimeInterval(86_401)
        let renewed = try pki.issuing.leaf(names: [.dns(PolicyFixture.host)])
        let decision = try store.policy(for: PolicyFixture.host).evaluate(pki.trust(renewed.chain), at: later)
        #expect(decision.failure?.code == .noUsablePins)
        #expect(decision.failure?.description.contains(PolicyFixture.host) == true)
    }

    @Test(
        "A renewed certificate is refused by the old list and trusted by the new one, in the same policy",
        arguments: [false, true])
    func renewal(useChallenge: Bool) async throws {
        let fixture = try StoreFixture(useChallenge: useChallenge)
        try publish([(PolicyFixture.host, pki.leaf.der, 10, 0)], on: fixture)
        let store = fixture.store()
        try await store.update()
        let manager = TrustManager(policies: [try store.policy(for: PolicyFixture.host)], clock: pki.clock)
        let renewed = try pki.issuing.renew(pki.leaf)
        let trust = try pki.trust(renewed.chain)
        #expect(manager.evaluate(trust).failure?.code == .pinMismatch)
        try publish([(PolicyFixture.host, renewed.der, 10, 0)], on: fixture)
        try await store.update(mode: .forced)
        #expect(manager.evaluate(trust).isTrusted)
        #expect(manager.evaluate(try pki.trust()).failure?.code == .pinMismatch)
    }

    @Test(
        "Pins are found by the dialed host, then by the wildcard above its first label; never by a certificate's name",
        arguments: [false, true])
    func lookup(useChallenge: Bool) async throws {
        let fixture = try StoreFixture(useChallenge: useChallenge)
        let wildcard = try pki.issuing.leaf(names: ["*.example.com", "example.com"], subject: "victim.example.net")
        try publish(
            [("*.example.com", wildcard.der, 10, 0), ("victim.example.net", wildcard.der, 10, 0)], on: fixture)
        let store = fixture.store()
        try await store.update()
        #expect(try code(store, host: "a.example.com", wildcard.chain) == nil)
        #expect(try code(store, host: "A.Example.com", wildcard.chain) == nil)
        #expect(try code(store, host: "example.com", wildcard.chain) == .noUsablePins)
        let deep = try pki.issuing.leaf(names: ["a.b.example.com"])
        #expect(try code(store, host: "a.b.example.com", deep.chain) == .noUsablePins)
        // An exact name that has usable pins wins over the wildcard.
        try publish(
            [
                ("*.example.com", wildcard.der, 10, 0), ("a.example.com", pki.leaf.der, 10, 0),
                ("victim.example.net", wildcard.der, 10, 0),
            ], on: fixture)
        try await store.update(mode: .forced)
        #expect(try code(store, host: "a.example.com", wildcard.chain) == .pinMismatch)
        #expect(try code(store, host: "b.example.com", wildcard.chain) == nil)
    }

    @Test("A pattern's policy looks up the host that was dialed")
    func patterns() async throws {
        try publish([(PolicyFixture.host, pki.leaf.der, 10, 0)])
        let store = fixture.store()
        try await store.update()
        let policy = try store.policy(for: "**.example.com")
        #expect(try policy.evaluate(pki.trust(), at: pki.now).isTrusted)
        #expect(try policy.evaluate(pki.trust(host: nil), at: pki.now).failure?.code == .hostUnknown)
        #expect(try policy.evaluate(pki.trust(host: "other.example.net"), at: pki.now).failure?.code == .hostNotCovered)
        #expect(throws: PolicyConfigurationError.self) { try store.policy(for: "not a host") }
    }

    @Test("By the common name only in the compatibility mode, and only for a host that is not listed")
    func commonNameMatching() async throws {
        let leaf = try pki.issuing.leaf(names: [.dns(PolicyFixture.host)], subject: "listed.name")
        for mode in CommonNameMatching.allCases {
            var fixture = fixture
            fixture.configuration.commonNameMatching = mode
            try publish([("listed.name", leaf.der, 10, 0)])
            let store = fixture.store(InMemoryDataStore())
            try await store.update()
            #expect(try code(store, leaf.chain) == (mode == .never ? .noUsablePins : nil))
            try publish([("listed.name", leaf.der, 10, 0), ("*.example.com", pki.leaf.der, 10, 0)])
            try await store.update(mode: .forced)
            #expect(try code(store, leaf.chain) == .pinMismatch)
        }
    }

    @Test("A common name finds its entry as it is written, whatever would be escaped in print")
    func commonNameAsItIs() async throws {
        var fixture = fixture
        fixture.configuration.commonNameMatching = .whenHostIsUnlisted
        for name in ["Example, Inc.", "a=b;c", "Grün & Söhne", "a\u{202E}b"] {
            let leaf = try pki.issuing.leaf(names: [.dns(PolicyFixture.host)], subject: .commonName(name))
            try publish([(name, leaf.der, 10, 0)])
            let store = fixture.store(InMemoryDataStore())
            try await store.update()
            #expect(try code(store, leaf.chain) == nil, "\(name)")
        }
        // Which of two common names would count is anybody's guess.
        let two = try pki.issuing.leaf(names: [.dns(PolicyFixture.host)]) {
            $0.subject = TestName([.init(.commonName, "Example, Inc."), .init(.commonName, "Example, Inc.")])
        }
        try publish([("Example, Inc.", two.der, 10, 0)])
        let store = fixture.store(InMemoryDataStore())
        try await store.update()
        #expect(try code(store, two.chain) == .noUsablePins)
    }

    @Test("An entry with a depth matches the certificate authority at that place of the path, and nothing else")
    func depth() async throws {
        for (der, depth, isTrusted) in [
            (pki.issuing.der, 1, true), (pki.root.der, 2, true), (pki.leaf.der, 0, true),
            (pki.issuing.der, 0, false), (pki.issuing.der, 2, false), (pki.leaf.der, 1, false),
            (pki.root.der, 16, false),
        ] {
            try publish([(PolicyFixture.host, der, 10, depth)])
            let store = fixture.store(InMemoryDataStore())
            try await store.update()
            #expect(try code(store) == (isTrusted ? nil : .pinMismatch), "\(depth)")
        }
    }

    @Test("With expected common names a host outside of them is rejected")
    func expectedCommonNames() async throws {
        var fixture = fixture
        fixture.configuration.expectedCommonNames = ["other.example.com"]
        try publish([(PolicyFixture.host, pki.leaf.der, 10, 0)])
        let store = fixture.store()
        try await store.update()
        #expect(try code(store) == .hostNotCovered)
    }

    @Test("Certificates are judged at the trusted time: a clock that was set back revives none")
    func trustedTime() async throws {
        var fixture = fixture
        fixture.configuration.buildDate = pki.now.addingTimeInterval(400 * 86_400)
        try publish([(PolicyFixture.host, pki.leaf.der, 1_000, 0)])
        let store = fixture.store()
        try await store.update()
        #expect(try code(store) == .expired)
    }

    @Test("What a policy of the store decides its observers learn")
    func observers() async throws {
        let store = fixture.store()
        let events = store.events()
        _ = try code(store)
        for await event in events {
            guard event.kind == .validated else { continue }
            #expect(event.name == PolicyFixture.host && event.result == .empty)
            break
        }
    }

    @Test("Of a decision that an adapter makes they learn once it stands: when the handshake has proved the peer's key")
    func proof() async throws {
        try publish([(PolicyFixture.host, pki.leaf.der, 10, 0)])
        let store = fixture.store()
        try await store.update()
        let told = Lock<[CertStore.ValidationResult]>([])
        store.addObserver { event in
            if let result = event.result { told.withLock { $0.append(result) } }
        }
        let policy = try store.policy(for: PolicyFixture.host)
        let trust = try pki.trust()
        let composite = try CompositePolicy(host: HostPattern(PolicyFixture.host), anyOf: [policy])
        for policy in [policy, composite] as [any TrustPolicy] {
            let manager = TrustManager(policies: [policy], clock: pki.clock)
            let judgment = manager.judgment(of: trust, at: pki.now)
            #expect(judgment.isTrusted && told.withLock { $0 }.isEmpty)
            manager.tell(judgment.provedByHandshake)
            #expect(told.withLock { $0 } == [.trusted])
            // Without an adapter, each decision is reported at once, and once.
            _ = manager.evaluate(trust)
            _ = manager.policy(for: PolicyFixture.host)?.decision(about: trust, at: pki.now)
            #expect(told.withLock { $0 }.count == 3)
            // The policy alone, as `TrustSource.policy` asks it.
            let alone = policy.unwrapped.evaluate(trust, at: pki.now)
            #expect(told.withLock { $0 }.count == 3)
            policy.tell(alone)
            #expect(told.withLock { $0 }.count == 4)
            told.withLock { $0 = [] }
        }
    }
}
