/// The evidence that a ``TrustPolicy`` evaluates, from the least to the most.
///
/// From this, an adapter that does not see the whole chain of a connection learns what to fetch, and what it may leave
/// to the TLS library.
public enum PolicyEvidence: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Nothing: the decision does not depend on what the peer presents.
    case nothing
    /// The leaf may be enough to trust the peer, but not to reject it: for that the policy needs the whole chain.
    case leaf
    /// The chain as it was presented, in the policy's own way. No path to the anchors of the trust is required.
    case chain
    /// A valid path to the anchors of the trust, and perhaps more.
    case path
    /// A valid path to the anchors of the trust for the host that was dialed, and perhaps more.
    case pathForHost

    /// Compares how much is evaluated.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
