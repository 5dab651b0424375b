package import ServerFoundation

/// The identity of a server and the digest of its first approvers, which must not come from its database
/// (`holdfast-server-v1`).
package struct FolderConfiguration: Sendable, Hashable {
    /// The id of the server.
    package let server: RandomID
    /// The digest of the first statement of approvers.
    package let genesis: Digest
    /// The path of the file with the secret.
    package let secret: String
    /// The address of the database, without a password; nil for the file in the folder.
    package let database: PostgreSQLAddress?

    private static let name = "holdfast-server-v1"

    /// Makes a configuration.
    /// - Throws: ``ServerError`` `invalidValue` for a path that is not 1 to 4,096 bytes.
    package init(
        server: RandomID, genesis: Digest, secret: String, database: PostgreSQLAddress? = nil
    ) throws(ServerError) {
        guard (1...4_096).contains(secret.utf8.count) else {
            throw ServerError(.invalidValue, of: "secret", expected: "a path", found: "\(secret.utf8.count) bytes")
        }
        self.server = server
        self.genesis = genesis
        self.secret = secret
        self.database = database
    }

    /// The canonical bytes, with a line feed at the end.
    package var bytes: [UInt8] {
        var members: [String: CanonicalJSON] = [
            "format": .text(Self.name), "server": .text("\(server)"), "genesis": .text("\(genesis)"),
            "secret": .text(secret),
        ]
        if let database { members["database"] = .text(database.withoutPassword) }
        return CanonicalJSON.object(members).bytes + [0x0A]
    }

    /// Reads a configuration.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, with the field.
    package init(_ bytes: [UInt8]) throws(ServerError) {
        let line = bytes.last == 0x0A ? Array(bytes.dropLast()) : bytes
        var fields = try JSONFields(
            try CanonicalJSONReader.read(line, "configuration", limit: 16 << 10), "configuration")
        try fields.text("format", Self.name) { $0.elementsEqual(Self.name.utf8) ? () : nil }
        let server = try fields.text("server", "32 hexadecimal digits") { RandomID(hex: $0) }
        let genesis = try fields.text("genesis", "64 lower-case hexadecimal digits") { Digest(hex: $0) }
        let secret = String(decoding: try fields.text("secret"), as: UTF8.self)
        let database = try fields.optionalText("database")
        try fields.finish()
        try self.init(
            server: server, genesis: genesis, secret: secret,
            database: database.map { text throws(ServerError) in
                try PostgreSQLAddress(String(decoding: text, as: UTF8.self))
            })
    }
}
