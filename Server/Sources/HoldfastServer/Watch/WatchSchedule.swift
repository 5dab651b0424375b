/// When to look at a host again.
public struct WatchSchedule: Sendable, Hashable {
    /// Seconds between two looks.
    public let interval: Int64
    /// The part of the interval by which a look may be earlier or later, so that hosts which were added together are not
    /// asked together for ever.
    public let jitter: Double

    /// Every five minutes, a tenth earlier or later.
    public static let usual = WatchSchedule(interval: 300, jitter: 0.1)

    /// Makes a schedule.
    /// - Parameters:
    ///   - interval: seconds, at least 1.
    ///   - jitter: 0 to 1.
    public init(interval: Int64, jitter: Double) {
        self.interval = max(1, interval)
        self.jitter = min(max(jitter, 0), 1)
    }

    /// When to look again.
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - generator: where chance comes from.
    public func next(after now: Int64, using generator: inout some RandomNumberGenerator) -> Int64 {
        let spread = Double(interval) * jitter
        return now + max(1, interval + Int64(Double.random(in: -spread...spread, using: &generator).rounded()))
    }
}
