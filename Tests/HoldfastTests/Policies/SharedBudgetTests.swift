import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("One decision has one budget, however many policies make it")
struct SharedBudgetTests {
    private let pki: PolicyFixture

    init() throws { pki = try PolicyFixture() }

    /// Policies for one host that differ in all that changes what is validated.
    private func members(_ count: Int, _ validatesHostName: (Int) -> Bool = { _ in true }) throws -> [any TrustPolicy] {
        try (0..<count).map { number in
            let other = try Pin(subject: .publicKey, digest: [UInt8](repeating: UInt8(number + 1), count: 32))
            return try PinnedPolicy(
                host: HostPattern(HostileChain.host), pins: PinSet(pins: [other]),
                validatesHostName: validatesHostName(number))
        }
    }

    private func effort(_ policy: any TrustPolicy, _ chain: HostileChain) throws -> ValidationEffort {
        let trust = ServerTrust(
            chain: PresentedChain(chain.presented), purpose: .server(identity: try DialedHost(HostileChain.host)),
            validator: PathValidator(anchors: try TrustAnchors(der: [chain.anchor])))
        let decision = policy.evaluate(trust, at: pki.now)
        #expect(!decision.isTrusted)
        return decision.effort
    }

    @Test(
        "A hostile chain costs a composite no more than one of its members, nested ones too",
        arguments: HostileChain.Field.allCases)
    func hostileChains(field: HostileChain.Field) throws {
        let host = try HostPattern(HostileChain.host)
        for kind in 0..<3 {
            let chain = try HostileChain(.init(field, kind: kind, size: 900, count: 2), clock: pki.clock)
            let eight = try members(8)
            let alone = try effort(eight[0], chain)
            let any = try CompositePolicy(host: host, anyOf: eight)
            let nested = try CompositePolicy(
                host: host, anyOf: [any, try CompositePolicy(host: host, anyOf: members(8))])
            for composite in [any, nested] {
                let together = try effort(composite, chain)
                #expect(together.work <= max(alone.work, ValidationLimits().work) + 16 * 2_000, "\(chain.recipe)")
                #expect(together.signatures <= max(alone.signatures, 1), "\(chain.recipe)")
                #expect(together.steps <= alone.steps, "\(chain.recipe)")
            }
        }
    }

    @Test("Members that ask for different paths stay within one budget together")
    func differentQuestions() throws {
        let host = try HostPattern(HostileChain.host)
        let limits = ValidationLimits()
        for field in [HostileChain.Field.names, .keys, .mesh] {
            let chain = try HostileChain(.init(field, kind: 1, size: 900, count: 2), clock: pki.clock)
            let pinOnly = try (0..<6).map { number in
                let pins = try chain.presented.dropFirst(number + 1).map { try X509Certificate(der: $0).publicKeyPin }
                return try PinnedPolicy(
                    host: host, pins: PinSet(pins: Array(Set(pins))), certificatePinOnly: true)
            }
            let all: [any TrustPolicy] = pinOnly + (try members(4) { $0 % 2 == 0 })
            let effort = try effort(try CompositePolicy(host: host, anyOf: all), chain)
            #expect(effort.work <= 2 * limits.work, "\(field): \(effort)")
            #expect(effort.signatures <= limits.signatures && effort.signatureWork <= limits.signatureWork, "\(field)")
            #expect(effort.steps <= limits.steps, "\(field)")
        }
    }

    @Test("An honest chain is validated once for all members, so that none of them is the one too many")
    func honestChain() throws {
        let host = try HostPattern(PolicyFixture.host)
        let wrong = try (0..<120).map { number in
            try PinnedPolicy(
                host: host,
                pins: PinSet(pins: [Pin(subject: .publicKey, digest: [UInt8](repeating: UInt8(number), count: 32))]))
        }
        let right = try pki.pinned([pki.keyPin(pki.leaf)])
        let alone = right.evaluate(try pki.trust(pki.leaf.chain), at: pki.now)
        for policy in [
            try CompositePolicy(host: host, anyOf: wrong + [right]),
            try CompositePolicy(
                host: host, allOf: [StandardPolicy](repeating: StandardPolicy(host: host), count: 120) + [right]),
        ] {
            let decision = policy.evaluate(try pki.trust(pki.leaf.chain), at: pki.now)
            #expect(decision.isTrusted, "\(decision.failure?.description ?? "")")
            #expect(decision.matchedPins == [try pki.keyPin(pki.leaf)])
            #expect(decision.effort.signatures == alone.effort.signatures)
        }
    }

    @Test("What one member accepted is no answer for another, which gets the path that it asks for")
    func otherPath() throws {
        let host = try HostPattern(PolicyFixture.host)
        let other = try TestAuthority.root(name: "Other Root", clock: pki.clock)
        let chain = pki.leaf.chain + [try other.crossSign(pki.issuing).der]
        let trust = try pki.trust(chain, anchors: [pki.root.root, other.root])
        let roots = try [pki.root, other].map { try pki.pinned([.publicKey(of: $0.der)]) }
        let orders: [[any TrustPolicy]] = [
            roots, roots.reversed(), [StandardPolicy(host: host), roots[0], roots[1], roots[0]],
        ]
        for members in orders {
            let decision = try CompositePolicy(host: host, allOf: members)
                .evaluate(trust, at: pki.now)
            #expect(decision.isTrusted, "\(decision.failure?.description ?? "")")
            #expect(decision.matchedPins.count == 2)
        }
        let stranger = try pki.pinned([Pin(subject: .publicKey, digest: [UInt8](repeating: 9, count: 32))])
        for members in [roots + [stranger], [stranger] + roots] {
            let decision = try CompositePolicy(host: host, allOf: members)
                .evaluate(trust, at: pki.now)
            #expect(decision.failure?.code == .pinMismatch && decision.failure?.paths.count == 2)
        }
    }
}
