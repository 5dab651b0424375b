import struct Foundation.Date

/// A policy as its manager hands it out: what it decides, the manager's observers learn, whoever asked.
struct ObservedPolicy: PreparableTrustPolicy {
    let base: any TrustPolicy
    let observers: Subscribers<@Sendable (TrustDecision) -> Void>
    /// The change of the manager's table that put it there: two that were added are never one.
    var registration: UInt64 = 0

    var hostName: String { base.hostName }
    var clock: any WallClock { base.clock }
    var evidence: PolicyEvidence { base.evidence }
    var needsPreparation: Bool { base.inNeedOfPreparation != nil }

    func prepare() async throws { try await base.inNeedOfPreparation?.prepare() }

    func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        observers.tell(base.evaluate(trust, at: time))
    }

    func decisionWithoutTrust(at time: Date) -> TrustDecision {
        observers.tell(base.decisionWithoutTrust(at: time))
    }
}

extension Subscribers where Subscriber == @Sendable (TrustDecision) -> Void {
    func tell(_ decision: TrustDecision) -> TrustDecision {
        for observer in all { observer(decision) }
        return decision
    }
}

extension TrustPolicy {
    /// The policy itself, without the wrapping that a manager puts around it.
    package var unobserved: any TrustPolicy { (self as? ObservedPolicy)?.base ?? self }

    /// Tells a decision of ``unobserved`` to the observers of the manager that the policy came from, if any.
    package func tell(_ decision: TrustDecision) { _ = (self as? ObservedPolicy)?.observers.tell(decision) }
}
