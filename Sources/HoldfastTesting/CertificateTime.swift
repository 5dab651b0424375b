public import Foundation
import Holdfast

/// The beginning or the end of a certificate's validity (RFC 5280 4.1.2.5).
///
/// Times are whole seconds in UTC. They are written as UTCTime for the years 1950 to 2049, and as GeneralizedTime
/// otherwise.
public enum CertificateTime: Sendable, Hashable {
    /// This long after the time of the authority's clock; a negative span is in the past.
    case after(Duration)
    /// At this time, whatever the clock says.
    case date(Date)
    /// This DER element, for times that no `Date` can express.
    case der([UInt8])

    /// This many days after the time of the authority's clock.
    public static func days(_ days: Double) -> CertificateTime { .after(.seconds(days * 86_400)) }
    /// This many hours after the time of the authority's clock.
    public static func hours(_ hours: Double) -> CertificateTime { .after(.seconds(hours * 3_600)) }

    /// The date; nil if the time was given as DER.
    public func date(now: Date) -> Date? {
        switch self {
        case .after(let span): now.addingTimeInterval(span.inSeconds)
        case .date(let date): date
        case .der: nil
        }
    }

    /// The DER of the time.
    public func der(now: Date) -> [UInt8] {
        if case .der(let octets) = self { return octets }
        return date(now: now).map(Self.encode) ?? []
    }

    private static func encode(_ date: Date) -> [UInt8] {
        // Clamped to the years 1 to 9999, the only ones that GeneralizedTime can write.
        let seconds = Int(max(-62_135_596_800, min(253_402_300_799, date.timeIntervalSince1970.rounded(.down))))
        let days = Int((Double(seconds) / 86_400).rounded(.down))
        let second = seconds - days * 86_400
        let (year, month, day) = civil(daysSince1970: days)
        let rest = [month, day, second / 3_600, second / 60 % 60, second % 60].map { padded($0, to: 2) }.joined() + "Z"
        guard (1950..<2050).contains(year) else {
            return TestDER.element(0x18, Array((padded(year, to: 4) + rest).utf8))
        }
        return TestDER.element(0x17, Array((padded(year % 100, to: 2) + rest).utf8))
    }

    /// The Gregorian date, counting years from March so that the leap day comes last.
    private static func civil(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func padded(_ number: Int, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
