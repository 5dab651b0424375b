import Foundation

/// What the system says of its errors.
enum SystemText {
    /// The text of a number such as `ENOSPC`.
    static func of(_ number: Int32) -> String { unsafe String(cString: strerror(number)) }
}
