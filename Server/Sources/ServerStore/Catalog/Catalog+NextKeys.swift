package import ServerFoundation
import ServerModel

/// Replacement of keys.
extension Catalog {
    /// An action on a key.
    package enum KeyAction: String, Sendable, Hashable, CaseIterable {
        /// Added, and signs from now on.
        case made
        /// Prepared: it signs nothing until its holders have put it into a root.
        case prepared
        /// Prepared before, and signs from now on.
        case begun
    }

    /// Writes a key into its table and the audit, and removes the key that it replaces: an attacker with a copy of that
    /// one needs the secret as well, and this server cannot open it anymore.
    package static func insert(
        _ key: Key, as action: KeyAction, by actor: String, _ step: inout Step
    ) throws(ServerError) {
        let place = key.place
        // The secret may have been replaced since the key was sealed.
        if let secret = step.ledger.secretID, let sealed = key.sealed, secret != sealed.secretID {
            throw ServerError(
                .sealedKey, of: place.id, expected: "a key under the secret \(Hex.encode(secret))",
                found: "one under \(Hex.encode(sealed.secretID))", remedy: "Add the key again.")
        }
        var row: (secret: StorageValue, sealed: StorageValue, program: StorageValue) = (.null, .null, .null)
        switch key.custody {
        case .sealed(let sealed): (row.secret, row.sealed) = (.bytes(sealed.secretID), .bytes(sealed.sealed))
        case .program(let program): row.program = .text(String(decoding: program.bytes, as: UTF8.self))
        }
        try step.session.run(
            """
            INSERT INTO signing_key \
            (id, app, purpose, public_key, secret_id, sealed, program, certificate, created_at) \
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            """,
            [
                .text(place.id), .text("\(place.app)"), .text(place.purpose.rawValue), .bytes(key.publicKey),
                row.secret, row.sealed, row.program, .optional(key.certificate), .integer(step.now),
            ])
        let name = Ledger.Name(app: place.app, name: place.purpose.rawValue)
        let before = action == .prepared ? step.ledger.nextKeys[name] : step.ledger.keys[name]
        // A key that others may have read stays marked, no matter where it is now.
        let wasRead = before.map { $0.publicKey == Digest(of: key.publicKey) && $0.wasInPlainText } ?? false
        let known = Ledger.Key(
            id: place.id, publicKey: Digest(of: key.publicKey), certificate: key.certificate.map { Digest(of: $0) },
            program: key.program.map { Digest(of: $0.bytes) }, wasInPlainText: key.wasInPlainText || wasRead)
        try record(known, name, as: action, replacing: before, by: actor, &step)
    }

    /// Puts the prepared keys for purposes of an app into use, and removes those before.
    package static func begin(
        _ purposes: [SealedKey.Purpose], of app: AppName, by actor: String, _ step: inout Step
    ) throws(ServerError) {
        for purpose in purposes {
            let name = Ledger.Name(app: app, name: purpose.rawValue)
            guard let next = step.ledger.nextKeys[name] else {
                throw ServerError(
                    .outOfTurn, of: "key for \(purpose.rawValue)", expected: "one that was prepared", found: "none",
                    remedy: "Try again.")
            }
            try record(next, name, as: .begun, replacing: step.ledger.keys[name], by: actor, &step)
        }
    }

    private static func record(
        _ key: Ledger.Key, _ name: Ledger.Name, as action: KeyAction, replacing before: Ledger.Key?, by actor: String,
        _ step: inout Step
    ) throws(ServerError) {
        var facts = ["app": "\(name.app)", "id": key.id, "purpose": name.name, "publicKey": "\(key.publicKey)"]
        if let certificate = key.certificate { facts["certificate"] = "\(certificate)" }
        if let program = key.program { facts["program"] = "\(program)" }
        // In the audit, so that an attacker with write access to the database cannot remove it.
        if key.wasInPlainText { facts["plainText"] = "yes" }
        if action != .made { facts["action"] = action.rawValue }
        if let before {
            facts["replaces"] = before.id
            try step.session.run("DELETE FROM signing_key WHERE id = $1", [.text(before.id)])
        }
        try step.record(.key, by: actor, facts)
    }

    /// The prepared keys of an app, which sign nothing yet.
    package static func nextKeys(
        of app: AppName, _ server: RandomID, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> [Key] {
        var keys: [Key] = []
        for purpose in SealedKey.Purpose.allCases {
            guard let known = ledger.nextKeys[.init(app: app, name: purpose.rawValue)] else { continue }
            keys.append(try key(known, purpose, of: app, server, session))
        }
        return keys
    }
}
