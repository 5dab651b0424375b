import Holdfast
import Synchronization

/// Anchors that a test replaces.
final class AnchorBox: Sendable {
    private let state: Mutex<TrustAnchors>
    init(_ anchors: TrustAnchors) { state = Mutex(anchors) }

    var current: TrustAnchors {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
