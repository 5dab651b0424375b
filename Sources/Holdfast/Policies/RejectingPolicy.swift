import struct Foundation.Date

/// Rejects everything with one failure: what `create` makes of a configuration in error.
struct RejectingPolicy: ScopedPolicy {
    let scope: PolicyScope
    let validationType: ValidationType
    let failure: TrustFailure
    let clock: any WallClock

    var hostName: String { scope.name }

    func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        DecisionDraft(hostName, validationType, trust, time).rejected(failure)
    }

    func decisionWithoutTrust(at time: Date) -> TrustDecision {
        TrustDecision(
            .rejected(failure), policyName: hostName, validationType: validationType, host: nil, time: time,
            chain: nil)
    }
}
