/// UTCTime and GeneralizedTime as RFC 5280 4.1.2.5 restricts them: seconds present, no fraction, `Z`.
enum ASN1Time {
    /// Reads a time as seconds since 1970-01-01T00:00:00Z.
    static func read(_ element: DERReader.Element, of bytes: [UInt8]) throws(DERError) -> Int64 {
        var digits = Digits(bytes: bytes, position: element.content.lowerBound)
        let year: Int
        switch (element.tag, element.content.count) {
        case (DERTag.utcTime, 13):
            let short = try digits.next(2)
            // RFC 5280 4.1.2.5.1: 50 to 99 are of the twentieth century.
            year = short >= 50 ? 1900 + short : 2000 + short
        case (DERTag.generalizedTime, 15):
            year = try digits.next(4)
        default:
            throw DERError(
                .invalidValue("a time that is not YYMMDDHHMMSSZ or YYYYMMDDHHMMSSZ"), at: element.encoded.lowerBound)
        }
        let month = try digits.next(2)
        let day = try digits.next(2)
        let hour = try digits.next(2)
        let minute = try digits.next(2)
        let second = try digits.next(2)
        guard bytes[element.content.upperBound - 1] == UInt8(ascii: "Z"), (1...12).contains(month),
            (1...daysIn(month: month, of: year)).contains(day), hour < 24, minute < 60, second < 60
        else {
            throw DERError(.invalidValue("a time that no calendar has"), at: element.encoded.lowerBound)
        }
        return Int64(daysSince1970(year: year, month: month, day: day)) * 86_400
            + Int64(hour * 3_600 + minute * 60 + second)
    }

    /// Whether a time has the form that RFC 5280 4.1.2.5 asks for. A UTCTime cannot say anything else.
    static func isProfiled(_ seconds: Int64, as tag: UInt8) -> Bool {
        tag == DERTag.utcTime || !(firstOf1950..<firstOf2050).contains(seconds)
    }

    private static let firstOf1950: Int64 = -631_152_000
    private static let firstOf2050: Int64 = 2_524_608_000

    private struct Digits {
        let bytes: [UInt8]
        var position: Int

        mutating func next(_ count: Int) throws(DERError) -> Int {
            var value = 0
            for _ in 0..<count {
                let digit = bytes[position] &- UInt8(ascii: "0")
                guard digit < 10 else { throw DERError(.invalidValue("a time with a non-digit"), at: position) }
                value = value * 10 + Int(digit)
                position += 1
            }
            return value
        }
    }

    private static func daysIn(month: Int, of year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        default: 31
        }
    }

    /// Days in the proleptic Gregorian calendar, counted in years that begin in March so that leap days come last.
    private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let marchYear = month <= 2 ? year - 1 : year
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let days = 365 * marchYear + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear
        return days - 719_468
    }
}
