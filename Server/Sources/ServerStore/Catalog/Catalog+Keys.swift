package import ServerFoundation
import ServerModel

extension Catalog {
    /// A signing key of an app, with the certificate that clients of a trust server are configured with.
    package struct Key: Sendable, Hashable {
        /// The holder of the private key.
        package enum Custody: Sendable, Hashable {
            /// The server, sealed.
            case sealed(SealedKey)
            /// A program of the operator, such as one that uses a token.
            case program(ProgramCommand)
        }

        /// The server, app and purpose that the key belongs to.
        package let place: SealedKey.Place
        /// DER of the SubjectPublicKeyInfo.
        package let publicKey: [UInt8]
        /// The holder of the private key.
        package let custody: Custody
        /// DER of the certificate; nil for other purposes.
        package let certificate: [UInt8]?
        /// Whether it was stored in plain text before it was sealed, where others may have read it.
        package let wasInPlainText: Bool

        /// Describes a key that the server has.
        package init(sealed: SealedKey, certificate: [UInt8]? = nil, wasInPlainText: Bool = false) {
            (place, publicKey, custody) = (sealed.place, sealed.publicKey, .sealed(sealed))
            self.certificate = certificate
            self.wasInPlainText = wasInPlainText
        }

        /// Describes a key that a program has.
        /// - Parameters:
        ///   - program: the program that signs with it.
        ///   - place: the server, app and purpose that the key belongs to.
        ///   - publicKey: DER of its SubjectPublicKeyInfo.
        ///   - certificate: DER of the certificate of a trust server's key.
        ///   - wasInPlainText: whether others may have read it before it came to the program.
        package init(
            program: ProgramCommand, at place: SealedKey.Place, publicKey: [UInt8], certificate: [UInt8]? = nil,
            wasInPlainText: Bool = false
        ) {
            (self.place, self.publicKey, custody) = (place, publicKey, .program(program))
            self.certificate = certificate
            self.wasInPlainText = wasInPlainText
        }

        /// The sealed private key; nil if a program has it.
        package var sealed: SealedKey? { if case .sealed(let sealed) = custody { sealed } else { nil } }
        /// The program that has it; nil if the server does.
        package var program: ProgramCommand? { if case .program(let program) = custody { program } else { nil } }
    }

    /// Adds a key. It signs from now on for its purpose, and the key before it is removed.
    /// - Parameter replacing: whether it may replace another key that clients are configured with. They refuse
    ///   documents signed by the new one, and no gate checks that: an outlook accepts each document with the key that
    ///   signs it. The same key may always move from the server to a program, and from one program to another.
    /// - Parameter expected: the SHA-256 of the public key that it replaces; nil for any.
    /// - Throws: ``ServerError`` `notFound` for an app that does not exist, `invalidValue` for a key of another server
    ///   or of a trust server without a certificate, `constraint` for an id that exists, and for another key of an app
    ///   that has published; `outOfTurn` if another key than expected is in use.
    package func add(
        _ key: Key, replacing: Bool = false, insteadOf expected: Digest? = nil, by actor: String
    ) async throws(ServerError) {
        try await transact { [server] step throws(ServerError) in
            let name = Ledger.Name(app: key.place.app, name: key.place.purpose.rawValue)
            if let expected { try Self.require(expected, step.ledger.keys[name], key.place.purpose) }
            try step.add(key, of: server, replacing: replacing, by: actor)
        }
    }

    /// Requires that a key is the expected one: two people who replace it at the same time would make two keys, and
    /// builds would contain the wrong one.
    package static func require(
        _ expected: Digest, _ key: Ledger.Key?, _ purpose: SealedKey.Purpose
    ) throws(ServerError) {
        guard key?.publicKey != expected else { return }
        throw ServerError(
            .outOfTurn, of: "key for \(purpose.rawValue)", expected: "the key \(expected)",
            found: key.map { "\($0.publicKey)" } ?? "none", remedy: "Read the keys again.")
    }

    /// The key that signs for a purpose now; nil if it does not exist.
    /// - Throws: ``ServerError`` `brokenChain` if it does not match the audit.
    package func key(_ purpose: SealedKey.Purpose, of app: AppName) async throws(ServerError) -> Key? {
        try await look { [server] session, ledger throws(ServerError) in
            try Self.key(purpose, of: app, server, session, ledger)
        }
    }

    /// All sealed keys, including those that no longer sign.
    package static func sealedKeys(_ server: RandomID, _ session: any StorageSession) throws(ServerError) -> [SealedKey]
    {
        var keys: [SealedKey] = []
        for row in try session.run(
            """
            SELECT id, app, purpose, public_key, secret_id, sealed FROM signing_key WHERE sealed IS NOT NULL ORDER BY id
            """)
        {
            keys.append(
                SealedKey(
                    place: try SealedKey.Place(
                        server: server, app: try row.text(1) { AppName(bytes: $0) }, id: try row.text(0),
                        purpose: try row.text(2) { SealedKey.Purpose(bytes: $0) }),
                    publicKey: try row.bytes(3), secretID: try row.bytes(4), sealed: try row.bytes(5)))
        }
        return keys
    }

