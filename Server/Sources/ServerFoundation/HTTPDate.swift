/// Times in HTTP's format (RFC 9110 5.6.7): `Tue, 24 Nov 2026 12:00:00 GMT`.
package enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// The text of a time; nil outside the years 1970 to 9999.
    package static func encode(_ seconds: Int64) -> String? {
        guard let text = UTCText.encode(seconds) else { return nil }
        let date = Array(text.utf8)
        func part(_ range: Range<Int>) -> String { String(decoding: date[range], as: UTF8.self) }
        guard let month = Int(part(5..<7)), months.indices.contains(month - 1) else { return nil }
        // January 1, 1970 was a Thursday.
        let day = days[Int(seconds / 86_400 % 7)]
        return "\(day), \(part(8..<10)) \(months[month - 1]) \(part(0..<4)) \(part(11..<19)) GMT"
    }
}
