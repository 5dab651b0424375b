import NIOCore
import ServerHTTP
import ServerStore
import Synchronization

/// Limits calls. A source may send only a few wrong tokens. A token may start as much costly work as one processor can
/// do in addition to everything else, and store as much as a disk has room for.
package final class AdministrationRates: Sendable {
    private struct State {
        /// Two per second and source, after the first 150.
        var failures = SourceBuckets(rate: 2, burst: 150, maximumCount: 4_096)
        /// One per second and token, after the first 60.
        var costly = TokenBuckets<String>(
            rate: 1, burst: Double(maximumSaved), maximumCount: Catalog.maximumTokenCount)
        /// One per minute and token, after the first 1,000: a body may have 256 KiB.
        var announcements = TokenBuckets<String>(
            rate: 1.0 / 60, burst: 1_000, maximumCount: Catalog.maximumTokenCount)
    }

    /// Maximum number of costly calls that a token can have saved.
    private static let maximumSaved = 60

    private let state = Mutex(State())
    private let instant: @Sendable () -> UInt64

    /// - Parameter instant: returns a monotonic time in nanoseconds.
    init(instant: @escaping @Sendable () -> UInt64 = { NIODeadline.now().uptimeNanoseconds }) {
        self.instant = instant
    }

    /// Counts a request without a valid token.
    /// - Returns: nil if it gets a full response, else the number of seconds to wait.
    func takeFailure(_ source: SourcePrefix) -> Int? {
        state.withLock { $0.failures.take(source, at: instant()) }.map { Int($0.rounded(.up)) }
    }

    /// Counts a costly call.
    /// - Parameter token: the name of the token.
    /// - Returns: nil if it is allowed, else the number of seconds to wait.
    func takeCostly(_ token: String) -> Int? {
        state.withLock { $0.costly.take(token, at: instant()) }.map { Int($0.rounded(.up)) }
    }

    /// Counts a call that stores data permanently.
    /// - Parameter token: the name of the token.
    /// - Returns: nil if it is allowed, else the number of seconds to wait.
    func takeAnnouncement(_ token: String) -> Int? {
        state.withLock { $0.announcements.take(token, at: instant()) }.map { Int($0.rounded(.up)) }
    }
}
