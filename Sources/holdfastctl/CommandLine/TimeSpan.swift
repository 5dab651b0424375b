import ArgumentParser
import HoldfastPublishing

/// A length of time as people write it: `21d`, `12h`, `2m`, `10s`. Every span that an argument gives is read here.
struct TimeSpan: Sendable, Hashable, Comparable, CustomStringConvertible {
    let seconds: Int64

    init(seconds: Int64) { self.seconds = seconds }

    static func days(_ days: Int64) -> TimeSpan { TimeSpan(seconds: days * day) }

    /// Reads an argument.
    /// - Throws: if it has another form. The error states the right one.
    static func read(_ text: String) throws -> TimeSpan {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": day]
        let digits = text.dropLast()
        // Nine digits of days do not overflow.
        guard let unit = text.last.flatMap({ units[$0] }), (1...9).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(digits)
        else { throw ValidationError("expected a number with its unit, such as 21d, 12h, 2m or 10s") }
        return TimeSpan(seconds: number * unit)
    }

    private static let day: Int64 = 86_400

    static func < (one: TimeSpan, other: TimeSpan) -> Bool { one.seconds < other.seconds }

    /// Fails if the span is outside of a range.
    /// - Parameter name: the argument's name for messages.
    func validate(_ name: String, _ range: ClosedRange<TimeSpan>) throws(ValidationError) {
        guard range.contains(self) else {
            throw ValidationError("\(name) must be between \(range.lowerBound) and \(range.upperBound), not \(self).")
        }
    }

    /// The form in which it is read, in the largest unit of which it is a multiple.
    var description: String { SpanText.text(seconds) }
}

extension TimeSpan: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// How soon is too soon: the value of `--watch`.
extension TimeSpan {
    static let watched = TimeSpan(seconds: 1)...TimeSpan.days(36_500)
    static let timeouts = TimeSpan(seconds: 1)...TimeSpan(seconds: 3_600)
}
