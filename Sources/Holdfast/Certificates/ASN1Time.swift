/// UTCTime and GeneralizedTime as RFC 5280 4.1.2.5 restricts them: seconds present, no fraction, `Z`.
enum ASN1Time {
    /// Reads a time as seconds since 1970-01-01T00:00:00Z.
    static func read(_ element: DERReader.Element, of bytes: [UInt8]) throws(DERError) -> Int64 {
        var digits = Digits(bytes: bytes, position: element.content.lowerBound)
        let year: Int
        switch (element.tag, element.content.count) {
        case (DERTag.utcTime, 13):
            let short = try digits.next(2)
            // RFC 5280 4.1.2.5.1: 50 to 99 are years of the twentieth century.
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
        let time = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        guard bytes[element.content.upperBound - 1] == UInt8(ascii: "Z"), let seconds = time.seconds else {
            throw DERError(.invalidValue("a time that no calendar has"), at: element.encoded.lowerBound)
        }
        return seconds
    }

    /// Whether a time has the form that RFC 5280 4.1.2.5 requires. A UTCTime cannot have any other form.
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
}
