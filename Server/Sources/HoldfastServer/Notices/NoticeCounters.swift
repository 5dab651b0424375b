import Synchronization

/// Counts what targets took, for `/metrics`.
public final class NoticeCounters: Sendable {
    /// What is counted for one target.
    struct Counts: Sendable, Hashable {
        var waiting = 0
        var delivered = 0
        var failures = 0
    }

    private let state = Mutex<[String: Counts]>([:])

    /// Begins at zero.
    public init() {}

    /// By the names of targets.
    var counts: [String: Counts] { state.withLock { $0 } }

    func change(_ target: String, _ body: (inout Counts) -> Void) {
        state.withLock { body(&$0[target, default: Counts()]) }
    }
}
