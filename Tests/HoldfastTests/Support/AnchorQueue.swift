@testable import Holdfast

/// Sets of anchors that a source yields one after another; nil is a source that fails.
final class AnchorQueue: Sendable {
    private let rest: Lock<[TrustAnchors?]>

    init(_ sets: [TrustAnchors?]) { rest = Lock(sets) }

    func next() throws -> TrustAnchors {
        let next = rest.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        guard let next else { throw DERError(.truncated, at: 0) }
        return next
    }
}
