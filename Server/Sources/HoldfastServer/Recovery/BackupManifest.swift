import ServerFoundation
package import ServerModel
package import ServerStore

/// The beginning of a backup: its server, the head of its audit, and the size and digest of the database that follows.
package struct BackupManifest: Sendable, Hashable {
    /// When it was made, in seconds since 1970.
    package let created: Int64
    /// The head of the audit in this copy of the database.
    package let head: AuditHead
    /// The configuration of the server.
    package let configuration: FolderConfiguration
    /// The size of the database, in bytes.
    package let size: Int64
    /// The SHA-256 of the database.
    let digest: Digest

    private static let name = "holdfast-backup-content-v1"
    static let maximumBytes = 32 << 10

    /// The canonical bytes and a line feed; the database follows.
    var bytes: [UInt8] {
        CanonicalJSON.object([
            "format": .text(Self.name), "created": .integer(created), "head": .text("\(head)"),
            "configuration": .text(configuration.bytes), "size": .integer(size), "sha256": .text("\(digest)"),
        ]).bytes + [0x0A]
    }

    init(created: Int64, head: AuditHead, configuration: FolderConfiguration, size: Int64, digest: Digest) {
        self.created = created
        self.head = head
        self.configuration = configuration
        self.size = size
        self.digest = digest
    }

    /// Reads the line, without its line feed.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`.
    init(_ bytes: [UInt8]) throws(ServerError) {
        var fields = try JSONFields(
            try CanonicalJSONReader.read(bytes, "backup", limit: Self.maximumBytes), "backup")
        try fields.text("format", Self.name) { $0.elementsEqual(Self.name.utf8) ? () : nil }
        created = try fields.integer("created", in: UTCText.range)
        head = try fields.text("head", "a count and a digest") { AuditHead($0) }
        configuration = try FolderConfiguration(try fields.text("configuration"))
        size = try fields.integer("size", in: 0...CanonicalJSON.maximumInteger)
        digest = try fields.text("sha256", "64 hexadecimal digits") { Digest(hex: $0) }
        try fields.finish()
        guard self.bytes.dropLast().elementsEqual(bytes) else {
            throw ServerError(.malformed, of: "backup", expected: "the one spelling", found: "another")
        }
    }
}
