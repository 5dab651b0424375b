extension Publisher {
    /// What a round did.
    public struct Round: Sendable, Hashable {
        /// The paths of what was signed again.
        public var signed: [String] = []
        /// What was given back to the canary or is no longer published, in words.
        public var settled: [String] = []
        /// Why something was not, in words.
        public var problems: [String] = []
        /// Whether something was left alone that another machine has signed lately.
        var hasSpared = false
    }

    /// Signs again what has to be signed again: trust-server documents, whose clients take none that is older than ten
    /// minutes, once a day the timestamps of repositories, and lists whose key was replaced. It says what the generation
    /// says, never beyond the end of its content, and needs no approval. While the database cannot be written, nothing is
    /// signed: what is published is served until it ends.
    /// - Parameter skipping: whether apps are passed over for which an earlier round had nothing to do and nothing has
    ///   changed since, as the audit has it. What somebody damaged in other tables is found without it.
    /// - Throws: ``ServerError`` of the database. What concerns one app is a problem of the round.
    public func renew(skippingSettled skipping: Bool = false) async throws(ServerError) -> Round {
        try await renew(skippingSettled: skipping, sparing: 0)
    }

    /// - Parameter age: trust-server documents that are younger than so many seconds are left alone: another machine has
    ///   signed them.
    func renew(skippingSettled skipping: Bool, sparing age: Int64) async throws(ServerError) -> Round {
        var round = Round()
        // Whether it can be written again is found out at once, and not once for each app.
        if catalog.writeProblem != nil { _ = try await catalog.transact { _ in } }
        let fresh = freshApps(age)
        for app in catalog.apps {
            // The others would wait for the same database.
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
            // A canary ends by itself.
            if !isSignedAgain, before == (round.settled.count, round.problems.count), ledger.canaries[app] == nil {
                settled.rest(app, ledger)
            }
        }
        if !round.signed.isEmpty || !round.settled.isEmpty { round.problems += await followed() }
        return round
    }

    /// Signs again what an app publishes that has to be signed again. Everybody's documents and those of the canary do not
    /// hold up each other; where both have the same content, they have the same bytes.
    /// - Returns: whether it has anything that is signed again.
    @discardableResult
    func renew(_ app: AppName, _ round: inout Round) async -> Bool {
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
            // A canary that holds no change has what everybody has: to verify that once is enough.
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
        // What others write from here on is newer.
        let before = catalog.ledger
        for (permit, audiences) in groups {
            // A scene has every key that was ever seen: it is read only where something is signed with it.
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

    /// The apps of which all that a round signs is younger than so many seconds, whichever machine has signed it.
    private func freshApps(_ age: Int64) -> Set<AppName> {
        guard age > 0, let now = catalog.signingTime else { return [] }
        let ledger = catalog.ledger
        // What else is to be done for an app is found out in a round of its own.
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
            // Whoever has another content by now has a newer document already.
            let current = audiences.filter { ledger.content(for: $0, of: content.app) == content.digest }
            // Whoever has replaced the key has signed with the other one, or does so next.
            let key = Ledger.Name(app: content.app, name: SealedKey.Purpose.trustServer.rawValue)
            guard ledger.keys[key] == before.keys[key] else { return [] }
            return documents.map { document in
                // What another process has signed again meanwhile is as new.
                let paths = current.compactMap { content.path(of: document.kind, for: $0) }.filter { path in
                    let name = Ledger.Name(app: content.app, name: path)
                    return ledger.documents[name].map { !$0.isWithdrawn && $0 == before.documents[name] } ?? false
                }
                return (document, paths)
            }
        }
    }

    /// Writes what was signed again into history, for the folder and for other places.
    /// - Parameters:
    ///   - app: the app.
    ///   - choose: what goes where, by what the audit has.
    /// - Returns: the paths.
    func write(
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
    /// Refuses a version that was public already: the database is not the newest.
    /// - Throws: ``ServerError`` `brokenChain`.
    fileprivate func requireNew(_ version: Int64, of path: String) throws(ServerError) {
        guard let noted = try self.version(of: path), noted >= version else { return }
        throw ServerError(
            .brokenChain, of: path, expected: "no version after \(version - 1) in the folder",
            found: "version \(noted)",
            remedy: "The database is an older copy: put the newest back, or restore a backup.")
    }
}
