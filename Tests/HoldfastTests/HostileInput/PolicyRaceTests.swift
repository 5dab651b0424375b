import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// Removes or replaces the policy that asks it, and trusts all the same.
private struct SelfRemovingPolicy: TrustPolicy {
    let scope = PolicyScope(hostName: PolicyFixture.host)
    let change: @Sendable () -> Void

    func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        change()
        return TrustDecision(.trusted, policyName: hostName, host: trust.host, time: time, chain: trust.chain)
    }
}

/// Changes something while it validates, and finds a path all the same.
private struct MeddlingValidator: ChainValidator {
    let path: ValidatedPath
    let change: @Sendable () -> Void

    func validate(
        _ chain: PresentedChain, for purpose: ValidationPurpose, at time: Date, accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome {
        change()
        return ValidationOutcome(path: accepting(path) ? path : nil, failure: nil)
    }
}

@Suite("Policies that change while they are asked")
struct PolicyRaceTests {
    private let fixture: PolicyFixture

    init() throws { fixture = try PolicyFixture() }

    @Test(
        "A policy that is removed while it works decides nothing",
        arguments: [UnknownHostRule.reject, .standardValidation])
    func removedMeanwhile(unknownHosts: UnknownHostRule) throws {
        let manager = TrustManager(unknownHosts: unknownHosts)
        let told = Lock<[Bool]>([])
        manager.addObserver { decision in told.withLock { $0.append(decision.isTrusted) } }
        manager.add(
            policy: SelfRemovingPolicy { [weak manager] in
                manager?.removePolicy(name: PolicyFixture.host)
            })
        // Standard validation does not trust it either: nothing but the removed policy would.
        let decision = manager.evaluate(try fixture.untrusted(), at: fixture.now)
        #expect(decision.failure?.code == (unknownHosts == .reject ? .noPolicyForHost : .unknownIssuer))
        #expect(told.withLock { $0 } == [false])
    }

    @Test("A rule for unknown hosts that gets stricter while it is gone by decides nothing")
    func stricterMeanwhile() throws {
        let manager = TrustManager(unknownHosts: .standardValidation)
        let path = try #require(
            StandardPolicy(host: HostPattern(try DialedHost(PolicyFixture.host)))
                .evaluate(try fixture.trust(), at: fixture.now).path)
        let validator = MeddlingValidator(path: path) { [weak manager] in manager?.unknownHosts = .reject }
        let trust = ServerTrust(
            chain: PresentedChain(fixture.leaf.chain),
            purpose: .server(identity: try DialedHost(PolicyFixture.host)), validator: validator)
        #expect(manager.evaluate(trust, at: fixture.now).failure?.code == .noPolicyForHost)
    }

    @Test("The successor of a policy that is replaced while it works decides, also a pattern that was behind it")
    func replacedMeanwhile() throws {
        let strict = try fixture.pinned([.certificate([1])])
        let pattern = try fixture.pinned([.certificate([2])], host: "**.example.com")
        let trust = try fixture.trust()
        for (successor, change) in [
            (strict, { @Sendable (manager: TrustManager) in manager.add(policy: strict) }),
            (pattern, { @Sendable manager in _ = manager.removePolicy(name: PolicyFixture.host) }),
            (pattern, { @Sendable manager in manager.policies = ["**.example.com": pattern] }),
        ] as [(PinnedPolicy, @Sendable (TrustManager) -> Void)] {
            let manager = TrustManager(policies: [pattern])
            manager.add(
                policy: SelfRemovingPolicy { [weak manager] in
                    if let manager { change(manager) }
                })
            let decision = manager.evaluate(trust, at: fixture.now)
            #expect(decision.failure?.code == .pinMismatch)
            #expect(decision.configuredPins == successor.fixedPins)
        }
    }

    @Test("A policy that replaces itself whenever it is asked is a rejection, not a loop")
    func replacedForEver() throws {
        let manager = TrustManager()
        let asked = Lock(0)
        @Sendable func again() {
            asked.withLock { $0 += 1 }
            manager.add(policy: SelfRemovingPolicy(change: again))
        }
        again()
        let decision = manager.evaluate(try fixture.trust(), at: fixture.now)
        #expect(decision.failure?.code == .invalidConfiguration)
        #expect(asked.withLock { $0 } < 1_000)
        manager.removePolicy(name: PolicyFixture.host)
    }

    @Test("Eight threads ask while policies come, go and get stricter: one policy decides, and none that is gone")
    func eightThreads() async throws {
        let ledger = PolicyLedger(leafPin: try fixture.keyPin(fixture.leaf))
        let manager = TrustManager(clock: fixture.clock)
        let trust = try fixture.trust()
        let now = fixture.now
        let isOver = Lock(false)
        async let changes = onThread { () throws -> Int in
            var rounds = 0
            while !isOver.withLock({ $0 }) || rounds < 2 {
                for step in try ledger.steps(of: manager, host: PolicyFixture.host) {
                    step()
                    // A policy that is replaced more often than anybody can ask it is another test's.
                    let next = ledger.decisions + 16
                    while ledger.decisions < next, !isOver.withLock({ $0 }) { sched_yield() }
                }
                rounds += 1
            }
            return rounds
        }
        let counts = try await withThrowingTaskGroup(of: (trusted: Int, refused: Int).self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await onThread {
                        var count = (trusted: 0, refused: 0)
                        for _ in 0..<250 {
                            let gone = ledger.gone
                            let decision = manager.evaluate(trust, at: now)
                            if let objection = ledger.objection(to: decision, afterwardsTo: gone) {
                                Issue.record("\(objection)")
                            }
                            if decision.isTrusted { count.trusted += 1 } else { count.refused += 1 }
                        }
                        return count
                    }
                }
            }
            var all: [(trusted: Int, refused: Int)] = []
            while let one = try await group.next() { all.append(one) }
            isOver.withLock { $0 = true }
            return all
        }
        #expect(counts.count == 8)
        #expect(try await changes >= 2)
        #expect(counts.reduce(0) { $0 + $1.trusted + $1.refused } == 2_000)
    }
}
