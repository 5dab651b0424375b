import Holdfast

/// Writes parts of messages about the keys of a repository.
package enum TUFText {
    /// The first 12 characters of a key id, for people to compare.
    package static func short(_ id: [UInt8]) -> String { String(decoding: id.prefix(12), as: UTF8.self).quoted }

    package static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
