import struct Foundation.Date

/// Rejects everything with one failure: what `create` makes of a configuration in error, and a host that is retired.
struct RejectingPolicy: TrustPolicy {
    let scope: PolicyScope
    let validationType: ValidationType?
    let failure: TrustFailure
    let clock: any WallClock

    var hostName: String { scope.name }

    /// A configuration in error is to be mended, not to be combined.
    func objection(asMemberOf rule: CompositePolicy.Rule) -> String? {
        guard failure.code == .invalidConfiguration else {
            return rule == .all ? nil : "a policy that rejects everything"
        }
        return "a policy whose configuration is in error (\(failure.found))"
    }

    func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        DecisionDraft(hostName, validationType, trust, time).rejected(failure)
    }

    func decisionWithoutTrust(at time: Date) -> TrustDecision {
        TrustDecision(
            .rejected(failure), policyName: hostName, validationType: validationType, host: nil, time: time,
            chain: nil)
    }
}
