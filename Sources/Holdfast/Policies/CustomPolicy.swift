public import struct Foundation.Date

/// Leaves the decision to the application.
///
/// Holdfast validates nothing for it: the closure gets the trust and answers. A trust for a host that the policy does
/// not cover never reaches the closure; a missing trust does, as nil.
public struct CustomPolicy: TrustPolicy {
    /// The application's answer about a trust, or about its absence. It is called on the thread that evaluates.
    public typealias Validation = @Sendable (ServerTrust?) -> Bool

    /// The hosts that the policy applies to.
    public let scope: PolicyScope
    private let validation: Validation

    /// Makes a policy that queries the application.
    /// - Parameters:
    ///   - host: the host, or the pattern of hosts, that it applies to.
    ///   - validation: the application's answer.
    public init(host: HostPattern, validation: @escaping Validation) {
        scope = .hosts(host)
        self.validation = validation
    }

    /// Not allowed in any-of: Holdfast does not know what the application proves.
    public func objection(asMemberOf rule: CompositePolicy.Rule) -> String? {
        rule == .all ? nil : "a policy that asks the application"
    }

    /// Calls the closure; see ``TrustPolicy/evaluate(_:at:)``.
    public func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        var draft = DecisionDraft(hostName, trust, time)
        do throws(TrustFailure) {
            draft.host = try scope.host(of: trust)
        } catch {
            return draft.rejected(error)
        }
        guard validation(trust) else { return draft.rejected(Self.refusal) }
        // The closure may have checked anything, but it saw only the presented certificates.
        draft.restsOnWhat(endsAt: trust.chain.earliestEnd(after: time))
        return draft.trusted(path: nil)
    }

    /// Calls the closure with nil.
    public func decisionWithoutTrust(at time: Date) -> TrustDecision {
        TrustDecision(
            validation(nil) ? .trusted : .rejected(Self.refusal), policyName: hostName, host: nil, time: time,
            chain: nil)
    }

    private static let refusal = TrustFailure(
        .customValidationRejected, expected: "true from the application's validation", found: "false")
}
