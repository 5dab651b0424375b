import Foundation
import Holdfast

/// How a collector took the last reports.
struct CollectorState: Codable, Hashable, Sendable {
    /// Failures in a row.
    private(set) var failures = 0
    /// Before this nothing is sent to it, in seconds since 1970.
    private(set) var retryAt: Int64 = 0

    /// More failures do not make the wait longer.
    private static let mostFailures = 64

    /// After a report that it took or refused.
    mutating func answered() { self = CollectorState() }

    /// After a report that it did not take.
    /// - Parameter pause: how long it asks to be left alone.
    mutating func failed(at now: Int64, pause: Duration?, using generator: inout some RandomNumberGenerator) {
        failures = min(failures + 1, Self.mostFailures)
        let wait = BackOff.delay(afterFailures: failures, using: &generator)
        let asked = min(pause ?? .zero, ReportLimits.longestPause).inSeconds
        retryAt = now + Int64(max(wait, asked).rounded(.up))
    }

    /// A state that was stored under another clock does not stop reports for longer than a collector could ask.
    mutating func correct(at now: Int64) {
        failures = max(0, min(failures, Self.mostFailures))
        let longest = Int64(ReportLimits.longestPause.inSeconds)
        if retryAt > now + longest { retryAt = now + longest }
    }
}
