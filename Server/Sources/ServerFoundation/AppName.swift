/// The name of an app, as in URLs and approvals: the reference server's `^[a-zA-Z0-9][a-zA-Z0-9-_]{1,254}$`.
package struct AppName: Sendable, Hashable, CustomStringConvertible {
    /// 2 to 255 letters, digits, hyphens and underscores, all ASCII.
    package let description: String

    /// Checks a name.
    /// - Throws: ``ServerError`` `invalidValue`.
    package init(_ text: String) throws(ServerError) {
        guard let name = AppName(bytes: text.utf8) else {
            throw ServerError(
                .invalidValue, of: "app",
                expected: "2 to 255 letters, digits, hyphens and underscores, the first a letter or a digit",
                found: "another text of \(text.utf8.count) bytes")
        }
        self = name
    }

    /// Checks a name; nil if it is not one.
    package init?(bytes: some Collection<UInt8>) {
        guard ASCIIText.isName(bytes, 2...255, others: "-_"), let first = bytes.first,
            ASCIIText.isAlphanumeric(first)
        else { return nil }
        description = String(decoding: bytes, as: UTF8.self)
    }
}
