/// Where a ``PathValidator`` gets its anchors: ``TrustAnchors``, a set that does not change, or a ``TrustAnchorStore``,
/// which reloads.
///
/// Your own source is asked once at the beginning of every validation, from any thread. It returns what it has, without
/// I/O.
public protocol AnchorSource: Sendable {
    /// The current set, always complete.
    var current: TrustAnchors { get }
}

extension TrustAnchors: AnchorSource {
    /// The set itself.
    public var current: TrustAnchors { self }
}

extension TrustAnchorStore: AnchorSource {}
