extension Publisher {
    /// What a round did.
    public struct Round: Sendable, Hashable {
        /// The paths of what was signed again.
        public var signed: [String] = []
        /// What was given back to the canary or is no longer published, in words.
        public var settled: [String] = []
        /// Why something was not, in words.
        public var problems: [String] = []
    }

    /// Signs again what has to be signed again: trust-server documents, whose clients take none that is older than ten
    /// minutes, once a day the timestamps of repositories, and lists whose key was replaced. It says what the generation says, never beyond the end of
    /// its content, and needs no approval.
    /// - Throws: ``ServerError`` of the database. What concerns one app is a problem of the round.
    public func renew() async throws(ServerError) -> Round {
        var round = Round()
        for app in catalog.apps {
            do throws(ServerError) {
                round.settled += try await settle(app)
            } catch {
                round.problems.append("\(app): \(error)")
            }
            await renew(app, &round)
        }
        if !round.signed.isEmpty || !round.settled.isEmpty { round.problems += await followed() }
        return round
    }

    /// Signs again what an app publishes that has to be signed again. Everybody's documents and those of the canary do not
    /// hold up each other; where both have the same content, they have the same octets.
    func renew(_ app: AppName, _ round: inout Round) async {
        guard !catalog.ledger.isHeld(app) else {
            round.problems.append(
                "\(app): a backup was restored, and something else was public: propose and publish a change, before which nothing is signed"
            )
            return
        }
        var groups: [(permit: SigningPermit, audiences: [Audience])] = []
        var problems: [String] = []
        for audience in Audience.allCases {
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
        for (permit, audiences) in groups {
            do throws(ServerError) {
                let scene = try await catalog.scene(of: app)
                round.signed += try await renew(permit, scene, audiences)
                round.signed += try await signOutdatedLists(permit, scene, audiences)
            } catch {
                problems.append("\(app): \(error)")
            }
            guard audiences.contains(.everybody), permit.content.repository != nil else { continue }
            do throws(ServerError) {
                round.signed += try await renewRepository(permit, try await catalog.scene(of: app))
            } catch {
                problems.append("\(app): \(error)")
            }
        }
        for problem in problems where !round.problems.contains(problem) { round.problems.append(problem) }
    }

    private func renew(
        _ permit: SigningPermit, _ scene: AppScene, _ audiences: [Audience]
    ) async throws(ServerError) -> [String] {
        let content = permit.content
        guard let format = content.formats.first(where: { $0.kind == .trustServer }) else { return [] }
        let keys = try keys(for: permit, scene.keys)
        let only = try Content(app: content.app, hosts: content.hosts, formats: [format], end: content.end)
        let maker = DocumentMaker(content: only, keys: keys, publicKeys: scene.publicKeys)
        let documents = try await maker.signedDocuments(at: scene.now)
        return try await catalog.transact { step throws(ServerError) in
            var signed: [String] = []
            // Whoever has another content by now has a newer document already.
            for audience in audiences where step.ledger.content(for: audience, of: content.app) == content.digest {
                for document in documents {
                    let path = content.path(of: document.kind, for: audience)
                    guard let path, step.ledger.documents[.init(app: content.app, name: path)]?.isWithdrawn == false
                    else { continue }
                    let generation = max(1, step.ledger.generation(of: content.app))
                    try Catalog.store(document, at: path, of: content.app, generation: generation, &step)
                    signed.append(path)
                }
            }
            return signed
        }
    }
}
