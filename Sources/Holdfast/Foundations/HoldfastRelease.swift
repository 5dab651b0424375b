/// The release of the libraries, the command and the pin server, which have one version.
public enum HoldfastRelease {
    /// The version of this code (Semantic Versioning 2.0.0), such as `1.2.3`. `scripts/check version` compares it with the
    /// documents.
    public static let version = "0.1.0"

    /// The product of a user agent (RFC 9110 10.1.5): it names a program and its version, and nothing about the device.
    /// - Parameter program: the name of the program, a token.
    package static func product(_ program: String = "Holdfast") -> String { "\(program)/\(version)" }
}
