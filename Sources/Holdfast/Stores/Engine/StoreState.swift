/// Whether the content of an ``UpdatingStore`` counts at a moment.
public enum StoreState: String, Sendable, Hashable, CaseIterable {
    /// There is no verified document. A fallback that the application ships may still count.
    case absent
    /// The document counts.
    case fresh
    /// The document counts, but the metadata that proves it to be the newest has expired: somebody may be withholding a
    /// newer one.
    case stale
    /// The document is past its time. It still counts while the store tries to replace it, and each use is reported.
    case grace
    /// The document is too old and no longer counts.
    case expired
}
