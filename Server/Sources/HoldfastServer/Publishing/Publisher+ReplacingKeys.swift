extension Publisher {
    /// What replacing a key led to.
    public struct KeyReplacement: Sendable, Hashable {
        /// The clients that refuse what the new key signs, and what they go on with, a sentence each; empty before the first
        /// publication.
        public let lost: [String]
        /// The paths of what it has signed again.
        public let signed: [String]
        /// What did not work afterwards, in words. It is tried again in the next round.
        public let problems: [String]
    }

    /// Puts a key in the place of the one that signs lists and challenge answers, or trust-server documents, removes that
    /// one, and has the new one sign what is published. Clients of these formats know one key, so there is no overlap: those
    /// that know the one before go on with what they have.
    /// - Parameters:
    ///   - key: the new key.
    ///   - replacing: whether it may take the place of a key that clients know.
    ///   - actor: who does it, for the audit.
    /// - Throws: ``ServerError``, as ``Catalog/add(_:replacing:by:)``.
    public func add(
        _ key: Catalog.Key, replacing: Bool, by actor: String
    ) async throws(ServerError) -> KeyReplacement {
        let place = key.place
        let scene = try await catalog.scene(of: place.app)
        let before = scene.keys.all.first { $0.place.purpose == place.purpose }
        try await catalog.add(key, replacing: replacing, by: actor)
        guard let before else { return KeyReplacement(lost: [], signed: [], problems: []) }
        var round = Round()
        await renew(place.app, &round)
        // The same key may have moved into a program: nobody notices.
        let isSame = before.publicKey == key.publicKey && before.certificate == key.certificate
        let lost = isSame ? [] : ConcernedClients(scene).losses(withAnotherKeyFor: place.purpose)
        return KeyReplacement(lost: lost, signed: round.signed, problems: round.problems + (await followed()))
    }

    /// Signs lists again that the key before has signed. They say what the content says, octet for octet.
    func signOutdatedLists(
        _ permit: SigningPermit, _ scene: AppScene, _ audiences: [Audience]
    ) async throws(ServerError) -> [String] {
        let content = permit.content
        let outdated = catalog.ledger.outdatedLists.filter { $0.app == content.app }
        guard !outdated.isEmpty, let format = content.formats.first(where: { $0.kind == .list }) else { return [] }
        let only = try Content(app: content.app, hosts: content.hosts, formats: [format], end: content.end)
        let maker = DocumentMaker(
            content: only, keys: try keys(for: permit, scene.keys), publicKeys: scene.publicKeys)
        let documents = try await maker.signedDocuments(at: scene.now)
        return try await catalog.transact { step throws(ServerError) in
            try Catalog.requireKeys(scene.keys, step)
            var signed: [String] = []
            for audience in audiences where step.ledger.content(for: audience, of: content.app) == content.digest {
                guard let path = content.path(of: .list, for: audience),
                    step.ledger.outdatedLists.contains(.init(app: content.app, name: path))
                else { continue }
                let generation = max(1, step.ledger.generation(of: content.app))
                for document in documents {
                    try Catalog.store(document, at: path, of: content.app, generation: generation, &step)
                    signed.append(path)
                }
            }
            return signed
        }
    }
}

extension Catalog {
    /// Requires that nobody has replaced a key meanwhile: what the one before has signed is not stored anymore.
    static func requireKeys(_ keys: SealedKeys, _ step: Step) throws(ServerError) {
        for key in [keys.fingerprints, keys.trustServer, keys.snapshot, keys.timestamp].compactMap(\.self) {
            let now = step.ledger.keys[.init(app: keys.app, name: key.place.purpose.rawValue)]
            guard now?.id.utf8.elementsEqual(key.place.id.utf8) == true else {
                throw ServerError(
                    .outOfTurn, of: "key for \(key.place.purpose.rawValue)", expected: "the key that signed",
                    found: "another by now", remedy: "Try again.")
            }
        }
    }
}

extension ConcernedClients {
    /// The clients that refuse what another key signs, and what they go on with.
    func losses(withAnotherKeyFor purpose: SealedKey.Purpose) -> [String] {
        guard let content = scene.published else { return [] }
        return content.formats.filter { $0.isSigned(for: purpose) }.map { format in
            "\(format.clients(of: content.app))\(Self.hosts(content)) that know the key before refuse everything new: they "
                + "go on with what they have, until \(Self.time(content.end)) at most, and then need a build with the new key"
        }
    }
}

extension ContentFormat {
    fileprivate func isSigned(for purpose: SealedKey.Purpose) -> Bool {
        switch purpose {
        case .fingerprints: kind == .list || kind == .challenge
        case .trustServer: kind == .trustServer
        case .snapshot, .timestamp: kind == .repository
        }
    }
}
