import Holdfast

/// Anchors that a test replaces.
final class AnchorBox: Sendable {
    private let state: Lock<TrustAnchors>
    init(_ anchors: TrustAnchors) { state = Lock(anchors) }

    var current: TrustAnchors {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
