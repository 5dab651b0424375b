package import ServerApprovals
package import ServerFoundation

/// A passkey and its owner.
package struct RegisteredPasskey: Sendable, Hashable {
    /// The name, for display only.
    package let person: String
    /// The apps that the person sees, or whose changes it approves; nil for all.
    package let apps: Set<AppName>?
    /// The person's permissions after signing in, as with a token; ``TokenGrant/Scope/read`` for an approval passkey.
    package let scope: TokenGrant.Scope
    /// The passkey.
    package let credential: PasskeyCredential

    /// The public key, whose digest names the passkey.
    package var key: ApproverKey { credential.key }
    /// The purpose.
    package var purpose: PasskeyPurpose { credential.purpose }
    /// Whether the person sees an app, or it approves the app's changes.
    package func isFor(_ app: AppName) -> Bool { apps?.contains(app) ?? true }
    /// The relying party where it was made.
    package var party: RelyingParty { credential.party }

    /// Everything but the sign count: canonical JSON, whose digest is in the audit.
    package var bytes: [UInt8] {
        var members: [String: CanonicalJSON] = [
            "person": .text(person), "purpose": .text(credential.purpose.rawValue),
            "credential": .text(Base64.encode(credential.id)),
            "key": .text(Base64.encode(credential.key.subjectPublicKeyInfo)),
            "origin": .text(credential.party.origin), "backupEligible": .boolean(credential.isBackupEligible),
        ]
        // Passkeys of older versions keep their digest.
        if let apps { members["apps"] = .text(AppName.line(apps)) }
        if scope != .read { members["scope"] = .text(scope.text) }
        return CanonicalJSON.object(members).bytes
    }

    /// Makes one from a new passkey.
    package init(
        _ credential: PasskeyCredential, of person: String, for apps: Set<AppName>? = nil,
        scope: TokenGrant.Scope = .read
    ) {
        self.person = person
        self.scope = scope
        self.apps = apps
        self.credential = credential
    }

    /// Reads what ``bytes`` writes.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, with the field.
    package init(_ bytes: [UInt8], counter: UInt32) throws(ServerError) {
        var fields = try JSONFields(
            try CanonicalJSONReader.read(bytes, "passkey", limit: 8 << 10), "passkey")
        let person = try fields.text("person", "a name without spaces") { text in
            ASCIIText.isPrintable(text, 1...64) ? String(decoding: text, as: UTF8.self) : nil
        }
        let purpose = try fields.text("purpose", "sign-in or approval") { PasskeyPurpose(bytes: $0) }
        let id = try fields.text("credential", "Base64 of 1 to \(AuthenticatorData.maximumID) bytes") { text in
            Base64.decode(text).flatMap { (1...AuthenticatorData.maximumID).contains($0.count) ? $0 : nil }
        }
        let key = try fields.text("key", "Base64 of a SubjectPublicKeyInfo of P-256 or Ed25519") { text in
            Base64.decode(text).flatMap { try? ApproverKey(der: $0) }.flatMap { $0.isOfPasskeys ? $0 : nil }
        }
        let party = try fields.text("origin", "an origin") { RelyingParty(bytes: $0) }
        let isBackupEligible = try fields.boolean("backupEligible")
        let apps = try fields.optionalText("apps").map { text throws(ServerError) in
            guard let apps = AppName.set(line: text) else { throw fields.invalid("apps", "sorted names of apps") }
            return apps
        }
        let scope = try fields.optionalText("scope").map { text throws(ServerError) in
            guard purpose == .signIn, let scope = TokenGrant.Scope.beyondReading(text) else {
                throw fields.invalid("scope", "propose or administer, for signing in")
            }
            return scope
        }
        try fields.finish()
        self.init(
            PasskeyCredential(
                id: id, purpose: purpose, key: key, party: party, isBackupEligible: isBackupEligible,
                counter: counter),
            of: person, for: apps, scope: scope ?? .read)
    }
}
