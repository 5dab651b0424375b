import Holdfast

/// The application that sends reports. It contains nothing that identifies a device or user.
struct ReportedApplication: Codable, Hashable, Sendable {
    /// For example the bundle identifier.
    let identifier: String
    let version: String
    /// The kind of system, in one lower-case word.
    let platform: String

    /// Maximum lengths of both texts, in bytes.
    static let longestIdentifier = 255
    static let longestVersion = 32

    /// - Throws: ``ReportingError`` `invalidConfiguration` unless both texts are printable ASCII of these lengths.
    init(identifier: String, version: String, platform: String = Platform.name) throws(ReportingError) {
        for (name, text, limit) in [
            ("application", identifier, Self.longestIdentifier), ("version", version, Self.longestVersion),
        ] {
            guard (1...limit).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
                throw ReportingError(
                    .invalidConfiguration,
                    expected: "1 to \(limit) octets of printable ASCII without spaces as \(name)", found: text.quoted,
                    remedy: "Give the \(name) as it is published, such as com.example.bank or 5.1.")
            }
        }
        self.identifier = identifier
        self.version = version
        self.platform = platform
    }
}
