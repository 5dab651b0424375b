import HoldfastSigning
package import PinChanges
package import ServerFoundation
import ServerModel
package import ServerStore

extension Publisher {
    /// The result of replacing a key.
    package struct KeyReplacement: Sendable, Hashable {
        /// The clients that refuse documents of the new key, and what they continue to use, a sentence each; empty
        /// before the first publication.
        package let lost: [String]
        /// The paths of the documents that the new key signed again.
        package let signed: [String]
        /// The errors after the replacement, as text. The next round tries again.
        package let problems: [String]
    }

    /// Replaces the key for lists and challenge answers, or for trust-server documents, and signs published documents
    /// with the new key. Clients of these formats know one key, so there is no overlap: clients that know the old key
    /// continue to use the documents that they have.
    /// - Parameters:
    ///   - key: the new key.
    ///   - replacing: whether it may replace a key that clients know.
    ///   - expected: the SHA-256 of the public key to replace; nil for any.
    ///   - actor: the actor for the audit.
    /// - Throws: ``ServerError``, as ``Catalog/add(_:replacing:by:)``.
    package func add(
        _ key: Catalog.Key, replacing: Bool, insteadOf expected: Digest? = nil, by actor: String
    ) async throws(ServerError) -> KeyReplacement {
        let place = key.place
        let scene = try await catalog.scene(of: place.app)
        let before = scene.keys.all.first { $0.place.purpose == place.purpose }
        try await catalog.add(key, replacing: replacing, insteadOf: expected, by: actor)
        guard let before else { return KeyReplacement(lost: [], signed: [], problems: []) }
        var round = Round()
        await renew(place.app, &round)
        // The same key may have moved into a program. Clients do not notice that.
        let isSame = before.publicKey == key.publicKey && before.certificate == key.certificate
        let lost = isSame ? [] : AffectedClients(scene).losses(withAnotherKeyFor: place.purpose)
        return KeyReplacement(lost: lost, signed: round.signed, problems: round.problems + (await followed()))
    }

    /// Makes a key, and replaces one that may be compromised.
    /// - Parameters:
    ///   - expected: the SHA-256 of the public key to replace.
    ///   - purpose: the purpose of the key: lists and challenge answers, or trust-server documents.
    ///   - customer: the customer of a trust server; nil for that of the published document.
    ///   - app: the app.
    ///   - actor: the actor for the audit.
    ///   - generator: makes the id.
    /// - Returns: the key, and the result of the replacement.
    /// - Throws: ``ServerError`` `invalidValue` for another purpose, and for a trust server without a customer; `outOfTurn`
    ///   if another key is there than expected; `secretFile` without the secret.
    package func replaceKey(
        _ expected: Digest, for purpose: SealedKey.Purpose, customer: String?, of app: AppName, by actor: String,
        using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> (key: Catalog.Key, replacement: KeyReplacement) {
        guard let secret else { throw Self.noSecret }
        let scene = try await catalog.scene(of: app)
        // Check before making a key, which takes seconds.
        try Catalog.require(expected, catalog.ledger.keys[.init(app: app, name: purpose.rawValue)], purpose)
        let (pem, certificate): (String, [UInt8]?)
        switch purpose {
        case .fingerprints: (pem, certificate) = (SigningKey().pem, nil)
        case .trustServer:
            let published = scene.published?.formats.first { $0.kind == .trustServer }?.customer
            guard let name = customer ?? published else {
                throw ServerError(
                    .invalidValue, of: "customer", expected: "the customer of the trust server", found: "none")
            }
            let time = OutlookMaker.date(scene.now)
            let made = try await ProgramThreads.run { () throws(ServerError) in
                try ServerError.translating(.invalidValue, of: "customer") { () throws(SigningError) in
                    try TrustServerKey(customer: name, kind: .rsa4096, at: time)
                }
            }
            (pem, certificate) = (made.privateKeyPEM, Array(made.certificate))
        case .snapshot, .timestamp:
            throw ServerError(
                .invalidValue, of: "purpose", expected: "fingerprints or trust-server", found: purpose.rawValue,
                remedy: "The keys of a repository are replaced without a loss: rotate them.")
        }
        let place = try SealedKey.Place(
            server: catalog.server, app: app, id: "\(RandomID(using: &generator))", purpose: purpose)
        let key = Catalog.Key(
            sealed: try SealedKey(sealing: pem, at: place, with: secret), certificate: certificate)
        return (key, try await add(key, replacing: true, insteadOf: expected, by: actor))
    }

    /// Signs lists of a replaced key again. Their content stays the same, byte for byte.
    func signOutdatedLists(
        _ permit: SigningPermit, _ scene: AppSnapshot, _ audiences: [ReleaseChannel]
    ) async throws(ServerError) -> [String] {
        let content = permit.content
        let outdated = catalog.ledger.outdatedLists.filter { $0.app == content.app }
        guard !outdated.isEmpty, let format = content.formats.first(where: { $0.kind == .list }) else { return [] }
        let only = try Content(app: content.app, hosts: content.hosts, formats: [format], end: content.end)
        let maker = DocumentMaker(
            content: only, keys: try keys(for: permit, scene.keys), publicKeys: scene.publicKeys, limit: permit.limit)
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
    /// Requires that no key was replaced meanwhile. Documents of a replaced key must not be stored.
    package static func requireKeys(_ keys: SealedKeys, _ step: Step) throws(ServerError) {
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

extension AffectedClients {
    /// The clients that refuse documents of another key, and what they continue to use.
    package func losses(withAnotherKeyFor purpose: SealedKey.Purpose) -> [String] {
        guard let content = scene.published else { return [] }
        return content.formats.filter { $0.isSigned(for: purpose) }.map { format in
            "\(format.clients(of: content.app))\(Self.hosts(content)) that know the old key refuse all new documents: "
                + "they continue to use those that they have, until \(Self.time(content.end)) at most, and then need a "
                + "build with the new key"
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
