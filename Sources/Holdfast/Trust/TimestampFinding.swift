package import struct Foundation.Date

/// The result for one timestamp of a transparency log in a leaf (RFC 6962 3.3), reported when too few timestamps count.
package struct TimestampFinding: Sendable, Hashable {
    /// Its position in the leaf's list; the first is 0.
    package let position: Int
    /// The name of the log in the log list, and the name of its operator at that time; the Base64 of the log's
    /// identifier if the list does not have it; nil if the timestamp cannot be read.
    package let log: String?
    /// The time at which the log issued it, to the second; nil if it cannot be read.
    package let date: Date?
    /// The reason why it does not count; nil if it counts.
    package let objection: String?
}

extension TimestampFinding: CustomStringConvertible {
    /// For example `timestamp 1 of "Argon 2027" (operator "Example"), 2027-02-21T12:00:00Z: counts`.
    public var description: String {
        let log = log.map { " of \($0)" } ?? ""
        let date = date.map { ", \($0.formatted(.iso8601))" } ?? ""
        return "timestamp \(position + 1)\(log)\(date): \(objection.map { "does not count: \($0)" } ?? "counts")"
    }
}
