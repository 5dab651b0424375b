/// How much work and memory a signed document may cost its reader. Past a limit, reading ends with an error.
public struct DocumentLimits: Sendable, Hashable {
    /// Bytes of a document; 8 MiB holds some 40,000 entries with their signatures.
    public var bytes: Int
    /// Entries of a document, each of which costs the verification of a signature in a static list.
    public var entries: Int

    /// Sets the limits; negative numbers count as 0.
    /// - Parameters:
    ///   - bytes: the bytes of a document.
    ///   - entries: the entries of a document.
    public init(bytes: Int = 8 << 20, entries: Int = 10_000) {
        self.bytes = max(0, bytes)
        self.entries = max(0, entries)
    }

    /// The nesting of objects and arrays. The published formats need five levels; each costs a stack frame.
    static let depth = 16
    /// Members of one object. The published formats have at most five; each is compared with those before it.
    static let members = 64
    /// Octets of a key. The longest of the published formats has 29.
    static let keyBytes = 128
    /// Pins of one kind that a trust-server document has for one host: those of a path, of its predecessor and of backups.
    static let pinsOfHost = 256
    /// Octets of a name: 64 characters of a common name (RFC 5280 appendix A.1) at four each; a DNS name has 253.
    static let nameBytes = 256
    /// Octets of a signature in DER; one of P-256 has at most 72.
    static let signatureBytes = 128
    /// The greatest integer that every JSON reader gets right (RFC 8259 6).
    static let greatestInteger: Int64 = 1 << 53 - 1
    /// Certificates above a leaf that an entry may point at; no path is longer.
    static let certificateDepth: Int64 = 16
}
