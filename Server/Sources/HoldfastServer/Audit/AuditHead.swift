/// The end of an audit: what is kept outside the database, so that an audit that was rewritten or cut off is noticed.
public struct AuditHead: Sendable, Hashable, CustomStringConvertible {
    /// How many entries there are.
    public let count: Int64
    /// The digest of the last; 32 zero bytes if there is none.
    public let digest: Digest

    /// Before the first entry.
    public static let empty = AuditHead(count: 0, digest: .nothing)

    /// Names an end.
    public init(count: Int64, digest: Digest) {
        self.count = count
        self.digest = digest
    }

    /// Reads what ``description`` writes; nil for anything else.
    public init?(_ text: some Collection<UInt8>) {
        let parts = Array(text).split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count == 2, let count = LineReader.number(parts[0]), let digest = Digest(hex: parts[1]),
            (count == 0) == (digest == .nothing)
        else { return nil }
        self.init(count: count, digest: digest)
    }

    /// The count, a space, and the digest.
    public var description: String { "\(count) \(digest)" }
}
