import struct Foundation.Date

/// A policy as its manager returns it: notifying it of a decision also notifies the manager's observers, no matter
/// which caller evaluated.
///
/// A class, so that a table of many hosts is small and a lookup copies a reference.
final class ObservedPolicy: TrustPolicy {
    /// The policy that decides.
    let policy: any TrustPolicy
    let observers: Subscribers<@Sendable (TrustDecision) -> Void>
    /// The change of the manager's table that added it; two policies that were added never have the same one.
    let registration: UInt64

    init(
        _ policy: any TrustPolicy, observers: Subscribers<@Sendable (TrustDecision) -> Void>,
        registration: UInt64 = 0
    ) {
        self.policy = policy
        self.observers = observers
        self.registration = registration
    }

    func registered(as registration: UInt64) -> ObservedPolicy {
        ObservedPolicy(policy, observers: observers, registration: registration)
    }

    var evidence: PolicyEvidence { policy.evidence }
    var scope: PolicyScope { policy.scope }
    var revision: UInt64 { policy.revision }
    var needsPreparation: Bool { policy.needsPreparation }

    func prepare() async throws { try await policy.prepare() }

    func objection(asMemberOf rule: CompositePolicy.Rule) -> String? { policy.objection(asMemberOf: rule) }

    func tell(_ decision: TrustDecision) {
        policy.tell(decision)
        for observer in observers.all { observer(decision) }
    }

    func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision { policy.evaluate(trust, at: time) }

    /// Reports the decision to the manager's observers right away, because no proof will follow.
    func decisionWithoutTrust(at time: Date) -> TrustDecision {
        let decision = policy.decisionWithoutTrust(at: time)
        tell(decision)
        return decision
    }
}
