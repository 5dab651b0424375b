package import struct Foundation.Date
package import struct Foundation.TimeInterval

/// The times at which a store requests a new document: periodically, and before its pins expire.
///
/// Two updates of a schedule are at least 15 minutes apart: signers publish less often, and a server has many clients.
public struct UpdateSchedule: Sendable, Hashable {
    /// The maximum time between two updates.
    public var updateInterval: Duration
    /// The time before an expiry from which updates become more frequent.
    public var expirationThreshold: Duration

    /// The minimum time between two updates, in seconds, like everything below.
    package static let shortestInterval: TimeInterval = 15 * 60
    /// The minimum interval with the maximum jitter.
    static let longestOfShortIntervals: TimeInterval = shortestInterval * 1.2
    /// The maximum time between two updates.
    var longestInterval: TimeInterval { max(updateInterval.inSeconds, Self.longestOfShortIntervals) }
    /// The factor for the remaining time until a near expiry, so that several updates fit into it.
    static let urgency = 0.125

    /// Makes a schedule.
    public init(
        updateInterval: Duration = .seconds(7 * 86_400), expirationThreshold: Duration = .seconds(14 * 86_400)
    ) {
        self.updateInterval = updateInterval
        self.expirationThreshold = expirationThreshold
    }

    /// The interval to the next update before bounds and jitter.
    ///
    /// The update interval, or the time until the first name loses its last pin if that is shorter; once that time is
    /// under the threshold, an eighth of it.
    /// - Parameters:
    ///   - now: the current time.
    ///   - expiry: the earliest future expiry among the latest entries of all names; nil if every entry has expired:
    ///     expired entries are no reason to hurry.
    private func interval(at now: Date, soonestExpiry expiry: Date?) -> TimeInterval {
        let usual = updateInterval.inSeconds
        guard let expiry else { return usual }
        var remaining = max(0, expiry.timeIntervalSince(now))
        if remaining < expirationThreshold.inSeconds { remaining *= Self.urgency }
        return min(usual, remaining)
    }

    /// The time of the next update: at least 15 minutes away, and up to a fifth of the interval earlier than its end,
    /// or up to a fifth later if the interval is only 15 minutes, so that clients do not all update at once.
    func nextUpdate(at now: Date, soonestExpiry: Date?, using generator: inout some RandomNumberGenerator) -> Date {
        let share = generator.unit() * 0.2
        let shortened = interval(at: now, soonestExpiry: soonestExpiry) * (1 - share)
        let delay = shortened > Self.shortestInterval ? shortened : Self.shortestInterval * (1 + share)
        return now.addingTimeInterval(delay)
    }
}

/// The wait after failures: twice as long after each one, at most an hour, with jitter.
package struct BackOff {
    static let first: TimeInterval = 30
    package static let longest: TimeInterval = 3_600

    /// Seconds to wait after this many failures in a row: between half and all of the doubled time.
    package static func delay(
        afterFailures failures: Int, longest: TimeInterval = Self.longest,
        using generator: inout some RandomNumberGenerator
    ) -> TimeInterval {
        let doublings = max(1, min(failures, 8)) - 1
        let full = min(longest, first * Double(1 << doublings))
        return full * (0.5 + generator.unit() / 2)
    }
}

extension RandomNumberGenerator {
    /// A number from 0 to 1 with 53 bits, made from one word. With the standard library's rejection sampling, a
    /// constant generator of an application would cause an endless loop.
    package mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
