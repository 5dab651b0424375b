import Foundation
import Holdfast

/// The encoding of every body: JSON without white space, members in the order of their bytes.
enum ReportJSON {
    static func data(_ value: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The values are texts and finite numbers, which always encode.
        return (try? encoder.encode(value)) ?? Data()
    }

    /// RFC 3339 in UTC to the second.
    static func time(_ seconds: Int64) -> String { Date(wholeSeconds: seconds).formatted(.iso8601) }

    /// The day of a time.
    static func date(_ seconds: Int64) -> String {
        Date(wholeSeconds: seconds).formatted(.iso8601.year().month().day())
    }
}
