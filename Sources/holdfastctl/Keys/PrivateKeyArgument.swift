import Foundation

/// A private key given where the name of its file belongs, for example from a secret of a build server. Errors repeat
/// what they are about, and logs keep them.
enum PrivateKeyArgument {
    static let message =
        "an argument is a private key itself, and everybody on this machine can read arguments: name the file that has it"

    /// Whether an argument, or the value in it, is a private key: PEM, or the Base64 of its DER.
    static func isOne(_ argument: String) -> Bool {
        guard !argument.contains("PRIVATE KEY-----") else { return true }
        var value = argument[...]
        if value.hasPrefix("-"), let equals = value.firstIndex(of: "=") { value = value[value.index(after: equals)...] }
        guard let der = Data(base64Encoded: String(value)), !der.isEmpty else { return false }
        return PrivateKeyReader.isEncrypted([UInt8](der)) || (try? PrivateKeyReader(der: [UInt8](der))) != nil
    }
}
