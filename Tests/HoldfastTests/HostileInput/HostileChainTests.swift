import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Chains and hosts that no honest peer has")
struct HostileChainTests {
    private let fixture: PolicyFixture

    init() throws { fixture = try PolicyFixture() }

    /// One of each kind that proves something, all of which trust the honest chain.
    private func policies() throws -> [any TrustPolicy] {
        let host = try HostPattern(PolicyFixture.host)
        let standard = StandardPolicy(host: host)
        let leafPinned = try fixture.pinned([fixture.keyPin(fixture.leaf)])
        return [
            standard, leafPinned, try fixture.pinned([.certificate(fixture.root.der)]),
            try fixture.pinned([fixture.keyPin(fixture.leaf)], pinOnly: true),
            try fixture.pinned([.certificate(fixture.issuing.der)], pinOnly: true),
            try CompositePolicy(host: host, allOf: [standard, leafPinned]),
            try CompositePolicy(host: host, anyOf: [leafPinned, standard]),
        ]
    }

    @Test("Nothing, too many and too large ones are refused by every policy, without work")
    func refused() throws {
        let honest = fixture.leaf.chain
        let chains: [([[UInt8]], TrustFailure.Code)] = [
            ([], .emptyChain), ([[]], .unreadableCertificate), ([[], []] + honest, .unreadableCertificate),
            (honest + [[UInt8]](repeating: fixture.leaf.der, count: 1_000), .chainTooLarge),
            ((0..<1_000).map { [UInt8(truncatingIfNeeded: $0)] }, .chainTooLarge),
            ([[UInt8](repeating: 0x30, count: 10_000_000)], .chainTooLarge),
            (honest + [[UInt8](repeating: 0x30, count: 10_000_000)], .chainTooLarge),
        ]
        for policy in try policies() {
            for (chain, code) in chains {
                let decision = policy.evaluate(try fixture.trust(chain), at: fixture.now)
                #expect(decision.failure?.code == code, "\(type(of: policy)), \(chain.count) certificates")
                #expect(decision.effort.signatures == 0 && decision.effort.steps == 0)
                #expect(decision.effort.work <= 100)
                #expect((decision.failure?.description.utf8.count ?? 0) < 40_000)
            }
        }
    }

    @Test("Order and duplicates do not matter to any policy, as long as the leaf comes first")
    func anyOrder() throws {
        let leaf = fixture.leaf.der
        let (issuing, root) = (fixture.issuing.der, fixture.root.der)
        let other = try TestAuthority.root(name: "Somebody Else", clock: fixture.clock).root
        for policy in try policies() {
            for chain in [
                [leaf, issuing, root], [leaf, root, issuing], [leaf, leaf, issuing, issuing, root, root, leaf],
                [leaf, other, [], root, [0x30, 0x80], issuing, other],
                [leaf] + [[UInt8]](repeating: issuing, count: 100),
            ] {
                let decision = policy.evaluate(try fixture.trust(chain), at: fixture.now)
                #expect(decision.isTrusted, "\(type(of: policy)): \(decision.failure?.description ?? "")")
            }
            let leafless = policy.evaluate(try fixture.trust([root, leaf, issuing]), at: fixture.now)
            #expect(!leafless.isTrusted, "\(type(of: policy)) takes an issuer for the server")
        }
    }

    @Test(
        "Hosts with NUL, spaces or labels of 64 octets are none, as a host, as a pattern and in the published calls",
        arguments: [
            "a\u{0}.example.com", "www.example.com\u{0}", "\u{0}", " www.example.com", "www.example.com ",
            "a b.example.com",
            "www.example.com\n", "www\t.example.com", String(repeating: "a", count: 64) + ".example.com",
            "a." + String(repeating: "b", count: 64), "www.\u{A0}example.com",
        ])
    func noHosts(text: String) throws {
        #expect(throws: HostError.self) { try DialedHost(text) }
        for prefix in ["", "*.", "**."] {
            #expect(throws: HostPatternError.self) { try HostPattern(prefix + text) }
        }
        #expect(throws: HostError.self) { try DialedHost(publishedHostName: text) }
        let log = RecordingLog()
        PolicyLog.$shared.withValue(log.policyLog) {
            let file = URL(fileURLWithPath: "/dev/null/x")
            #expect(!ISPCertificatePinning.setupSSLPins(usingDictionnary: [text: []], file: file))
        }
        #expect(log.lines.count == 1)
        let manager = TrustManager(policies: [StandardPolicy(host: try HostPattern(PolicyFixture.host))])
        #expect(manager.policy(for: text) == nil)
    }
}
