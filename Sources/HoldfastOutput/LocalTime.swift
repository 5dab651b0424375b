package import Foundation

/// Times as people read them: in the time zone of this machine, with its offset (RFC 3339). Programs get UTC.
package enum LocalTime {
    /// Such as `2027-02-19T13:00:00+01:00`, or `2027-02-19T12:00:00Z` on a machine whose zone is UTC.
    package static func text(_ date: Date, in zone: TimeZone = .current) -> String {
        date.formatted(
            Date.ISO8601FormatStyle(
                dateSeparator: .dash, dateTimeSeparator: .standard, timeSeparator: .colon, timeZoneSeparator: .colon,
                includingFractionalSeconds: false, timeZone: zone))
    }

    /// A text in which every time in UTC, `2027-02-19T12:00:00Z`, is one of this zone.
    package static func localized(_ text: String, in zone: TimeZone = .current) -> String {
        let octets = Array(text.utf8)
        guard octets.count >= form.count, octets.contains(UInt8(ascii: "Z")) else { return text }
        var result: [UInt8] = []
        var index = 0
        while index < octets.count {
            let end = index + form.count
            if end <= octets.count, isTime(octets[index..<end]),
                let date = try? Date(String(decoding: octets[index..<end], as: UTF8.self), strategy: .iso8601)
            {
                result += Array(Self.text(date, in: zone).utf8)
                index = end
            } else {
                result.append(octets[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static let form = Array("0000-00-00T00:00:00Z".utf8)

    private static func isTime(_ octets: ArraySlice<UInt8>) -> Bool {
        zip(octets, form).allSatisfy { octet, pattern in
            pattern == UInt8(ascii: "0") ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet) : octet == pattern
        }
    }
}
