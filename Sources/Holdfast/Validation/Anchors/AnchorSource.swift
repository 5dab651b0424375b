/// The source of a ``PathValidator``'s anchors: ``TrustAnchors``, a set that does not change, or a
/// ``TrustAnchorStore``, which reloads.
///
/// Holdfast reads your own source once at the beginning of every validation, from any thread. It must return the
/// current set without I/O.
public protocol AnchorSource: Sendable {
    /// The current set, always complete.
    var current: TrustAnchors { get }
}

extension TrustAnchors: AnchorSource {
    /// The set itself.
    public var current: TrustAnchors { self }
}

extension TrustAnchorStore: AnchorSource {}
