/// A check that a change must pass before it is published, in the order in which they run.
package enum Gate: String, Sendable, Hashable, CaseIterable {
    /// The content can be read, and every document of it can be created.
    case validation
    /// The base of the change is what is published now.
    case base
    /// The linter: a backup pin exists, no pin in use is removed, and lifetimes fit the staleness limits.
    case lint
    /// Clients with documents of any age accept the change.
    case replay
    /// The outlook shows no client locked out.
    case outlook
    /// The holders of a repository's offline keys have signed what was approved, and nothing else.
    case signatures
    /// The canary was followed for its time.
    case canary
    /// The public URL serves exactly the bytes that were uploaded.
    case readback

    /// Whether approvers can let a change pass that fails it. Unreadable content and a base that has moved are not what
    /// was approved, and no approval replaces a signature that clients verify.
    package var canBeForced: Bool { self != .validation && self != .base && self != .signatures }
}
