import SwiftASN1

/// Times as certificates and CMS write them (RFC 5280 4.1.2.5, RFC 5652 11.3): UTCTime until 2049, then
/// GeneralizedTime.
enum DERTime {
    /// - Parameter seconds: Unix time. Times outside the years 1950 to 9999 are clamped.
    static func element(_ seconds: Int64) -> [UInt8] {
        let seconds = min(max(seconds, -631_152_000), 253_402_300_799)
        let (days, rest) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let day = rest < 0 ? days - 1 : days
        let second = Int(rest < 0 ? rest + 86_400 : rest)
        let (year, month, dayOfMonth) = date(Int(day))
        let short = [month, dayOfMonth, second / 3_600, second / 60 % 60, second % 60].map(twoDigits).joined()
        return year < 2_050
            ? DERText.primitive(.utcTime, Array("\(twoDigits(year % 100))\(short)Z".utf8))
            : DERText.primitive(.generalizedTime, Array("\(year)\(short)Z".utf8))
    }

    /// The Gregorian date, computed with years that begin in March so that leap days come last.
    private static func date(_ daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        let days = daysSince1970 + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * march + 2) / 5 + 1)
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
