extension Publisher {
    /// Brings the documents of an app in line with what its ledger says: a change whose time is over lets go of the canary,
    /// a canary that no change holds gets what everybody has, and what is no longer published is withdrawn.
    /// - Returns: what it did, in words; empty if everything was in line.
    /// - Throws: ``ServerError``; nothing has changed then.
    func settle(_ app: AppName) async throws(ServerError) -> [String] {
        let isSettled = try await catalog.look { session, ledger throws(ServerError) in
            try Settlement(of: app, session, ledger).isEmpty
        }
        guard !isSettled else { return [] }
        let words = try await catalog.transact { step throws(ServerError) in
            try Settlement.carryOut(for: app, &step)
        }
        // Trust servers' clients take nothing that is older than what they have, so what was given back is made anew. What
        // does not work is a problem of the next round.
        var round = Round()
        await renew(app, &round)
        return words
    }
}

/// What is not in line for an app. It is found out again in the transaction that mends it.
struct Settlement {
    /// The change that holds the canary although its time is over.
    private let over: RandomID?
    /// What the canary gets back.
    private let restored: [(document: Catalog.StoredDocument, format: ContentFormat, path: String)]
    /// What is no longer published.
    private let withdrawn: [String]

    var isEmpty: Bool { over == nil && restored.isEmpty && withdrawn.isEmpty }

    init(of app: AppName, _ session: any StorageSession, _ ledger: Ledger) throws(ServerError) {
        // What is public is of a content that nobody here knows: it stays as it is until the next publication.
        guard !ledger.isHeld(app) else {
            (over, restored, withdrawn) = (nil, [], [])
            return
        }
        let published = try ledger.publication(of: app).map { publication throws(ServerError) in
            try Catalog.content(of: publication, app, session)
        }
        let held = try ledger.canaries[app].map { canary throws(ServerError) in
            try Catalog.change(canary.change, session, ledger)
        }
        let isOver = try held?.isOver(at: session.now()) ?? false
        over = isOver ? held?.id : nil
        let canary = isOver ? published : held?.content ?? published
        let wanted = Set(
            ((published?.paths(for: .everybody) ?? []) + (canary?.paths(for: .canary) ?? [])).map { Array($0.utf8) })
        let hasRepository = published?.repository != nil
        withdrawn = ledger.documents.filter { name, newest in
            name.app == app && !newest.isWithdrawn && !wanted.contains(Array(name.name.utf8))
                // Clients ask for the files of earlier versions as well.
                && !(hasRepository && RepositoryPath.isServed(name.name, by: app))
        }.map(\.key.name).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        var restored: [(Catalog.StoredDocument, ContentFormat, String)] = []
        if let published, held == nil || isOver {
            for format in published.formats {
                guard let path = published.path(of: format.kind, for: .everybody),
                    let other = published.path(of: format.kind, for: .canary),
                    let newest = ledger.documents[.init(app: app, name: path)],
                    newest.digest != ledger.documents[.init(app: app, name: other)]?.digest,
                    let stored = try Catalog.document(path, of: app, session, ledger)
                else { continue }
                restored.append((stored, format, other))
            }
        }
        self.restored = restored
    }

    /// Mends what is not in line.
    static func carryOut(for app: AppName, _ step: inout Catalog.Step) throws(ServerError) -> [String] {
        let settlement = try Settlement(of: app, step.session, step.ledger)
        var words: [String] = []
        if let over = settlement.over {
            let reason = "its time is over"
            try step.record(.lapsed, by: "server", ["change": "\(over)", "reason": reason])
            words.append("change \(over) has lapsed, and lets go of the canary: \(reason)")
        }
        for (document, format, path) in settlement.restored {
            let made = SignedDocument(
                kind: format.kind, path: path, mediaType: format.mediaType, bytes: document.bytes,
                refresh: format.refresh, end: document.end)
            try Catalog.store(
                made, at: path, of: app, generation: max(1, step.ledger.generation(of: app)), &step)
            words.append("\(path) is what everybody has again")
        }
        for path in settlement.withdrawn {
            try Catalog.withdraw(path, of: app, &step)
            words.append("\(path) is no longer published")
        }
        return words
    }
}
