/// The user name and password of a URL, such as that of the proxy in an environment: people give it whole, and what a
/// command says is kept in logs.
enum UserInformation {
    /// A message without what stands before the `@` of the arguments that it repeats.
    static func removed(from message: String, arguments: [String]) -> String {
        arguments.compactMap(secret).reduce(message) { message, secret in
            message.replacing("\(secret)@", with: "…@")
        }
    }

    /// nil for an argument that has none, such as the name of a file with an `@`.
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
