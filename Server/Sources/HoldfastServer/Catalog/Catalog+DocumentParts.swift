/// Parts of what is stored of an app's documents and changes, for those who show them.
extension Catalog {
    /// The newest version of a document, without its bytes.
    struct DocumentLine: Sendable, Hashable {
        let path: String
        let version: Int64
        let digest: Digest
        /// What the database says, for people to read.
        let signedAt: Int64
        let end: Int64
        let size: Int64
    }

    /// Documents of an app that are published, sorted by path.
    /// - Parameters:
    ///   - app: the app.
    ///   - start: how many to leave out.
    ///   - limit: how many to read.
    ///   - isWanted: whether one counts.
    /// - Returns: those, and whether there are more.
    /// - Throws: ``ServerError`` `brokenChain` for one whose row is not the one that the audit names.
    static func documentLines(
        of app: AppName, from start: Int, limit: Int, _ session: any StorageSession, _ ledger: Ledger,
        where isWanted: (String) -> Bool = { _ in true }
    ) throws(ServerError) -> (lines: [DocumentLine], hasMore: Bool) {
        let names = ledger.documents.filter { name, version in
            name.app == app && !version.isWithdrawn && isWanted(name.name)
        }.sorted { $0.key.name.utf8.lexicographicallyPrecedes($1.key.name.utf8) }
        var lines: [DocumentLine] = []
        for (name, known) in names.dropFirst(start).prefix(limit) {
            let row = try session.run(
                """
                SELECT digest, signed_at, ends_at, length(octets) FROM document WHERE app = $1 AND format = $2 \
                AND version = $3
                """, [.text("\(app)"), .text(name.name), .integer(known.version)]
            ).first
            guard let row, try row.bytes(0) == known.digest.bytes else {
                throw ServerError(
                    .brokenChain, of: name.name, expected: "version \(known.version) as it was signed",
                    found: "another, or none")
            }
            lines.append(
                DocumentLine(
                    path: name.name, version: known.version, digest: known.digest, signedAt: try row.integer(1),
                    end: try row.integer(2), size: try row.integer(3)))
        }
        return (lines, names.count > start + limit)
    }
}
