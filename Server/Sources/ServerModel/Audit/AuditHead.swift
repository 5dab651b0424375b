package import ServerFoundation

/// The end of an audit, kept outside the database to detect an audit that was rewritten or truncated.
package struct AuditHead: Sendable, Hashable, CustomStringConvertible {
    /// The number of entries.
    package let count: Int64
    /// The digest of the last; 32 zero bytes if the audit is empty.
    package let digest: Digest

    /// The head of an empty audit.
    package static let empty = AuditHead(count: 0, digest: .nothing)

    /// Names an end.
    package init(count: Int64, digest: Digest) {
        self.count = count
        self.digest = digest
    }

    /// Reads what ``description`` writes; nil for anything else.
    package init?(_ text: some Collection<UInt8>) {
        let parts = Array(text).split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count == 2, let count = LineReader.number(parts[0]), let digest = Digest(hex: parts[1]),
            (count == 0) == (digest == .nothing)
        else { return nil }
        self.init(count: count, digest: digest)
    }

    /// The count, a space, and the digest.
    package var description: String { "\(count) \(digest)" }
}
