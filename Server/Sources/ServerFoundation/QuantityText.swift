/// Formats numbers of things and time spans for people.
package enum QuantityText {
    /// A span in its largest unit, such as `3 days`.
    package static func span(_ seconds: Int64) -> String {
        switch seconds {
        case 172_800...: count(seconds / 86_400, "day")
        case 7_200...: count(seconds / 3_600, "hour")
        case 120...: count(seconds / 60, "minute")
        default: count(seconds, "second")
        }
    }

    /// A number of things, such as `1 key` or `2 keys`.
    package static func count(_ number: Int64, _ thing: String) -> String {
        "\(number) \(thing)\(number == 1 ? "" : "s")"
    }
}
