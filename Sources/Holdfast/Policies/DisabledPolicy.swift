public import struct Foundation.Date

/// Trusts every server of its host, whatever it presents. For development.
///
/// Every decision states in its ``TrustDecision/notices`` that validation is disabled, and a warning is logged once per
/// host. Only a trust that is known to be for another host is rejected.
public struct DisabledPolicy: TrustPolicy {
    /// The hosts that the policy applies to.
    public let scope: PolicyScope
    private let log: PolicyLog

    /// Makes a policy that accepts everything.
    /// - Parameters:
    ///   - host: the host, or the pattern of hosts, that it applies to.
    public init(host: HostPattern) { self.init(host: host, log: .shared) }

    package init(host: HostPattern, log: PolicyLog) {
        scope = .hosts(host)
        self.log = log
    }

    /// ``PolicyEvidence/nothing``.
    public var evidence: PolicyEvidence { .nothing }

    /// Not allowed in any-of: it would accept no matter what the others decide.
    public func objection(asMemberOf rule: CompositePolicy.Rule) -> String? {
        rule == .all ? nil : "a policy that validates nothing"
    }

    /// Accepts; see ``TrustPolicy/evaluate(_:at:)``.
    public func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        var draft = DecisionDraft(hostName, trust, time)
        do throws(TrustFailure) {
            draft.host = try scope.host(of: trust)
        } catch  where error.code != .hostUnknown {
            return draft.rejected(error)
        } catch {
            // The host does not affect the decision, so a pattern accepts a trust without one.
        }
        draft.note(Self.notice)
        log.validationDisabled(for: draft.host?.name ?? hostName)
        return draft.trusted(path: nil)
    }

    /// Accepts a missing trust as well, as this type always has.
    public func decisionWithoutTrust(at time: Date) -> TrustDecision {
        log.validationDisabled(for: hostName)
        return TrustDecision(
            .trusted, policyName: hostName, host: nil, time: time, chain: nil,
            notices: [Self.notice])
    }

    private static let notice = TrustFailure(
        .validationDisabled, expected: "a validation of the server", found: "validation switched off")
}
