import NIOCore
import Synchronization

/// How often pages are made: for a session, and for a source, whoever asks from there without one.
final class PageRates: Sendable {
    private struct State {
        /// Ten a second for each source, after the first three hundred: people of one office share an address.
        var sources = SourceBuckets(rate: 10, burst: 300, maximumCount: 4_096)
        /// One a second for each session, after the first sixty: more than somebody reads.
        var sessions = TokenBuckets<Digest>(rate: 1, burst: 60, maximumCount: 2_048)
        /// The style and the script cost little, and each page may have the browser ask for both.
        var files = TokenBuckets<Digest>(rate: 10, burst: 300, maximumCount: 2_048)
    }

    private let state = Mutex(State())
    private let instant: @Sendable () -> UInt64

    /// - Parameter instant: nanoseconds that never go back.
    init(instant: @escaping @Sendable () -> UInt64 = { NIODeadline.now().uptimeNanoseconds }) {
        self.instant = instant
    }

    /// Counts a request of somebody who is not signed in.
    /// - Returns: nil if it is answered, else how many seconds to wait.
    func take(_ source: SourcePrefix) -> Int? {
        state.withLock { $0.sources.take(source, at: instant()) }.map { Int($0.rounded(.up)) }
    }

    /// Counts a request of somebody who is signed in.
    /// - Parameters:
    ///   - session: what their session is known by.
    ///   - isOfFile: whether it is for the style or the script, and not for a page.
    /// - Returns: nil if it is answered, else how many seconds to wait.
    func take(session: Digest, isOfFile: Bool) -> Int? {
        state.withLock { state in
            isOfFile ? state.files.take(session, at: instant()) : state.sessions.take(session, at: instant())
        }.map { Int($0.rounded(.up)) }
    }
}
