package import Foundation

/// Times for people: in the time zone of this machine, with its offset (RFC 3339). Programs get UTC.
package enum LocalTime {
    /// Such as `2027-02-19T13:00:00+01:00`, or `2027-02-19T12:00:00Z` on a machine whose zone is UTC.
    package static func text(_ date: Date, in zone: TimeZone = .current) -> String {
        date.formatted(
            Date.ISO8601FormatStyle(
                dateSeparator: .dash, dateTimeSeparator: .standard, timeSeparator: .colon, timeZoneSeparator: .colon,
                includingFractionalSeconds: false, timeZone: zone))
    }

    /// Converts a field of a report that is a time in UTC, `2027-02-19T12:00:00Z`, to this zone. Anything else stays as
    /// it is. Only for whole fields that Holdfast made: text from outside may contain times, and is not changed.
    package static func text(ofField text: String, in zone: TimeZone = .current) -> String {
        guard text.utf8.count == 20, let date = try? Date(text, strategy: .iso8601), date.formatted(.iso8601) == text
        else { return text }
        return Self.text(date, in: zone)
    }
}
