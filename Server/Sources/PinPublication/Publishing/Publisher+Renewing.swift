package import PinChanges
package import ServerFoundation
import ServerModel
package import ServerStore

extension Publisher {
    /// The result of a round.
    package struct Round: Sendable, Hashable {
        /// The paths of the documents that were signed again.
        package var signed: [String] = []
        /// The documents that were given back to the canary or withdrawn, as text.
        package var settled: [String] = []
        /// Why other documents were not signed, as text.
        package var problems: [String] = []
        /// Whether documents were skipped because another machine signed them recently.
        package var hasSpared = false
    }

    /// Signs documents again: trust-server documents, because clients refuse those older than ten minutes, timestamps
    /// of repositories once per day, and lists whose key was replaced. The content stays that of the generation, never
    /// beyond its end, so no approval is needed. While the database cannot be written, nothing is signed, and the
    /// published documents are served until they end.
    /// - Parameter skipping: whether to skip apps without work in an earlier round and without new entries in the
    ///   audit. A round that skips no apps also finds damage in other tables.
    /// - Throws: ``ServerError`` of the database. Errors of one app are problems of the round.
    package func renew(skippingSettled skipping: Bool = false) async throws(ServerError) -> Round {
        try await renew(skippingSettled: skipping, sparing: 0)
    }

    /// - Parameter age: skips trust-server documents that are younger than this, in seconds: another machine has signed
    ///   them.
    package func renew(skippingSettled skipping: Bool, sparing age: Int64) async throws(ServerError) -> Round {
        var round = Round()
        // Find out once whether it can be written again, and not for each app.
        if catalog.writeProblem != nil { _ = try await catalog.transact { _ in } }
        let fresh = freshApps(age)
        for app in catalog.apps {
            // The other apps would wait for the same database.
            guard catalog.writeProblem == nil else { break }
            let ledger = catalog.ledger
            if skipping, settled.rests(app, ledger) { continue }
            if fresh.contains(app) {
                round.hasSpared = true
                continue
            }
            let before = (round.settled.count, round.problems.count)
            do throws(ServerError) {
                round.settled += try await settle(app)
            } catch {
                round.problems.append("\(app): \(error)")
            }
            let isSignedAgain = await renew(app, &round)
            // The end of a canary depends on the time, not only on the audit.
            if !isSignedAgain, before == (round.settled.count, round.problems.count), ledger.canaries[app] == nil {
                settled.rest(app, ledger)
            }
        }
        if !round.signed.isEmpty || !round.settled.isEmpty { round.problems += await followed() }
        return round
    }

    /// Signs the documents of an app again. Errors with the documents of all clients do not block those of the canary,
    /// and vice versa. With the same content, both get the same bytes.
    /// - Returns: whether it has documents that are signed again.
    @discardableResult
    package func renew(_ app: AppName, _ round: inout Round) async -> Bool {
        guard !catalog.ledger.isHeld(app) else {
            round.problems.append(
                "\(app): a backup was restored, and something else was public: propose and publish a change, before which nothing is signed"
            )
            return false
        }
        var isSignedAgain = false
        var groups: [(permit: SigningPermit, audiences: [ReleaseChannel])] = []
        var problems: [String] = []
        for audience in ReleaseChannel.allCases {
            // A canary without a change has the content of all clients. Verify it once.
            if audience == .canary, !groups.isEmpty, catalog.ledger.canaries[app] == nil {
                groups[0].audiences.append(audience)
                continue
            }
            do throws(ServerError) {
                let permit = try await catalog.look { [catalog] session, ledger throws(ServerError) in
                    try Catalog.permit(for: audience, of: app, catalog, session, ledger)
                }
                guard let permit else { continue }
                if groups.last?.permit.content.digest == permit.content.digest {
                    groups[groups.count - 1].audiences.append(audience)
                } else {
                    groups.append((permit: permit, audiences: [audience]))
                }
            } catch {
                problems.append("\(app): \(error)")
            }
        }
        // Later writes of other processes are newer.
        let before = catalog.ledger
        for (permit, audiences) in groups {
            // A snapshot has every key that was ever seen. Read it only to sign.
            let hasOutdated = catalog.ledger.outdatedLists.contains { $0.app == app }
            if hasOutdated || permit.content.formats.contains(where: { $0.kind == .trustServer }) {
                isSignedAgain = true
                do throws(ServerError) {
                    let scene = try await catalog.scene(of: app)
                    round.signed += try await renew(permit, scene, audiences, before)
                    round.signed += try await signOutdatedLists(permit, scene, audiences)
                } catch {
                    problems.append("\(app): \(error)")
                }
            }
            guard audiences.contains(.everybody), permit.content.repository != nil else { continue }
            isSignedAgain = true
            do throws(ServerError) {
                let scene = try await catalog.scene(of: app)
                round.signed += try await renewRepository(permit, scene)
            } catch {
                problems.append("\(app): \(error)")
            }
        }
        for problem in problems where !round.problems.contains(problem) { round.problems.append(problem) }
        return isSignedAgain
    }

