/// How long to wait after a notice was not taken: longer each time, and by chance, so that servers which lost the same
/// receiver do not come back together.
public struct NoticeBackoff: Sendable, Hashable {
    /// After the first failure.
    public let first: Duration
    /// Never longer.
    public let greatest: Duration
    /// The part of the wait that is left to chance, 0 to 1.
    public let jitter: Double

    /// Five seconds, doubled each time up to a quarter of an hour, half of it by chance.
    public static let usual = NoticeBackoff(first: .seconds(5), greatest: .seconds(900), jitter: 0.5)

    /// Makes a schedule.
    /// - Parameters:
    ///   - first: after the first failure.
    ///   - greatest: never longer.
    ///   - jitter: the part of the wait that is left to chance, 0 to 1.
    public init(first: Duration, greatest: Duration, jitter: Double) {
        self.first = first
        self.greatest = greatest
        self.jitter = min(max(jitter, 0), 1)
    }

    /// How long to wait.
    /// - Parameters:
    ///   - failures: how often it has failed without a success, from 1 on.
    ///   - generator: where chance comes from.
    func delay(after failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let longest = min(greatest, first * (1 << min(max(failures - 1, 0), 16)))
        return longest * (1 - Double.random(in: 0...jitter, using: &generator))
    }
}
