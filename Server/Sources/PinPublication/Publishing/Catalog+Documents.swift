package import PinChanges
package import ServerApprovals
package import ServerFoundation
import ServerModel
package import ServerStore

extension Catalog {
    /// Number of stored versions of a document.
    private static let keptVersions: Int64 = 32

    /// Writes a document into history, for delivery to the folder and other destinations.
    package static func store(
        _ made: SignedDocument, at path: String, of app: AppName, generation: Int64, _ step: inout Step
    ) throws(ServerError) {
        if let other = step.ledger.documents.keys.first(where: {
            $0.app != app && $0.name.utf8.elementsEqual(path.utf8)
        }) {
            throw ServerError(
                .notPublishable, of: path, expected: "a path that no other app publishes", found: "one of \(other.app)",
                remedy: "Give the trust-server document its own customer.")
        }
        try write(
            made.bytes, at: path, of: app, generation: generation, end: made.end, &step, as: .signed)
    }

    /// Records that a document is no longer published, and has it removed from all destinations. Its version numbers
    /// continue, so that an interrupted uploader cannot put it back, and a later document is newer.
    package static func withdraw(_ path: String, of app: AppName, _ step: inout Step) throws(ServerError) {
        let generation = max(1, step.ledger.generation(of: app))
        try write([], at: path, of: app, generation: generation, end: step.now, &step, as: .withdrawn)
    }

    private static func write(
        _ bytes: [UInt8], at path: String, of app: AppName, generation: Int64, end: Int64, _ step: inout Step,
        as event: AuditEntry.Event
    ) throws(ServerError) {
        let version = step.ledger.nextVersion(of: Ledger.Name(app: app, name: path))
        let document = StoredDocument(
            app: app, path: path, version: version, bytes: bytes, signedAt: step.now, end: end,
            isWithdrawn: event == .withdrawn)
        try insert(document, generation: generation, step)
        var facts = ["app": "\(app)", "format": path, "version": "\(version)", "generation": "\(generation)"]
        if event == .signed { facts["digest"] = "\(document.digest)" }
        try step.record(event, by: "server", facts)
    }

    /// Inserts a document into its table, and deletes old versions.
    package static func insert(_ document: StoredDocument, generation: Int64, _ step: Step) throws(ServerError) {
        let (app, path) = (StorageValue.text("\(document.app)"), StorageValue.text(document.path))
        try step.session.run(
            """
            INSERT INTO document (app, format, version, generation, digest, octets, signed_at, ends_at) \
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """,
            [
                app, path, .integer(document.version), .integer(generation), .bytes(document.digest.bytes),
                .bytes(document.bytes), .integer(document.signedAt), .integer(document.end),
            ])
        try step.session.run(
            "UPDATE place SET behind_since = $2 WHERE app = $1 AND behind_since IS NULL", [app, .integer(step.now)])
        try step.session.run(
            "DELETE FROM document WHERE app = $1 AND format = $2 AND version <= $3",
            [app, path, .integer(document.version - keptVersions)])
    }

    /// The newest version of a document; nil if it does not exist or is no longer published.
    /// - Throws: ``ServerError`` `brokenChain` if its bytes are not those that the audit names.
    package static func document(
        _ path: String, of app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> StoredDocument? {
        try newest(path, of: app, session, ledger).flatMap { $0.isWithdrawn ? nil : $0 }
    }

    /// The newest version of a document, even if it is withdrawn.
    /// - Throws: ``ServerError`` `brokenChain` if its bytes are not those that the audit names.
    package static func newest(
        _ path: String, of app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> StoredDocument? {
        guard let known = ledger.documents[.init(app: app, name: path)] else { return nil }
        guard !known.isWithdrawn else {
            // Ignore the row of a withdrawn document.
            return StoredDocument(
                app: app, path: path, version: known.version, bytes: [], signedAt: 0, end: 0, isWithdrawn: true)
        }
        return try stored(path, known, of: app, session)
    }

    /// The newest version of each document of some apps, sorted by path.
    package func newestDocuments(
        of isWanted: @escaping @Sendable (AppName) -> Bool
    ) async throws(ServerError) -> [StoredDocument] {
        try await look { session, ledger throws(ServerError) in
            var documents: [StoredDocument] = []
            for name in ledger.documents.keys where isWanted(name.app) {
                if let document = try Self.document(name.name, of: name.app, session, ledger) {
                    documents.append(document)
                }
            }
            return documents.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        }
    }

    /// The document of some apps whose newest version has a digest; nil if it does not exist.
    package func newestDocument(
        _ digest: Digest, of isWanted: @escaping @Sendable (AppName) -> Bool
    ) async throws(ServerError) -> StoredDocument? {
        try await look { session, ledger throws(ServerError) in
            let found = ledger.documents.first { name, version in
                version.digest == digest && !version.isWithdrawn && isWanted(name.app)
            }
            guard let name = found?.key else { return nil }
            return try Self.document(name.name, of: name.app, session, ledger)
        }
    }

    /// The permit for a publication, with approvals verified again as of its time.
    /// - Parameter known: the approvers, verified in this transaction; nil to verify them here.
    /// - Throws: ``ServerError`` if the publication was not approved then.
    package static func permit(
        for publication: Ledger.Publication, _ catalog: Catalog, _ session: any StorageSession, _ ledger: Ledger,
        approvers known: ApproverChain? = nil
    ) throws(ServerError) -> SigningPermit {
        let change = try change(publication.change, session, ledger)
        let chain =
            if let known { known } else {
                try approverChain(
                    session, server: catalog.server, genesis: catalog.genesis, known: ledger.approvers)
            }
        guard let then = chain.when(publication.approvers) else {
            throw ServerError(
                .brokenChain, of: "change \(change.id)", expected: "approvers of this server", found: "others")
        }
        return try SigningPermit(change.content, try change.approved(by: then, at: publication.time))
    }
}