    /// The apps whose renewable documents are all younger than this many seconds, whichever machine signed them.
    private func freshApps(_ age: Int64) -> Set<AppName> {
        guard age > 0, let now = catalog.signingTime else { return [] }
        let ledger = catalog.ledger
        // Never skip apps that have other work.
        var (fresh, others): (Set<AppName>, Set<AppName>) = ([], Set(ledger.canaries.keys))
        others.formUnion(ledger.outdatedLists.map(\.app))
        for (name, version) in ledger.documents where !version.isWithdrawn {
            if RepositoryPath.rank(of: name.name) != nil {
                others.insert(name.app)
            } else if name.name.utf8.starts(with: "trust/".utf8) {
                if now - (ledger.signedAt[name] ?? 0) < age { fresh.insert(name.app) } else { others.insert(name.app) }
            }
        }
        return fresh.subtracting(others)
    }

    private func renew(
        _ permit: SigningPermit, _ scene: AppSnapshot, _ audiences: [ReleaseChannel], _ before: Ledger
    ) async throws(ServerError) -> [String] {
        let content = permit.content
        guard let format = content.formats.first(where: { $0.kind == .trustServer }) else { return [] }
        let keys = try keys(for: permit, scene.keys)
        let only = try Content(app: content.app, hosts: content.hosts, formats: [format], end: content.end)
        let maker = DocumentMaker(content: only, keys: keys, publicKeys: scene.publicKeys)
        let documents = try await maker.signedDocuments(at: scene.now)
        return try await write(of: content.app) { ledger throws(ServerError) in
            // After a change of the content, a newer document exists already.
            let current = audiences.filter { ledger.content(for: $0, of: content.app) == content.digest }
            // After a replacement of the key, the other process has signed with the new key, or is about to.
            let key = Ledger.Name(app: content.app, name: SealedKey.Purpose.trustServer.rawValue)
            guard ledger.keys[key] == before.keys[key] else { return [] }
            return documents.map { document in
                // A document that another process has signed meanwhile is as new.
                let paths = current.compactMap { content.path(of: document.kind, for: $0) }.filter { path in
                    let name = Ledger.Name(app: content.app, name: path)
                    return ledger.documents[name].map { !$0.isWithdrawn && $0 == before.documents[name] } ?? false
                }
                return (document, paths)
            }
        }
    }

    /// Writes documents that were signed again into history, for delivery.
    /// - Parameters:
    ///   - app: the app.
    ///   - choose: selects the paths of each document according to the audit.
    /// - Returns: the paths.
    package func write(
        of app: AppName,
        _ choose: @escaping @Sendable (Ledger) throws(ServerError) -> [(document: SignedDocument, paths: [String])]
    ) async throws(ServerError) -> [String] {
        try await catalog.transact { [folder] step throws(ServerError) in
            let generation = max(1, step.ledger.generation(of: app))
            var signed: [String] = []
            for again in try choose(step.ledger) {
                for path in again.paths {
                    try folder.requireNew(step.ledger.nextVersion(of: .init(app: app, name: path)), of: path)
                    try Catalog.store(again.document, at: path, of: app, generation: generation, &step)
                    signed.append(path)
                }
            }
            return signed
        }
    }
}

extension PublicFolder {
    /// Refuses a version that was public already: the database is not the newest copy.
    /// - Throws: ``ServerError`` `brokenChain`.
    fileprivate func requireNew(_ version: Int64, of path: String) throws(ServerError) {
        guard let noted = try self.version(of: path), noted >= version else { return }
        throw ServerError(
            .brokenChain, of: path, expected: "no version after \(version - 1) in the folder",
            found: "version \(noted)",
            remedy: "The database is an older copy: put the newest back, or restore a backup.")
    }
}
