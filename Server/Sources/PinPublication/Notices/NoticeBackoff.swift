/// The delay after a failed delivery. It grows with each failure and is partly random, so that servers with the same
/// receiver do not retry at the same time.
struct NoticeBackoff: Sendable, Hashable {
    /// The delay after the first failure.
    let first: Duration
    /// The maximum delay.
    let greatest: Duration
    /// The random part of the delay, 0 to 1.
    let jitter: Double

    /// Five seconds, doubled each time up to 15 minutes; up to half of it is subtracted at random.
    static let usual = NoticeBackoff(first: .seconds(5), greatest: .seconds(900), jitter: 0.5)

    /// Makes a schedule.
    /// - Parameters:
    ///   - first: the delay after the first failure.
    ///   - greatest: the maximum delay.
    ///   - jitter: the random part of the delay, 0 to 1.
    init(first: Duration, greatest: Duration, jitter: Double) {
        self.first = first
        self.greatest = greatest
        self.jitter = min(max(jitter, 0), 1)
    }

    /// Returns a delay.
    /// - Parameters:
    ///   - failures: the number of failures since the last success, at least 1.
    ///   - generator: the source of randomness.
    func delay(after failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let longest = min(greatest, first * (1 << min(max(failures - 1, 0), 16)))
        return longest * (1 - Double.random(in: 0...jitter, using: &generator))
    }
}
