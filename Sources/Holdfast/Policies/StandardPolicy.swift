public import struct Foundation.Date

/// Trusts a server whose chain validates for the dialed host against the anchors of the trust.
///
/// ```swift
/// let policy = StandardPolicy(host: try HostPattern("www.example.com"))
/// let decision = policy.evaluate(trust, at: clock.now)
/// ```
public struct StandardPolicy: TrustPolicy {
    /// The hosts or clients that the policy applies to.
    public let scope: PolicyScope
    /// Whether the leaf must name the dialed host. If not, any server with a valid certificate for any host passes.
    package let validatesHostName: Bool

    /// Makes a policy for servers.
    /// - Parameters:
    ///   - host: the host, or the pattern of hosts, that it applies to.
    ///   - validatesHostName: whether the leaf must name the dialed host; leave it true.
    public init(host: HostPattern, validatesHostName: Bool = true) {
        scope = .hosts(host)
        self.validatesHostName = validatesHostName
    }

    /// Makes a policy for the clients of a mutual TLS server: their chains must validate for client authentication.
    /// - Parameters:
    ///   - name: the name of the policy in decisions and logs; it is not a host.
    public init(clients name: String) {
        scope = .clients(name)
        validatesHostName = false
    }

    /// A path, for the dialed host if its name is checked.
    public var evidence: PolicyEvidence { validatesHostName ? .pathForHost : .path }

    /// nil: the policy validates by itself.
    public func objection(asMemberOf rule: CompositePolicy.Rule) -> String? { nil }

    /// Evaluates a trust for a time; see ``TrustPolicy/evaluate(_:at:)``.
    public func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        var draft = DecisionDraft(hostName, trust, time)
        do throws(TrustFailure) {
            let purpose = try scope.purpose(of: trust)
            draft.host = purpose.host
            return draft.standardDecision(for: purpose.checkingHost(validatesHostName))
        } catch {
            return draft.rejected(error)
        }
    }
}
