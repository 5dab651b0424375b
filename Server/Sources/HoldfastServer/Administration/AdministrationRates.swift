import NIOCore
import Synchronization

/// How often each may call: a few wrong tokens from a source, and for each token as much of what is costly as one
/// processor can do beside everything else, and as much of what is kept as a disk has room for.
final class AdministrationRates: Sendable {
    private struct State {
        /// Two a second for each source, after the first hundred and fifty.
        var failures = SourceBuckets(rate: 2, burst: 150, maximumCount: 4_096)
        /// One a second for each token, after the first sixty.
        var costly = TokenBuckets<String>(
            rate: 1, burst: Double(maximumSaved), maximumCount: Catalog.maximumTokenCount)
        /// One a minute for each token, after the first thousand: a body has 256 KiB.
        var announcements = TokenBuckets<String>(
            rate: 1.0 / 60, burst: 1_000, maximumCount: Catalog.maximumTokenCount)
    }

    /// How much of what is costly a token can have saved.
    private static let maximumSaved = 60

    private let state = Mutex(State())
    private let instant: @Sendable () -> UInt64

    /// - Parameter instant: nanoseconds that never go back.
    init(instant: @escaping @Sendable () -> UInt64 = { NIODeadline.now().uptimeNanoseconds }) {
        self.instant = instant
    }

    /// Counts a request without a token that counts.
    /// - Returns: nil if it gets a full answer, else how many seconds to wait.
    func takeFailure(_ source: SourcePrefix) -> Int? {
        state.withLock { $0.failures.take(source, at: instant()) }.map { Int($0.rounded(.up)) }
    }

    /// Counts something costly.
    /// - Parameter token: the name of the token.
    /// - Returns: nil if it may be done, else how many seconds to wait.
    func takeCostly(_ token: String) -> Int? {
        state.withLock { $0.costly.take(token, at: instant()) }.map { Int($0.rounded(.up)) }
    }

    /// Counts something that is kept.
    /// - Parameter token: the name of the token.
    /// - Returns: nil if it may be kept, else how many seconds to wait.
    func takeAnnouncement(_ token: String) -> Int? {
        state.withLock { $0.announcements.take(token, at: instant()) }.map { Int($0.rounded(.up)) }
    }
}
