import NIOCore
import Synchronization

/// How often strangers may call: whoever has no session yet has each source's share, since the server verifies what they send;
/// and how often somebody who is signed in may, who has a session
/// for a day and the server verify and write each time.
final class SignInRates: Sendable {
    /// One in three seconds for each source, after the first forty. A sign-in takes two.
    private let calls = Mutex(SourceBuckets(rate: 1.0 / 3, burst: 40, maximumCount: 4_096))
    /// One in two seconds for each session, after the first thirty. An approval takes two.
    private let sessions = Mutex(TokenBuckets<Digest>(rate: 0.5, burst: 30, maximumCount: 2_048))
    private let instant: @Sendable () -> UInt64

    /// - Parameter instant: nanoseconds that never go back.
    init(instant: @escaping @Sendable () -> UInt64 = { NIODeadline.now().uptimeNanoseconds }) {
        self.instant = instant
    }

    /// Counts a call of somebody who is not signed in.
    /// - Returns: nil if it is answered, else how many seconds to wait.
    func take(_ source: SourcePrefix) -> Int? {
        calls.withLock { $0.take(source, at: instant()) }.map { Int($0.rounded(.up)) }
    }

    /// Counts a call of somebody who is signed in.
    /// - Returns: nil if it is answered, else how many seconds to wait.
    func take(session: Digest) -> Int? {
        sessions.withLock { $0.take(session, at: instant()) }.map { Int($0.rounded(.up)) }
    }
}