    /// Seals all keys with another secret, in one transaction.
    /// - Returns: the ids of unused keys that the old secret does not open; they stay as they are.
    /// - Throws: ``ServerError`` `sealedKey` if a key in use does not open; nothing has changed then.
    package func reseal(
        from old: SigningSecret, to new: SigningSecret, by actor: String
    ) async throws(ServerError) -> [String] {
        try await transact(sealingWith: new) { [server] step throws(ServerError) in
            var (unreadable, count): ([String], Int) = ([], 0)
            for key in try Self.sealedKeys(server, step.session) {
                let id = key.place.id
                do throws(ServerError) {
                    let sealed = try key.resealed(from: old, to: new)
                    try step.session.run(
                        "UPDATE signing_key SET secret_id = $2, sealed = $3 WHERE id = $1",
                        [.text(id), .bytes(sealed.secretID), .bytes(sealed.sealed)])
                    count += 1
                } catch {
                    guard error.code == .sealedKey,
                        !(Array(step.ledger.keys.values) + step.ledger.nextKeys.values).contains(where: {
                            $0.id.utf8.elementsEqual(id.utf8)
                        })
                    else { throw error }
                    unreadable.append(id)
                }
            }
            try step.record(
                .resealed, by: actor,
                ["secret": Hex.encode(new.id), "before": Hex.encode(old.id), "keys": "\(count)"])
            return unreadable
        }
    }

    /// Requires that the keys in use were sealed with a secret.
    /// - Throws: ``ServerError`` `sealedKey` naming a key that the secret does not open.
    package func requireKeys(sealedWith secret: SigningSecret) async throws(ServerError) {
        try await look { [server] session, ledger throws(ServerError) in
            for name in ledger.keys.keys {
                guard let purpose = SealedKey.Purpose(bytes: name.name.utf8),
                    let key = try Self.key(purpose, of: name.app, server, session, ledger)
                else { continue }
                try key.sealed?.require(secret)
            }
            for app in ledger.appNames {
                for key in try Self.nextKeys(of: app, server, session, ledger) {
                    try key.sealed?.require(secret)
                }
            }
        }
    }

    package static func key(
        _ purpose: SealedKey.Purpose, of app: AppName, _ server: RandomID, _ session: any StorageSession,
        _ ledger: Ledger
    ) throws(ServerError) -> Key? {
        try ledger.keys[.init(app: app, name: purpose.rawValue)].map { known throws(ServerError) in
            try key(known, purpose, of: app, server, session)
        }
    }

    /// A key, if its row matches the audit.
    package static func key(
        _ known: Ledger.Key, _ purpose: SealedKey.Purpose, of app: AppName, _ server: RandomID,
        _ session: any StorageSession
    ) throws(ServerError) -> Key {
        let row = try session.run(
            """
            SELECT public_key, secret_id, sealed, program, certificate FROM signing_key \
            WHERE id = $1 AND app = $2 AND purpose = $3
            """, [.text(known.id), .text("\(app)"), .text(purpose.rawValue)]
        ).first
        guard let row else { throw otherKey(known.id, "none") }
        let (publicKey, certificate) = (try row.bytes(0), try row.optionalBytes(4))
        guard Digest(of: publicKey) == known.publicKey, certificate.map({ Digest(of: $0) }) == known.certificate else {
            throw otherKey(known.id, "another")
        }
        let place = try SealedKey.Place(server: server, app: app, id: known.id, purpose: purpose)
        guard let digest = known.program else {
            return Key(
                sealed: SealedKey(
                    place: place, publicKey: publicKey, secretID: try row.bytes(1), sealed: try row.bytes(2)),
                certificate: certificate, wasInPlainText: known.wasInPlainText)
        }
        // An attacker with write access to the database must not choose which program runs.
        let program = Array(try row.text(3).utf8)
        guard Digest(of: program) == digest else { throw otherKey(known.id, "one of another program") }
        return Key(
            program: try ProgramCommand(program), at: place, publicKey: publicKey, certificate: certificate,
            wasInPlainText: known.wasInPlainText)
    }

    private static func otherKey(_ id: String, _ found: String) -> ServerError {
        ServerError(.brokenChain, of: "key \(id)", expected: "the key that the audit names", found: found)
    }
}

extension Catalog.Step {
    /// Adds a key of a server.
    package mutating func add(
        _ key: Catalog.Key, of server: RandomID, replacing: Bool = false, by actor: String
    ) throws(ServerError) {
        let place = key.place
        guard place.server == server, (place.purpose == .trustServer) == (key.certificate != nil) else {
            throw ServerError(
                .invalidValue, of: "key \(place.id)",
                expected: "a key of this server, with a certificate for a trust server",
                found: "another")
        }
        try requireApp(place.app)
        let isAnother =
            ledger.keys[.init(app: place.app, name: place.purpose.rawValue)].map { old in
                old.publicKey != Digest(of: key.publicKey)
                    || old.certificate != key.certificate.map { Digest(of: $0) }
            } ?? false
        let isUsed =
            isAnother
            && (ledger.generation(of: place.app) > 0 || ledger.takenOver[place.app] != nil)
        guard replacing || !isUsed else {
            throw ServerError(
                .constraint, of: "key for \(place.purpose.rawValue)", expected: "no key that apps know already",
                found: "one that has signed for \(place.app)",
                remedy: "Keep the key: apps refuse what another key signs. A person must decide whether no app in the "
                    + "field knows it, and say --replace then.")
        }
        try Catalog.insert(key, as: .made, by: actor, &self)
    }
}
