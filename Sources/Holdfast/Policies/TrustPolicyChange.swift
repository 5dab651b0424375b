/// A manager's policy for a host or pattern was added, replaced or removed.
///
/// What the policy decided before may no longer hold: code that keeps connections open asks again or ends them.
public struct TrustPolicyChange: Sendable, Hashable {
    /// What happened.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// There was no policy of this name before.
        case added
        /// Another policy took the place of the one of this name.
        case replaced
        /// There is no policy of this name anymore.
        case removed
    }

    /// What happened.
    public let kind: Kind
    /// The name of the policy: a host or pattern in canonical form, any other name as given.
    public let hostName: String
    /// The hosts that it concerns; nil for a name that is neither a host nor a pattern.
    public let pattern: HostPattern?

    /// Whether another policy may decide for a host than did before. It asks the pattern alone: where a more specific
    /// policy decides for the host, nothing changed for it.
    public func concerns(_ host: DialedHost) -> Bool { pattern?.matches(host) ?? false }
}
