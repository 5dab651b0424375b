import Synchronization

/// The snapshot that is served now. It is replaced as a whole, and only by a newer one: a publisher that was slow cannot
/// put older documents back.
public final class LiveSnapshot: Sendable {
    private let held: Mutex<PublishedSnapshot>

    /// Begins with a snapshot.
    public init(_ snapshot: PublishedSnapshot = .empty) { held = Mutex(snapshot) }

    /// The snapshot to answer one request from.
    public var current: PublishedSnapshot { held.withLock { $0 } }

    /// Serves another snapshot from now on.
    /// - Returns: false if it is older than the one that is served, which stays then.
    @discardableResult
    public func replace(with snapshot: PublishedSnapshot) -> Bool {
        held.withLock { current in
            guard snapshot.sequence >= current.sequence else { return false }
            current = snapshot
            return true
        }
    }
}
