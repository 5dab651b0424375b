/// A manager's policy for a host or pattern was added, replaced or removed.
///
/// Earlier decisions of the policy may no longer hold: code that keeps connections open should evaluate again or end
/// them.
public struct TrustPolicyChange: Sendable, Hashable {
    /// The kinds of changes.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A policy with a new name was added.
        case added
        /// Another policy replaced the one with this name.
        case replaced
        /// The policy with this name was removed.
        case removed
    }

    /// The kind of change.
    public let kind: Kind
    /// The name of the policy: a host or pattern in canonical form, any other name as given.
    public let hostName: String
    /// The hosts that it affects; nil for a name that is neither a host nor a pattern.
    public let pattern: HostPattern?

    /// Whether a different policy may now decide for a host. It checks only the pattern: if a more specific policy
    /// decides for the host, the host is not affected.
    public func concerns(_ host: DialedHost) -> Bool { pattern?.matches(host) ?? false }
}
