/// Whether the content of an ``UpdatingStore`` is valid at a moment.
public enum StoreState: String, Sendable, Hashable, CaseIterable {
    /// No verified document exists. A fallback that the application ships may still be valid.
    case absent
    /// The document is valid.
    case fresh
    /// The document is valid, but the metadata that proves it to be the newest has expired: an attacker may be
    /// withholding a newer one.
    case stale
    /// The document is no longer fresh. It is still accepted while the store tries to replace it, and each use is
    /// reported.
    case grace
    /// The document is too old and no longer accepted.
    case expired
}
