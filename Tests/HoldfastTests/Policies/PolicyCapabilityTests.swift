import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// Properties that an application's own policy declares count like those of Holdfast's own policies.
@Suite("What policies say of themselves", .timeLimit(.minutes(15)))
struct PolicyCapabilityTests {
    private let pki: PolicyFixture
    private let host: HostPattern

    init() throws {
        pki = try PolicyFixture()
        host = try HostPattern(PolicyFixture.host)
    }

    /// The keys of devices that were paired.
    private final class PairedDevices: Sendable {
        private let keys = Lock<(pins: Set<Pin>, revision: UInt64)>(([], 0))

        var revision: UInt64 { keys.withLock { $0.revision } }

        func isPaired(_ host: DialedHost, _ leaf: [UInt8]) -> Bool {
            guard let pin = try? Pin.publicKey(of: leaf) else { return false }
            return keys.withLock { $0.pins.contains(pin) }
        }

        func replace(with pins: Set<Pin>) {
            keys.withLock { $0 = (pins, $0.revision + 1) }
        }
    }

    /// The example of `TrustPolicy`'s documentation.
    private struct PairedDevicePolicy: TrustPolicy {
        let scope = PolicyScope(hostName: "**.example.com")
        let devices: PairedDevices

        var evidence: PolicyEvidence { .leaf }
        var revision: UInt64 { devices.revision }
        func objection(asMemberOf rule: CompositePolicy.Rule) -> String? { nil }

        func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
            func decision(_ verdict: TrustDecision.Verdict) -> TrustDecision {
                TrustDecision(verdict, policyName: hostName, host: trust.host, time: time, chain: trust.chain)
            }
            do throws(TrustFailure) {
                let host = try scope.host(of: trust)
                guard let host, let leaf = trust.chain.leaf, devices.isPaired(host, leaf) else {
                    throw TrustFailure(.pinMismatch, expected: "the key of a paired device", found: "another")
                }
                return decision(.trusted)
            } catch {
                return decision(.rejected(error))
            }
        }
    }

    /// Says no more than it must.
    private struct Terse: TrustPolicy {
        let scope = PolicyScope(hostName: PolicyFixture.host)

        func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
            TrustDecision(.trusted, policyName: hostName, host: trust.host, time: time, chain: trust.chain)
        }
    }

    /// Learns of what another policy decides.
    private struct Counting: TrustPolicy {
        let base: any TrustPolicy
        let decisions = Lock(0)

        var scope: PolicyScope { base.scope }
        func tell(_ decision: TrustDecision) { decisions.withLock { $0 += 1 } }

        func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision { base.evaluate(trust, at: time) }
    }

    @Test("An application's own policy is found by its pattern, stands in an any-of, and its revision is the manager's")
    func own() throws {
        let devices = PairedDevices()
        let own = PairedDevicePolicy(devices: devices)
        let any = try CompositePolicy(host: host, anyOf: [own, pki.pinned([.certificate([1])])])
        let manager = TrustManager(policies: [own, any])
        let other = try #require(manager.policy(for: "other.example.com"))
        let found = try #require(manager.policy(for: host.base))
        #expect(other.hostName == "**.example.com" && found.hostName == PolicyFixture.host)
        #expect(other.scope == .hosts(try HostPattern("**.example.com")))
        let before = (other.revision, found.revision)
        #expect(manager.evaluate(try pki.trust()).failure?.code == .pinMismatch)
        devices.replace(with: [try pki.keyPin(pki.leaf)])
        #expect(before.0 != other.revision && before.1 != found.revision)
        #expect(manager.evaluate(try pki.trust()).isTrusted)
        #expect(own.evaluate(try pki.trust(host: "www.example.org"), at: pki.now).failure?.code == .hostNotCovered)
        #expect(own.evaluate(try pki.trust(host: nil), at: pki.now).failure?.code == .hostUnknown)
    }

    @Test("A policy that says nothing of itself is shown everything, may not decide for others, and waits for nothing")
    func terse() async throws {
        let policy: any TrustPolicy = Terse()
        #expect(policy.evidence == .chain && policy.revision == 0 && !policy.needsPreparation)
        #expect(policy.scope == .hosts(host) && policy.decisionWithoutTrust(at: pki.now).failure?.code == .noTrust)
        try await policy.prepare()
        #expect(policy.objection(asMemberOf: .all) == nil && policy.objection(asMemberOf: .any) != nil)
        #expect(throws: PolicyConfigurationError.self) { try CompositePolicy(host: host, anyOf: [policy]) }
        #expect(policy.hostName == PolicyFixture.host)
        #expect(PolicyScope(hostName: "no host") == .nothing("no host"))
        #expect(PolicyScope(hostName: "https://www.example.com/x") == .hosts(host))
    }

    @Test("What each kind judges; a composite of all judges most of it, one of any no more than each member does")
    func evidence() throws {
        let pins = [try pki.keyPin(pki.leaf)]
        let standard = StandardPolicy(host: host)
        let unnamed = StandardPolicy(host: host, validatesHostName: false)
        let leaf = try pki.pinned(pins, pinOnly: true)
        let custom = CustomPolicy(host: host) { _ in true }
        let store = try StoreFixture().store().policy(for: host)
        for (policy, expected) in [
            (standard as any TrustPolicy, PolicyEvidence.pathForHost), (unnamed, .path), (leaf, .leaf),
            (custom, .chain),
            (try pki.pinned(pins), .pathForHost), (try pki.pinned(pins, validatesHostName: false), .path),
            (DisabledPolicy(host: host), .nothing), (store, .pathForHost),
            (try CompositePolicy(host: host, allOf: [unnamed, standard, custom]), .pathForHost),
            (try CompositePolicy(host: host, allOf: [leaf, custom]), .chain),
            (try CompositePolicy(host: host, anyOf: [unnamed, standard]), .path),
            (try CompositePolicy(host: host, anyOf: [leaf, standard]), .leaf),
        ] {
            #expect(policy.evidence == expected)
            let managed = try #require(TrustManager(policies: [policy]).policy(for: PolicyFixture.host))
            #expect(managed.evidence == expected && managed.scope == policy.scope)
            #expect(managed.objection(asMemberOf: .any) == policy.objection(asMemberOf: .any))
        }
    }

    @Test("Another manager and a composite keep the policy that decides, without what the first manager put around it")
    func unwrapped() throws {
        let counting = Counting(base: StandardPolicy(host: host))
        let manager = TrustManager(policies: [counting], clock: pki.clock)
        let told = Lock(0)
        manager.addObserver { _ in told.withLock { $0 += 1 } }
        #expect(manager.evaluate(try pki.trust()).isTrusted)
        let other = TrustManager(policies: manager.allPolicies, clock: pki.clock)
        #expect(other.evaluate(try pki.trust()).isTrusted)
        let composite = try CompositePolicy(host: host, allOf: manager.allPolicies)
        #expect(composite.evaluate(try pki.trust(), at: pki.now).isTrusted)
        // Each manager that reports a decision notifies the application's wrapper. Observers of the first manager are
        // notified by it alone.
        #expect(counting.decisions.withLock { $0 } == 2 && told.withLock { $0 } == 1)
        manager.allPolicies.first?.tell(composite.evaluate(try pki.trust(), at: pki.now))
        #expect(told.withLock { $0 } == 2)
    }
}
