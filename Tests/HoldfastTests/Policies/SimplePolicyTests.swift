import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Standard, custom and disabled policies")
struct SimplePolicyTests {
    @Test("Standard validation accepts a good chain and gives the path as evidence")
    func standard() throws {
        let fixture = try PolicyFixture()
        let policy = StandardPolicy(host: try HostPattern("*.example.com"))
        let decision = policy.evaluate(try fixture.trust(), at: fixture.now)
        #expect(decision.isTrusted)
        #expect(decision.configuredPins.isEmpty && decision.matchedPins.isEmpty)
        #expect(decision.policyName == "*.example.com")
        #expect(decision.host?.name == PolicyFixture.host)
        #expect(decision.path?.certificates.map(\.der) == fixture.leaf.chain + [fixture.root.der])
        #expect(decision.effort.signatures == 2)
        let untrusted = policy.evaluate(try fixture.untrusted(), at: fixture.now)
        #expect(untrusted.failure?.code == .unknownIssuer)
        #expect(untrusted.failure?.host?.name == PolicyFixture.host)
        #expect(untrusted.failure?.chain == decision.chain)
        let wrong = policy.evaluate(try fixture.trust(host: "api.example.com"), at: fixture.now)
        #expect(wrong.failure?.code == .hostNameMismatch)
    }

    @Test("Without host checking another name passes, another authority does not, another policy's host neither")
    func standardWithoutHost() throws {
        let fixture = try PolicyFixture()
        let policy = StandardPolicy(host: try HostPattern("api.example.com"), validatesHostName: false)
        #expect(policy.evaluate(try fixture.trust(host: "api.example.com"), at: fixture.now).isTrusted)
        #expect(policy.evaluate(try fixture.trust(), at: fixture.now).failure?.code == .hostNotCovered)
        let untrusted = ServerTrust(
            certificates: fixture.leaf.chain, host: try DialedHost("api.example.com"), anchors: TrustAnchors([]))
        #expect(policy.evaluate(untrusted, at: fixture.now).failure?.code == .noAnchors)
    }

    @Test("Only a policy for clients judges clients of that name, and no servers")
    func clients() throws {
        let fixture = try PolicyFixture()
        let device = try fixture.issuing.leaf(names: ["device"], purposes: [.clientAuthentication])
        let anchors = try TrustAnchors(der: [fixture.root.der])
        let trust = ServerTrust(
            chain: PresentedChain(device.chain), purpose: .client, validator: PathValidator(anchors: anchors))
        let policy = StandardPolicy(clients: "devices")
        #expect(policy.evaluate(trust, at: fixture.now).isTrusted)
        #expect(policy.evaluate(try fixture.trust(), at: fixture.now).failure?.code == .hostNotCovered)
        #expect(policy.evaluate(try fixture.trust(host: nil), at: fixture.now).failure?.code == .hostNotCovered)
    }

    @Test("A closure decides about a trust and about its absence, never about another host's")
    func custom() throws {
        let fixture = try PolicyFixture()
        let asked = Lock<[Int?]>([])
        let policy = CustomPolicy(host: try HostPattern(PolicyFixture.host)) { trust in
            asked.withLock { $0.append(trust?.chain.certificates.count) }
            return trust?.chain.certificates.count == 2
        }
        #expect(policy.evaluate(try fixture.trust(), at: fixture.now).isTrusted)
        #expect(policy.evaluate(try fixture.trust(host: nil), at: fixture.now).isTrusted)
        let refused = policy.evaluate(try fixture.trust([fixture.leaf.der]), at: fixture.now)
        #expect(refused.failure?.code == .customValidationRejected)
        #expect(!policy.decisionWithoutTrust(at: fixture.now).isTrusted)
        let other = policy.evaluate(try fixture.trust(host: "other.example"), at: fixture.now)
        #expect(other.failure?.code == .hostNotCovered)
        #expect(asked.withLock { $0 } == [2, 2, 1, nil])
    }

    @Test("A closure that accepts the absence of a trust is obeyed")
    func customNil() throws {
        let policy = CustomPolicy(host: try HostPattern("a.example")) { $0 == nil }
        #expect(policy.decisionWithoutTrust(at: .distantPast).isTrusted)
        #expect(policy.validate(trust: nil))
    }

    @Test("A disabled policy accepts anything of its host, says so, and warns once per host")
    func disabled() throws {
        let fixture = try PolicyFixture()
        let log = RecordingLog()
        let policy = DisabledPolicy(host: try HostPattern("**.example.com"), log: log.policyLog)
        for host in [PolicyFixture.host, "api.example.com", PolicyFixture.host] {
            let decision = policy.evaluate(try fixture.trust([[1]], host: host), at: fixture.now)
            #expect(decision.isTrusted)
            #expect(decision.notices.map(\.code) == [.validationDisabled])
        }
        #expect(log.lines.count == 2)
        #expect(log.lines.allSatisfy { $0.hasPrefix("warning") })
        #expect(policy.evaluate(try fixture.trust(host: nil), at: fixture.now).isTrusted)
        #expect(policy.decisionWithoutTrust(at: fixture.now).isTrusted)
        #expect(policy.decisionWithoutTrust(at: fixture.now).notices.map(\.code) == [.validationDisabled])
        let other = policy.evaluate(try fixture.trust(host: "other.example"), at: fixture.now)
        #expect(other.failure?.code == .hostNotCovered)
    }

    @Test("The absence of a trust is a rejection for standard validation and pinning")
    func absence() throws {
        let fixture = try PolicyFixture()
        let policies: [any TrustPolicy] = [
            StandardPolicy(host: try HostPattern("a.example")), try fixture.pinned([.certificate([1])]),
            try fixture.pinned([.certificate([1])], pinOnly: true),
        ]
        for policy in policies {
            #expect(policy.decisionWithoutTrust(at: fixture.now).failure?.code == .noTrust)
            #expect(!policy.validate(trust: nil))
        }
    }

    @Test("The published call asks the clock that it is given")
    func clock() throws {
        let fixture = try PolicyFixture()
        let policy = StandardPolicy(host: try HostPattern(PolicyFixture.host))
        let trust = try fixture.trust()
        #expect(policy.validate(trust: trust, clock: fixture.clock))
        fixture.clock.advance(by: .seconds(91 * 86_400))
        #expect(!policy.validate(trust: trust, clock: fixture.clock))
    }

    @Test("Other spellings of a host are the same host, in names of policies and of trusts")
    func spellings() throws {
        let fixture = try PolicyFixture()
        let leaf = try fixture.issuing.leaf(names: ["xn--bcher-kva.example"])
        let policy = StandardPolicy(host: try HostPattern("Bücher.Example"))
        #expect(policy.hostName == "xn--bcher-kva.example")
        for host in ["bücher.example", "BÜCHER.example.", "xn--bcher-kva.EXAMPLE"] {
            #expect(policy.evaluate(try fixture.trust(leaf.chain, host: host), at: fixture.now).isTrusted)
        }
    }
}
