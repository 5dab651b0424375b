package import ServerFoundation
import ServerModel
package import ServerStore

extension Ledger {
    /// The state of an app's repository in the audit.
    package func repository(of app: AppName) -> RepositoryFiles.Base {
        let timestamp = Name(app: app, name: RepositoryPath.prefix(of: app) + RepositoryPath.timestamp)
        var base = RepositoryFiles.Base(
            draft: settings[.init(app: app, name: Catalog.draftName)], latest: nextVersion(of: timestamp) - 1)
        for (name, version) in documents
        where name.app == app && !version.isWithdrawn && RepositoryPath.isServed(name.name, by: app) {
            base.documents[name.name] = version
        }
        return base
    }
}

extension Catalog {
    static let draftName = "repository draft"

    /// The current repository of an app.
    package func repository(of app: AppName) async throws(ServerError) -> RepositoryFiles {
        let base = try await look { session, ledger throws(ServerError) in
            _ = try Self.app(app, session, ledger)
            return ledger.repository(of: app)
        }
        return RepositoryFiles(of: app, base, in: self)
    }

    /// The SHA-256 of the first root of an app's repository, which apps ship with; nil if it does not exist. The digest
    /// of a prepared root changes with each signature.
    /// - Throws: ``ServerError``.
    package func firstRoot(of app: AppName) async throws(ServerError) -> Digest? {
        let files = try await repository(of: app)
        if let first = files.base.documents[RepositoryPath.prefix(of: app) + RepositoryPath.firstRoot] {
            return first.digest
        }
        let (taken, draft) = (try await files.taken(), try await files.draft())
        return (taken[RepositoryPath.firstRoot] ?? draft.root).map { Digest(of: $0) }
    }

    /// A version of a document.
    /// - Throws: ``ServerError`` `brokenChain` if its bytes are not those that the audit named.
    package func bytes(of path: String, _ version: Ledger.Version, of app: AppName) async throws(ServerError) -> [UInt8]
    {
        try await look { session, _ throws(ServerError) in
            try Self.stored(path, version, of: app, session).bytes
        }
    }

    /// The draft for the repository of an app.
    /// - Throws: ``ServerError`` `brokenChain` if it is not the draft that the audit names.
    func repositoryDraft(of app: AppName, _ digest: Digest) async throws(ServerError) -> RepositoryDraft {
        try await look { session, _ throws(ServerError) in
            let row = try session.run("SELECT octets FROM repository_draft WHERE app = $1", [.text("\(app)")]).first
            guard let row, Digest(of: try row.bytes(0)) == digest else {
                throw ServerError(
                    .brokenChain, of: "app \(app), \(Self.draftName)", expected: "what the audit has",
                    found: "another, or none", remedy: "Prepare it again; what is published is served and renewed.")
            }
            return try RepositoryDraft(try row.bytes(0))
        }
    }

    /// Stores a draft.
    package static func keep(
        _ draft: RepositoryDraft, of app: AppName, by actor: String, _ step: inout Step
    ) throws(ServerError) {
        let bytes = draft.bytes
        try step.session.run(
            """
            INSERT INTO repository_draft (app, octets) VALUES ($1, $2) \
            ON CONFLICT (app) DO UPDATE SET octets = excluded.octets
            """, [.text("\(app)"), .bytes(bytes)])
        try step.set(app, draftName, bytes, by: actor)
    }

    /// Requires that a repository is unchanged since it was read.
    /// - Parameter includingDraft: whether the draft must be unchanged too; renewing a publication ignores drafts.
    package static func requireUnchanged(
        _ base: RepositoryFiles.Base, of app: AppName, includingDraft: Bool = true, _ step: Step
    ) throws(ServerError) {
        try requireUnchanged(base, of: app, includingDraft: includingDraft, in: step.ledger)
    }

    package static func requireUnchanged(
        _ base: RepositoryFiles.Base, of app: AppName, includingDraft: Bool, in ledger: Ledger
    ) throws(ServerError) {
        let now = ledger.repository(of: app)
        guard now.documents == base.documents, now.latest == base.latest, !includingDraft || now.draft == base.draft
        else { throw isOvertaken(app) }
    }

    static func isOvertaken(_ app: AppName) -> ServerError {
        ServerError(
            .outOfTurn, of: "repo/\(app)", expected: "the repository as it was read",
            found: "a newer state, because another process wrote meanwhile", remedy: "Try again.")
    }
}
