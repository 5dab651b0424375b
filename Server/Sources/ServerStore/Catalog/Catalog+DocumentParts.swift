package import ServerFoundation

/// Partial reads of an app's documents and changes, for pages and lists.
extension Catalog {
    /// The newest version of a document, without its bytes.
    package struct DocumentLine: Sendable, Hashable {
        package let path: String
        package let version: Int64
        package let digest: Digest
        /// The signing time and the end from the database, for display only.
        package let signedAt: Int64
        package let end: Int64
        package let size: Int64
    }

    /// The published documents of an app, sorted by path.
    /// - Parameters:
    ///   - start: the number of documents to skip.
    ///   - limit: the maximum number of documents to read.
    ///   - isWanted: whether to include a document, by its path.
    /// - Returns: the documents, and whether there are more.
    /// - Throws: ``ServerError`` `brokenChain` for a row that does not match the audit.
    /// - Throws: ``ServerError`` `brokenChain` for one whose row is not the one that the audit names.
    package static func documentLines(
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
