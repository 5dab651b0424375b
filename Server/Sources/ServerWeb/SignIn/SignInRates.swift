import NIOCore
import ServerFoundation
import ServerHTTP
import Synchronization

/// Limits how often clients may call. Clients without a session share the rate of their source, because the server
/// verifies what they send. Clients with a session have its rate, because each of their calls makes the server verify
/// and write.
package final class SignInRates: Sendable {
    /// One call in 3 seconds per source, after the first 40. A sign-in takes two.
    private let calls = Mutex(SourceBuckets(rate: 1.0 / 3, burst: 40, maximumCount: 4_096))
    /// One call in 2 seconds per session, after the first 30. An approval takes two.
    private let sessions = Mutex(TokenBuckets<Digest>(rate: 0.5, burst: 30, maximumCount: 2_048))
    private let instant: @Sendable () -> UInt64

    /// - Parameter instant: returns a monotonic time in nanoseconds.
    init(instant: @escaping @Sendable () -> UInt64 = { NIODeadline.now().uptimeNanoseconds }) {
        self.instant = instant
    }

    /// Counts a call without a session.
    /// - Returns: nil if the call is allowed, else the number of seconds to wait.
    func take(_ source: SourcePrefix) -> Int? {
        calls.withLock { $0.take(source, at: instant()) }.map { Int($0.rounded(.up)) }
    }

    /// Counts a call with a session.
    /// - Returns: nil if the call is allowed, else the number of seconds to wait.
    func take(session: Digest) -> Int? {
        sessions.withLock { $0.take(session, at: instant()) }.map { Int($0.rounded(.up)) }
    }
}
