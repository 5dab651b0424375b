import Synchronization

/// Counts deliveries by target, for `/metrics`.
package final class NoticeCounters: Sendable {
    /// The counts of one target.
    package struct Counts: Sendable, Hashable {
        package var waiting = 0
        package var delivered = 0
        package var failures = 0
    }

    private let state = Mutex<[String: Counts]>([:])

    /// Creates counters at zero.
    package init() {}

    /// The counts by target.
    package var counts: [String: Counts] { state.withLock { $0 } }

    package func change(_ target: String, _ body: (inout Counts) -> Void) {
        state.withLock { body(&$0[target, default: Counts()]) }
    }
}
