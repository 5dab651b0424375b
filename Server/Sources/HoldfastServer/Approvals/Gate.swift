/// A check that a change must pass before it is published, in the order in which they run.
public enum Gate: String, Sendable, Hashable, CaseIterable {
    /// The content can be read and every document of it can be made.
    case validation
    /// The base of the change is what is published now.
    case base
    /// The linter: a backup pin, nothing dropped that is served, lives against staleness.
    case lint
    /// Clients of every age follow the change.
    case replay
    /// The outlook shows nobody locked out.
    case outlook
    /// The holders of a repository's offline keys have signed what was approved, and nothing else.
    case signatures
    /// The canary was followed for its time.
    case canary
    /// What was uploaded is what a client reads at the public URL.
    case readback

    /// Whether approvers can let a change pass that fails it. A content that cannot be read, and a base that moved, are
    /// not what anybody approved; and no approval stands for a signature that clients look for.
    public var canBeForced: Bool { self != .validation && self != .base && self != .signatures }
}
