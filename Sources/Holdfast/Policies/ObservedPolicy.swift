import struct Foundation.Date

/// A policy as its manager hands it out: what it decides, the manager's observers learn, whoever asked.
///
/// A class, so that a table of many hosts is small and a lookup copies a reference.
final class ObservedPolicy: TrustPolicy {
    let unwrapped: any TrustPolicy
    let observers: Subscribers<@Sendable (TrustDecision) -> Void>
    /// The change of the manager's table that put it there: two that were added are never one.
    let registration: UInt64

    init(
        _ unwrapped: any TrustPolicy, observers: Subscribers<@Sendable (TrustDecision) -> Void>,
        registration: UInt64 = 0
    ) {
        self.unwrapped = unwrapped
        self.observers = observers
        self.registration = registration
    }

    func registered(as registration: UInt64) -> ObservedPolicy {
        ObservedPolicy(unwrapped, observers: observers, registration: registration)
    }

    var hostName: String { unwrapped.hostName }
    var clock: any WallClock { unwrapped.clock }
    var evidence: PolicyEvidence { unwrapped.evidence }
    var scope: PolicyScope { unwrapped.scope }
    var revision: UInt64 { unwrapped.revision }
    var needsPreparation: Bool { unwrapped.needsPreparation }

    func prepare() async throws { try await unwrapped.prepare() }

    func objection(asMemberOf rule: CompositePolicy.Rule) -> String? { unwrapped.objection(asMemberOf: rule) }

    func tell(_ decision: TrustDecision) {
        unwrapped.tell(decision)
        for observer in observers.all { observer(decision) }
    }

    /// Hands the decision out for its manager, and so tells of it.
    func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        told(unwrapped.evaluate(trust, at: time))
    }

    func decisionWithoutTrust(at time: Date) -> TrustDecision { told(unwrapped.decisionWithoutTrust(at: time)) }

    private func told(_ decision: TrustDecision) -> TrustDecision {
        tell(decision)
        return decision
    }
}
