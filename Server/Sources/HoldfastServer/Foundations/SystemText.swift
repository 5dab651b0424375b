import Foundation

/// What the system says of its errors, and of itself.
public enum SystemText {
    /// The name of this machine; empty if it has none.
    public static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The text of a number such as `ENOSPC`.
    static func of(_ number: Int32) -> String { unsafe String(cString: strerror(number)) }
}
