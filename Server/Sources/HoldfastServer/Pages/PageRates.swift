import NIOCore
import Synchronization

/// How often pages are made: for a source, whoever asks from there, and for a session.
final class PageRates: Sendable {
    private struct State {
        /// Ten a second for each source, after the first three hundred: people of one office share an address.
        var sources = TokenBuckets<SourcePrefix>(rate: 10, burst: 300, greatestCount: 4_096)
        /// One a second for each session, after the first sixty: more than somebody reads.
        var sessions = TokenBuckets<Digest>(rate: 1, burst: 60, greatestCount: 2_048)
    }

    private let state = Mutex(State())
    private let instant: @Sendable () -> UInt64

    /// - Parameter instant: nanoseconds that never go back.
    init(instant: @escaping @Sendable () -> UInt64 = { NIODeadline.now().uptimeNanoseconds }) {
        self.instant = instant
    }

    /// Counts a request, before anybody knows whose it is.
    /// - Returns: nil if it is answered, else how many seconds to wait.
    func take(_ source: SourcePrefix) -> Int? {
        state.withLock { $0.sources.take(source, at: instant()) }.map { Int($0.rounded(.up)) }
    }

    /// Counts a page for somebody.
    /// - Parameter session: what their session is known by.
    /// - Returns: nil if it is made, else how many seconds to wait.
    func take(session: Digest) -> Int? {
        state.withLock { $0.sessions.take(session, at: instant()) }.map { Int($0.rounded(.up)) }
    }
}
