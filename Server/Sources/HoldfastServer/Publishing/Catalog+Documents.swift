extension Catalog {
    /// A document as it was signed.
    struct StoredDocument: Sendable {
        let app: AppName
        let path: String
        let version: Int64
        let octets: [UInt8]
        let signedAt: Int64
        let end: Int64
    }

    /// More versions of a document than anybody looks back at.
    private static let keptVersions: Int64 = 32
    /// The one place that documents go to: the folder of the server.
    static let folderPlace = "folder"

    /// Writes a document into history, and into the outbox.
    static func store(
        _ made: MadeDocument, at path: String, of app: AppName, generation: Int64, _ step: inout Step
    ) throws(ServerError) {
        if let other = step.ledger.documents.keys.first(where: {
            $0.app != app && $0.name.utf8.elementsEqual(path.utf8)
        }) {
            throw ServerError(
                .notPublishable, of: path, expected: "a path that no other app publishes", found: "one of \(other.app)",
                remedy: "Give the trust-server document a customer of its own.")
        }
        let name = Ledger.Name(app: app, name: path)
        let version = (step.ledger.documents[name]?.version ?? 0) + 1
        try step.session.run(
            """
            INSERT INTO document (app, format, version, generation, digest, octets, signed_at, ends_at) \
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
            """,
            [
                .text("\(app)"), .text(path), .integer(version), .integer(generation),
                .octets(Digest(of: made.octets).octets), .octets(made.octets), .integer(step.now), .integer(made.end),
            ])
        try step.session.run(
            """
            UPDATE outbox SET state = 'superseded', fence = fence + 1, taken_until = 0 WHERE app = $1 AND format = $2 \
            AND state IN ('waiting', 'taken', 'uploaded')
            """, [.text("\(app)"), .text(path)])
        try step.session.run(
            """
            INSERT INTO outbox (app, format, version, place, state, fence, taken_until, failures, due_at) \
            VALUES ($1, $2, $3, $4, 'waiting', 0, 0, 0, $5)
            """, [.text("\(app)"), .text(path), .integer(version), .text(folderPlace), .integer(step.now)])
        for query: Query in [
            "DELETE FROM outbox WHERE app = $1 AND format = $2 AND version <= $3",
            "DELETE FROM document WHERE app = $1 AND format = $2 AND version <= $3",
        ] {
            try step.session.run(query, [.text("\(app)"), .text(path), .integer(version - keptVersions)])
        }
        try step.record(
            .signed, by: "server",
            [
                "app": "\(app)", "format": path, "version": "\(version)", "digest": "\(Digest(of: made.octets))",
                "generation": "\(generation)",
            ])
    }

    /// The newest version of a document; nil if there is none.
    /// - Throws: ``ServerError`` `brokenChain` if its octets are not those that the audit names.
    static func document(
        _ path: String, of app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> StoredDocument? {
        guard let known = ledger.documents[.init(app: app, name: path)] else { return nil }
        let row = try session.run(
            "SELECT octets, signed_at, ends_at FROM document WHERE app = $1 AND format = $2 AND version = $3",
            [.text("\(app)"), .text(path), .integer(known.version)]
        ).first
        guard let row, Digest(of: try row.octets(0)) == known.digest else {
            throw ServerError(
                .brokenChain, of: path, expected: "version \(known.version) as it was signed", found: "another, or none"
            )
        }
        return StoredDocument(
            app: app, path: path, version: known.version, octets: try row.octets(0), signedAt: try row.integer(1),
            end: try row.integer(2))
    }

    /// What was approved for a publication, verified again as of its time.
    /// - Throws: ``ServerError`` if it was not approved then.
    static func permit(
        for publication: Ledger.Publication, _ catalog: Catalog, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> SigningPermit {
        let change = try change(publication.change, session, ledger)
        let chain = try approverChain(
            session, server: catalog.server, genesis: catalog.genesis, known: ledger.approvers)
        guard let then = chain.when(publication.approvers) else {
            throw ServerError(
                .brokenChain, of: "change \(change.id)", expected: "approvers of this server", found: "others")
        }
        return try SigningPermit(change.content, try change.approved(by: then, at: publication.time))
    }

    /// The change that the canary of an app has and everybody else not yet; nil if there is none, or one that has lapsed,
    /// has come to the end of its content, or has lost its approvals with its approvers. The canary keeps what it has then.
    static func canary(
        of app: AppName, _ catalog: Catalog, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> (permit: SigningPermit, change: RandomID)? {
        let open = ledger.canaries.filter { change, _ in
            ledger.ended[change] == nil && ledger.proposals[change]?.app == app
                && ledger.proposals[change]?.baseGeneration == ledger.generation(of: app)
        }
        guard let (id, began) = open.max(by: { $0.value < $1.value }) else { return nil }
        let change = try change(id, session, ledger)
        let now = try session.now()
        guard now <= change.end, now <= change.content.end else { return nil }
        let chain = try approverChain(
            session, server: catalog.server, genesis: catalog.genesis, known: ledger.approvers)
        do throws(ServerError) {
            return (try SigningPermit(change.content, try change.approved(by: chain, at: began)), id)
        } catch {
            guard error.code == .notApproved else { throw error }
            return nil
        }
    }
}

extension AppName {
    /// The app under whose name the canary asks; nil if there is no room for it.
    var canary: AppName? { AppName(octets: "\(self)-canary".utf8) }
}
