import struct Foundation.Date

/// Times of a pin file: RFC 3339 in UTC to the second, in one spelling of 20 bytes, `2027-02-21T12:00:00Z`.
///
/// Fractions of a second, offsets, lower-case letters and leap seconds are refused, because libraries of different
/// languages read them differently.
package enum PinFileTime {
    static let form = "a time in UTC such as 2027-02-21T12:00:00Z, of the years 1970 to 9999"

    /// The seconds since 1970; nil for any other text.
    package static func read(_ text: ArraySlice<UInt8>) -> Int64? {
        let octets = Array(text)
        guard octets.count == 20 else { return nil }
        for (index, separator) in [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":"), (19, "Z")]
        where octets[index] != separator.utf8.first { return nil }
        func number(_ range: Range<Int>) -> Int? {
            var value = 0
            for octet in octets[range] {
                guard (0x30...0x39).contains(octet) else { return nil }
                value = value * 10 + Int(octet - 0x30)
            }
            return value
        }
        guard let year = number(0..<4), year >= 1970, let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19)
        else { return nil }
        return CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second).seconds
    }

    /// The whole second in which a time falls.
    /// - Throws: ``PinFileError`` `invalidTime` unless the year is from 1970 to 9999.
    static func seconds(of date: Date, field: String) throws(PinFileError) -> Int64 {
        let seconds = date.wholeSeconds
        guard (0...PinFileLimits.lastSecond).contains(seconds) else {
            throw PinFileError(.invalidTime, at: field, expected: form, found: "a time outside of those years")
        }
        return seconds
    }
}
