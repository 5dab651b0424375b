package import Holdfast

/// Facts about pins in addition to their hashes, if they were made from certificates and keys.
package struct PinAnnotations: Sendable {
    /// A description of each pin for people, in one line without line breaks.
    package var titles: [Pin: String] = [:]
    /// The keys themselves: the DER of each pin's SubjectPublicKeyInfo.
    package var keys: [Pin: [UInt8]] = [:]
    /// The warnings for readers about the pins of a host, one line each.
    package var warnings: [HostPattern: String] = [:]

    package init() {}

    /// The warnings as comments of code, each once.
    var codeComments: [String] { Set(warnings.values).sorted().map { "// \($0)" } }
}
