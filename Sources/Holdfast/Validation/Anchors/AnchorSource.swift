/// Where a ``PathValidator`` takes its anchors from: ``TrustAnchors``, a set that stays as it is, or a
/// ``TrustAnchorStore``, which reloads.
///
/// A source of your own is asked once at the beginning of every validation, from any thread. It returns what it has,
/// without I/O.
public protocol AnchorSource: Sendable {
    /// The current set, always complete.
    var current: TrustAnchors { get }
}

extension TrustAnchors: AnchorSource {
    /// The set itself.
    public var current: TrustAnchors { self }
}

extension TrustAnchorStore: AnchorSource {}
