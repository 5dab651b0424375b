import Foundation
import HoldfastPublishing

/// Recognizes a private key that was given instead of its file's name, for example from a build server's secret. It
/// must be refused early, because errors repeat their subject, and logs keep errors.
enum PrivateKeyArgument {
    static let message =
        "an argument is a private key itself, and everybody on this machine can read arguments: name the file that has it"

    /// Whether an argument, or the value after its `=`, is a private key: PEM, or the Base64 of its DER.
    static func isOne(_ argument: String) -> Bool {
        guard !argument.contains("PRIVATE KEY-----") else { return true }
        var value = argument[...]
        if value.hasPrefix("-"), let equals = value.firstIndex(of: "=") { value = value[value.index(after: equals)...] }
        guard let der = Data(base64Encoded: String(value)), !der.isEmpty else { return false }
        return PrivateKeyReader.isEncrypted([UInt8](der)) || (try? PrivateKeyReader(der: [UInt8](der))) != nil
    }
}
