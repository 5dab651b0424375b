package import Foundation

/// The days until an end, as reports print them.
package enum DaysLeft {
    /// Whole days, rounded down. Times of certificates and clocks are far from overflowing.
    package static func days(until end: Date, from now: Date) -> Int {
        let days = (end.timeIntervalSince(now) / 86_400).rounded(.down)
        return days.isFinite && abs(days) < 1e9 ? Int(days) : 0
    }

    /// A time, with the remaining days.
    package static func end(_ end: Date, from now: Date) -> String {
        "\(end.formatted(.iso8601)), \(text(days(until: end, from: now)))"
    }

    package static func text(_ days: Int) -> String {
        switch days {
        case ..<(-1): "ended \(-days) days ago"
        case -1: "ended within the last day"
        case 0: "ends today"
        case 1: "1 day left"
        default: "\(days) days left"
        }
    }
}
