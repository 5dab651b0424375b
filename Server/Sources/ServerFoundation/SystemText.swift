import Foundation

/// Texts of the operating system: error messages, and the name of the machine.
package enum SystemText {
    /// The name of this machine; empty if it has none.
    package static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The message of an error number such as `ENOSPC`.
    package static func of(_ number: Int32) -> String { unsafe String(cString: strerror(number)) }
}
