import Holdfast

/// What is known of pins beside their hashes, where they were made from certificates and keys.
struct PinAnnotations {
    /// A line about each, for people, which nothing in it ends.
    var titles: [Pin: String] = [:]
    /// The keys themselves: the DER of each SubjectPublicKeyInfo.
    var keys: [Pin: [UInt8]] = [:]
    /// What must be known first of the pins of a host, a line each.
    var warnings: [HostPattern: String] = [:]

    /// The warnings as comments of code, each once.
    var codeComments: [String] { Set(warnings.values).sorted().map { "// \($0)" } }
}
