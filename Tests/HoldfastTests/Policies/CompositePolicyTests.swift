import Crypto
import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Composite policies", .timeLimit(.minutes(15)))
struct CompositePolicyTests {
    private let host = PolicyFixture.host

    @Test("All of them: every member must trust, and the evidence is everybody's")
    func all() throws {
        let fixture = try PolicyFixture()
        let pattern = try HostPattern(host)
        let leafPin = try fixture.keyPin(fixture.leaf)
        let rootPin = try fixture.keyPin(fixture.root.certificate)
        let both = try CompositePolicy(
            host: pattern, allOf: [fixture.pinned([leafPin]), fixture.pinned([rootPin])])
        let decision = both.evaluate(try fixture.trust(), at: fixture.now)
        #expect(decision.isTrusted)
        #expect(decision.matchedPins == [leafPin, rootPin])
        #expect(decision.configuredPins == [leafPin, rootPin])
        // Both ask for the same path, which is validated once.
        #expect(decision.effort.signatures == 2)
        let one = try CompositePolicy(
            host: pattern, allOf: [fixture.pinned([leafPin]), fixture.pinned([.certificate([1])])])
        #expect(one.evaluate(try fixture.trust(), at: fixture.now).failure?.code == .pinMismatch)
    }

    @Test("A custom member of an all-of can only forbid more")
    func customInAll() throws {
        let fixture = try PolicyFixture()
        let pattern = try HostPattern(host)
        for answer in [true, false] {
            let policy = try CompositePolicy(
                host: pattern, allOf: [StandardPolicy(host: pattern), CustomPolicy(host: pattern) { _ in answer }])
            #expect(policy.evaluate(try fixture.trust(), at: fixture.now).isTrusted == answer)
            #expect(!policy.evaluate(try fixture.untrusted(), at: fixture.now).isTrusted)
        }
    }

    @Test("Any of them: the first that trusts is the answer")
    func any() throws {
        let fixture = try PolicyFixture()
        let pin = try fixture.keyPin(fixture.leaf)
        let policy = try CompositePolicy(
            host: HostPattern(host), anyOf: [fixture.pinned([.certificate([1])]), fixture.pinned([pin])])
        let decision = policy.evaluate(try fixture.trust(), at: fixture.now)
        #expect(decision.isTrusted)
        #expect(decision.matchedPins == [pin])
        #expect(decision.path != nil)
    }

    @Test("When no member trusts, the failure has the reason of each")
    func reasons() throws {
        let fixture = try PolicyFixture()
        let policy = try CompositePolicy(
            host: HostPattern(host),
            anyOf: [
                fixture.pinned([.certificate([1])]), StandardPolicy(host: HostPattern("other.example")),
            ])
        let failure = try #require(policy.evaluate(fixture.trust(), at: fixture.now).failure)
        #expect(failure.code == .pinMismatch)
        #expect(failure.found.contains("(1) www.example.com: pinMismatch"))
        #expect(failure.found.contains("(2) other.example: hostNotCovered"))
        #expect(failure.pins == [.certificate([1])])
        #expect(failure.paths.count == 1)
    }

    @Test("Any-of refuses members that would decide for the others, at any depth")
    func refused() throws {
        let fixture = try PolicyFixture()
        let pattern = try HostPattern(host)
        struct Foreign: TrustPolicy {
            let scope = PolicyScope(hostName: "www.example.com")
            func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
                TrustDecision(.trusted, policyName: hostName, host: nil, time: time, chain: nil)
            }
        }
        let sound = StandardPolicy(host: pattern)
        let members: [any TrustPolicy] = [
            DisabledPolicy(host: pattern), CustomPolicy(host: pattern) { _ in true },
            try fixture.pinned([.certificate([1])], enforcement: .reportOnly), Foreign(),
        ]
        for member in members {
            let nested = try CompositePolicy(host: pattern, allOf: [sound, member])
            let managed = try #require(TrustManager(policies: [member]).policy(for: host))
            for one in [member, nested, managed] {
                #expect(code { try CompositePolicy(host: pattern, anyOf: [sound, one]) } == .unacceptableMember)
            }
        }
        #expect(code { try CompositePolicy(host: pattern, anyOf: []) } == .noMembers)
        #expect(code { try CompositePolicy(host: pattern, allOf: []) } == .noMembers)
        let broken = TrustManager().create(type: .custom, hostName: host)
        #expect(code { try CompositePolicy(host: pattern, allOf: [broken]) } == .unacceptableMember)
        #expect(code { try CompositePolicy(host: pattern, anyOf: [sound, broken]) } == .unacceptableMember)
    }

    @Test("A store's policy may be one of any, and pins of the store count")
    func storeInAny() async throws {
        let fixture = try PolicyFixture()
        let stores = try StoreFixture()
        stores.provider.answer(
            stores.signer.list([
                try stores.signer.entry(
                    host, Data(SHA256.hash(data: fixture.leaf.der)), StoreFixture.start + StoreFixture.day)
            ]))
        let store = stores.store()
        let policy = try CompositePolicy(
            host: HostPattern(host),
            anyOf: [fixture.pinned([.certificate([1])]), store.policy(for: host)])
        #expect(try policy.evaluate(fixture.trust(), at: fixture.now).failure?.code == .pinMismatch)
        try await store.update()
        let decision = try policy.evaluate(fixture.trust(), at: fixture.now)
        #expect(decision.isTrusted && decision.matchedPins == [.certificate(fixture.leaf.der)])
        #expect(try policy.evaluate(fixture.untrusted(), at: fixture.now).isTrusted == false)
    }

    @Test("A bare trust, another host and the absence of a trust are rejected")
    func scope() throws {
        let fixture = try PolicyFixture()
        let pattern = try HostPattern(host)
        let policy = try CompositePolicy(host: pattern, anyOf: [StandardPolicy(host: pattern)])
        #expect(policy.evaluate(try fixture.trust(), at: fixture.now).isTrusted)
        #expect(policy.evaluate(try fixture.trust(host: nil), at: fixture.now).failure?.code == .hostUnknown)
        let other = policy.evaluate(try fixture.trust(host: "other.example"), at: fixture.now)
        #expect(other.failure?.code == .hostNotCovered)
        #expect(policy.decisionWithoutTrust(at: fixture.now).failure?.code == .noTrust)
    }
}
