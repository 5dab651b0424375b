/// Removes the user name and password of URLs from messages. Users pass such URLs whole, for example that of a proxy,
/// and logs keep messages.
enum UserInformation {
    /// A message without the text before the `@` of the arguments that it repeats.
    static func removed(from message: String, arguments: [String]) -> String {
        arguments.compactMap(secret).reduce(message) { message, secret in
            message.replacing("\(secret)@", with: "…@")
        }
    }

    /// The secret part; nil for an argument without one, such as a file name with an `@`.
    private static func secret(of argument: String) -> Substring? {
        guard let end = argument.lastIndex(of: "@") else { return nil }
        var before = argument[..<end]
        if before.hasPrefix("-"), let equals = before.firstIndex(of: "=") {
            before = before[before.index(after: equals)...]
        }
        guard let scheme = before.firstRange(of: "://") else { return before.contains(":") ? before : nil }
        let secret = before[scheme.upperBound...]
        return secret.isEmpty ? nil : secret
    }
}
