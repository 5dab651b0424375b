import NIOCore
import ServerFoundation
import ServerHTTP
import Synchronization

/// Limits how often pages are made: per session, or per source for requests without a session.
package final class PageRates: Sendable {
    private struct State {
        /// 10 per second and source after the first 300: people in one office share an address.
        var sources = SourceBuckets(rate: 10, burst: 300, maximumCount: 4_096)
        /// One per second and session after the first 60, more than a person reads.
        var sessions = TokenBuckets<Digest>(rate: 1, burst: 60, maximumCount: 2_048)
        /// The style and the script cost little, and a browser may request both for each page.
        var files = TokenBuckets<Digest>(rate: 10, burst: 300, maximumCount: 2_048)
    }

    private let state = Mutex(State())
    private let instant: @Sendable () -> UInt64

    /// - Parameter instant: returns a monotonic time in nanoseconds.
    init(instant: @escaping @Sendable () -> UInt64 = { NIODeadline.now().uptimeNanoseconds }) {
        self.instant = instant
    }

    /// Counts a request without a session.
    /// - Returns: nil if the request is allowed, else the number of seconds to wait.
    func take(_ source: SourcePrefix) -> Int? {
        state.withLock { $0.sources.take(source, at: instant()) }.map { Int($0.rounded(.up)) }
    }

    /// Counts a request with a session.
    /// - Parameters:
    ///   - session: the identifier of the session.
    ///   - isOfFile: whether the request is for the style or the script instead of a page.
    /// - Returns: nil if the request is allowed, else the number of seconds to wait.
    func take(session: Digest, isOfFile: Bool) -> Int? {
        state.withLock { state in
            isOfFile ? state.files.take(session, at: instant()) : state.sessions.take(session, at: instant())
        }.map { Int($0.rounded(.up)) }
    }
}
