/// The schedule of probes of a host.
package struct WatchSchedule: Sendable, Hashable {
    /// The seconds between two probes.
    package let interval: Int64
    /// The part of the interval by which a probe may be earlier or later, so that hosts added together are not always
    /// probed together.
    package let jitter: Double

    /// Every five minutes, a tenth earlier or later.
    package static let usual = WatchSchedule(interval: 300, jitter: 0.1)

    /// Makes a schedule.
    /// - Parameters:
    ///   - interval: seconds, at least 1.
    ///   - jitter: 0 to 1.
    package init(interval: Int64, jitter: Double) {
        self.interval = max(1, interval)
        self.jitter = min(max(jitter, 0), 1)
    }

    /// The time of the next probe.
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - generator: the source of randomness.
    package func next(after now: Int64, using generator: inout some RandomNumberGenerator) -> Int64 {
        let spread = Double(interval) * jitter
        return now + max(1, interval + Int64(Double.random(in: -spread...spread, using: &generator).rounded()))
    }
}
