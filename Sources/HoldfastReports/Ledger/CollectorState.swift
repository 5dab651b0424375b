import Foundation
import Holdfast

/// The reaction of a collector to the last reports.
struct CollectorState: Codable, Hashable, Sendable {
    /// Consecutive failures.
    private(set) var failures = 0
    /// The time before which nothing is sent to it, in seconds since 1970.
    private(set) var retryAt: Int64 = 0

    /// More failures do not make the wait longer.
    private static let mostFailures = 64

    /// Resets the state after a report that the collector accepted or refused.
    mutating func answered() { self = CollectorState() }

    /// Records a report that the collector did not accept.
    /// - Parameter pause: the pause that it requests.
    mutating func failed(at now: Int64, pause: Duration?, using generator: inout some RandomNumberGenerator) {
        failures = min(failures + 1, Self.mostFailures)
        let wait = BackOff.delay(afterFailures: failures, using: &generator)
        let asked = min(pause ?? .zero, ReportLimits.longestPause).inSeconds
        retryAt = now + Int64(max(wait, asked).rounded(.up))
    }

    /// Limits the delay of a state that was stored under another clock to the maximum pause of a collector.
    mutating func correct(at now: Int64) {
        failures = max(0, min(failures, Self.mostFailures))
        let longest = Int64(ReportLimits.longestPause.inSeconds)
        if retryAt > now + longest { retryAt = now + longest }
    }
}
