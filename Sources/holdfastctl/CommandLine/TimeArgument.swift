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
        let date = text.count == 10 ? midnight : Self.hasZone(text) ? try? Date(text, strategy: .iso8601) : nil
        guard let seconds = date?.timeIntervalSince1970, seconds > 0, seconds <= Double(latest) else {
            throw Self.noTime(text)
        }
        return Int64(seconds)
    }

    /// Whether the text goes on after its 19 characters of date and time with `Z`, or with an offset as in the times that
    /// verbs print, and with nothing else: Foundation reads as far as it understands, and drops the rest.
    private static func hasZone(_ text: String) -> Bool {
        let zone = Array(text.utf8.dropFirst(19))
        if zone == [UInt8(ascii: "Z")] { return true }
        let digits = zone.dropFirst().filter { $0 != UInt8(ascii: ":") }
        return zone.count == 6 && digits.count == 4 && zone[3] == UInt8(ascii: ":")
            && (zone[0] == UInt8(ascii: "+") || zone[0] == UInt8(ascii: "-"))
            && digits.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func noTime(_ text: String) -> CommandFailure {
        CommandFailure(.wrongUsage, "expected Unix seconds, 2027-02-19 or 2027-02-19T12:00:00Z, found '\(text)'")
    }
}
