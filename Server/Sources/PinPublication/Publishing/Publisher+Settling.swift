import PinChanges
package import ServerFoundation
import ServerModel
import ServerStore

extension Publisher {
    /// Updates the documents of an app to match its ledger: a change whose time is over loses the canary, a canary
    /// without a change gets the documents of all clients, and obsolete documents are withdrawn.
    /// - Returns: the actions, as text; empty if nothing was to be done.
    /// - Throws: ``ServerError``; nothing has changed then.
    package func settle(_ app: AppName) async throws(ServerError) -> [String] {
        let isSettled = try await catalog.look { session, ledger throws(ServerError) in
            try Settlement(of: app, session, ledger).isEmpty
        }
        guard !isSettled else { return [] }
        let words = try await catalog.transact { step throws(ServerError) in
            try Settlement.carryOut(for: app, &step)
        }
        // Clients of trust servers refuse documents older than theirs, so sign restored documents again. A failure is a
        // problem of the next round.
        var round = Round()
        await renew(app, &round)
        return words
    }
}

/// The differences between an app's documents and its ledger. They are computed again in the transaction that removes
/// them.
struct Settlement {
    /// The change that holds the canary although its time is over.
    private let over: RandomID?
    /// The documents that the canary gets back.
    private let restored: [(document: Catalog.StoredDocument, format: ContentFormat, path: String)]
    /// The paths of the documents to withdraw.
    private let withdrawn: [String]

    var isEmpty: Bool { over == nil && restored.isEmpty && withdrawn.isEmpty }

    init(of app: AppName, _ session: any StorageSession, _ ledger: Ledger) throws(ServerError) {
        // The public documents have a content that this server does not know. Keep them until the next publication.
        guard !ledger.isHeld(app) else {
            (over, restored, withdrawn) = (nil, [], [])
            return
        }
        let published = try ledger.publication(of: app).map { publication throws(ServerError) in
            try Catalog.content(of: publication, app: app, in: session)
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
                // Clients request the files of earlier versions as well.
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

    /// Removes the differences. Returns the actions, as text.
    static func carryOut(for app: AppName, _ step: inout Catalog.Step) throws(ServerError) -> [String] {
        let settlement = try Settlement(of: app, step.session, step.ledger)
        var words: [String] = []
        if let over = settlement.over {
            let reason = "its time is over"
            try step.record(.lapsed, by: "server", ["change": "\(over)", "reason": reason])
            words.append("change \(over) has lapsed and no longer has the canary: \(reason)")
        }
        for (document, format, path) in settlement.restored {
            let made = SignedDocument(
                kind: format.kind, path: path, mediaType: format.mediaType, bytes: document.bytes,
                refresh: format.refresh, end: document.end)
            try Catalog.store(
                made, at: path, of: app, generation: max(1, step.ledger.generation(of: app)), &step)
            words.append("\(path) has the document of all clients again")
        }
        for path in settlement.withdrawn {
            try Catalog.withdraw(path, of: app, &step)
            words.append("\(path) is no longer published")
        }
        return words
    }
}
