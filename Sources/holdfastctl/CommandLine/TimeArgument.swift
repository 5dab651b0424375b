import Foundation

/// A time as an argument: Unix seconds, or a date in UTC.
enum TimeArgument {
    /// The last second of the year 9999. Greater numbers are milliseconds that were taken for seconds.
    static let latest: Int64 = 253_402_300_799

    static func seconds(_ text: String) throws -> Int64 {
        if let seconds = Int64(text), String(seconds) == text {
            guard seconds > 0, seconds <= latest else {
                throw CommandFailure(
                    .wrongUsage,
                    "expected Unix seconds, found \(text)"
                        + (seconds > latest ? ", which look like milliseconds" : ""))
            }
            return seconds
        }
        let days = Date.ISO8601FormatStyle().year().month().day()
        // Foundation reads 30 February as 2 March, and 25:00 as the day after. A typing error must not extend an entry.
        let day = String(text.prefix(10))
        let clock = text.dropFirst(11).prefix(8).split(separator: ":").map { Int($0) ?? .max }
        guard let midnight = try? Date(day, strategy: days), days.format(midnight) == day,
            zip(clock, [23, 59, 59]).allSatisfy({ $0 <= $1 })
        else { throw Self.noTime(text) }
        let date = text.count == 10 ? midnight : try? Date(text, strategy: .iso8601)
        guard let seconds = date?.timeIntervalSince1970, seconds > 0, seconds <= Double(latest) else {
            throw Self.noTime(text)
        }
        return Int64(seconds)
    }

    private static func noTime(_ text: String) -> CommandFailure {
        CommandFailure(.wrongUsage, "expected Unix seconds, 2027-02-19 or 2027-02-19T12:00:00Z, found '\(text)'")
    }
}
