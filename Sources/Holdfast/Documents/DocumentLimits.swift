/// Limits on the work and memory that a signed document may cost its reader. Past a limit, reading ends with an error.
public struct DocumentLimits: Sendable, Hashable {
    /// Maximum number of bytes of a document; 8 MiB holds some 40,000 entries with their signatures.
    public var bytes: Int
    /// Maximum number of entries of a document. In a static list each one costs the verification of a signature.
    public var entries: Int

    /// Sets the limits; negative numbers count as 0.
    /// - Parameters:
    ///   - bytes: the maximum number of bytes of a document.
    ///   - entries: the maximum number of entries of a document.
    public init(bytes: Int = 8 << 20, entries: Int = 10_000) {
        self.bytes = max(0, bytes)
        self.entries = max(0, entries)
    }

    /// Maximum nesting of objects and arrays. The published formats need five levels; each costs a stack frame.
    static let depth = 16
    /// Maximum number of members of one object. The published formats have at most five; each is compared with those
    /// before.
    static let members = 64
    /// Maximum number of bytes of a key. The longest key of the published formats has 29.
    static let keyBytes = 128
    /// Maximum number of pins of one kind for one host: those of a path, of its predecessor and of backups.
    static let pinsOfHost = 256
    /// Maximum number of bytes of a name: 64 characters of a common name (RFC 5280 appendix A.1) at four each; a DNS
    /// name has 253.
    static let nameBytes = 256
    /// Maximum number of bytes of a signature in DER; one of P-256 has at most 72.
    static let signatureBytes = 128
    /// The largest integer that every JSON reader represents exactly (RFC 8259 6).
    static let greatestInteger: Int64 = 1 << 53 - 1
    /// Maximum number of certificates above a leaf that an entry may refer to; no path is longer.
    static let certificateDepth: Int64 = 16
}
