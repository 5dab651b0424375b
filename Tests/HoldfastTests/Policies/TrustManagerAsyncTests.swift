import Dispatch
import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("A decision away from the caller's thread", .timeLimit(.minutes(15)))
struct TrustManagerAsyncTests {
    /// Rejects until it has what it waits for.
    private final class WaitingPolicy: TrustPolicy {
        let scope = PolicyScope(hostName: PolicyFixture.host)
        private let state = Lock((isReady: false, preparations: 0))
        private let succeeds: Bool

        init(succeeds: Bool) { self.succeeds = succeeds }

        var preparations: Int { state.withLock { $0.preparations } }
        var needsPreparation: Bool { state.withLock { !$0.isReady } }

        func prepare() async throws {
            state.withLock { $0.preparations += 1 }
            guard succeeds else { throw CocoaError(.fileNoSuchFile) }
            state.withLock { $0.isReady = true }
        }

        func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
            let failure = TrustFailure(.noUsablePins, expected: "a document", found: "none")
            return TrustDecision(
                needsPreparation ? .rejected(failure) : .trusted, policyName: hostName, host: trust.host, time: time,
                chain: trust.chain)
        }
    }

    @Test("A policy that waits for something gets it first, once")
    func preparation() async throws {
        let fixture = try PolicyFixture()
        let policy = WaitingPolicy(succeeds: true)
        let manager = TrustManager(policies: [policy], clock: fixture.clock)
        let trust = try fixture.trust()
        #expect(!manager.evaluate(trust).isTrusted)
        #expect(await manager.decision(for: trust).isTrusted)
        #expect(await manager.decision(for: trust).isTrusted)
        #expect(policy.preparations == 1)
    }

    @Test("Where it cannot have it, the policy decides with what it has")
    func preparationFails() async throws {
        let fixture = try PolicyFixture()
        let manager = TrustManager(policies: [WaitingPolicy(succeeds: false)], clock: fixture.clock)
        #expect(await manager.decision(for: try fixture.trust()).failure?.code == .noUsablePins)
    }

    @Test("It is made on the queue for decisions, at the time that is given, and unknown hosts follow the rule")
    func queueAndRules() async throws {
        let fixture = try PolicyFixture()
        let key = DispatchSpecificKey<Bool>()
        EvaluationQueue.queue.setSpecific(key: key, value: true)
        let isOnQueue = Lock(false)
        let policy = CustomPolicy(host: try HostPattern(PolicyFixture.host)) { _ in
            let here = DispatchQueue.getSpecific(key: key) == true
            isOnQueue.withLock { $0 = here }
            return true
        }
        let manager = TrustManager(policies: [policy], clock: fixture.clock)
        let later = fixture.now.addingTimeInterval(5)
        let decision = await manager.decision(for: try fixture.trust(), at: later)
        #expect(decision.isTrusted && decision.time == later)
        #expect(isOnQueue.withLock { $0 })
        let other = try fixture.trust(host: "unknown.example")
        #expect(await manager.decision(for: other).failure?.code == .noPolicyForHost)
        manager.unknownHosts = .standardValidation
        #expect(await manager.decision(for: other).failure?.code == .hostNameMismatch)
    }
}
