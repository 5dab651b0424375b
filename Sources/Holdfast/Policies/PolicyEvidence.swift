/// What a ``TrustPolicy`` evaluates, from the least to the most.
///
/// An adapter that does not see the whole chain of a connection learns from it what to fetch, and what it may leave to the
/// TLS library.
public enum PolicyEvidence: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Nothing: the decision does not depend on what the peer presents.
    case nothing
    /// The leaf may be enough to trust. A rejection of the leaf alone means nothing: it takes the whole chain to
    /// reject.
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
