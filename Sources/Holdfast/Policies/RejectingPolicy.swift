package import struct Foundation.Date

/// Rejects everything with one failure: the result of `create` for an invalid configuration, and the policy for a
/// retired host.
package struct RejectingPolicy: TrustPolicy {
    /// The hosts that the policy applies to.
    package let scope: PolicyScope
    /// The failure of every decision.
    package let failure: TrustFailure

    /// Makes a policy that rejects.
    package init(scope: PolicyScope, failure: TrustFailure) {
        self.scope = scope
        self.failure = failure
    }

    /// An invalid configuration must be fixed before it is combined with others.
    package func objection(asMemberOf rule: CompositePolicy.Rule) -> String? {
        guard failure.code == .invalidConfiguration else {
            return rule == .all ? nil : "a policy that rejects everything"
        }
        return "a policy whose configuration is in error (\(failure.found))"
    }

    /// Rejects.
    package func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        DecisionDraft(hostName, trust, time).rejected(failure)
    }

    /// Rejects.
    package func decisionWithoutTrust(at time: Date) -> TrustDecision {
        TrustDecision(.rejected(failure), policyName: hostName, host: nil, time: time, chain: nil)
    }
}
