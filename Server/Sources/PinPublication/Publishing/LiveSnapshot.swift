import Synchronization

/// The snapshot that is served now. Only a newer snapshot replaces it, as a whole: a slow publisher cannot bring back
/// older documents.
package final class LiveSnapshot: Sendable {
    private let held: Mutex<PublishedSnapshot>

    /// Starts with a snapshot.
    package init(_ snapshot: PublishedSnapshot = .empty) { held = Mutex(snapshot) }

    /// The snapshot to answer one request from.
    package var current: PublishedSnapshot { held.withLock { $0 } }

    /// Serves another snapshot from now on.
    /// - Returns: false if it is older than the served one, which stays.
    @discardableResult
    package func replace(with snapshot: PublishedSnapshot) -> Bool {
        held.withLock { current in
            guard snapshot.sequence >= current.sequence else { return false }
            current = snapshot
            return true
        }
    }
}
