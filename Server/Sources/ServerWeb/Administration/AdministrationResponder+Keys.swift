import PinPublication
import ServerFoundation
import ServerHTTP
import ServerStore

/// The calls about the keys that sign for an app. No response contains a private key.
extension AdministrationResponder {
    func listKeys(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let app = try call.app()
        let keys = try await refusing { [catalog] () async throws(ServerError) in
            _ = try await catalog.app(app)
            var keys: [CanonicalJSON] = []
            for purpose in SealedKey.Purpose.allCases {
                if let key = try await catalog.key(purpose, of: app) { keys.append(.object(Self.members(of: key))) }
            }
            return keys
        }
        return Self.json([("keys", .array(keys))])
    }

    func replaceKey(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let app = try call.app()
        let known: [SealedKey.Purpose] = [.fingerprints, .trustServer]
        guard let purpose = SealedKey.Purpose(bytes: call.parameters["purpose"] ?? []), known.contains(purpose) else {
            throw AdministrationCall.invalid("purpose", "fingerprints or trust-server")
        }
        var fields = try call.fields()
        let body = try await refusing { () async throws(ServerError) in try KeyBody(&fields) }
        try takeTurn(call)
        let (key, replacement) = try await refusing { [publisher] () async throws(ServerError) in
            var generator = SystemRandomNumberGenerator()
            return try await publisher.replaceKey(
                body.replaces, for: purpose, customer: body.customer, of: app, by: call.actor, using: &generator)
        }
        return Self.json([
            ("key", .object(Self.members(of: key))), ("lost", AdministrationView.texts(replacement.lost)),
            ("signed", AdministrationView.texts(replacement.signed)),
            ("problems", AdministrationView.texts(replacement.problems)),
        ])
    }

    private static func members(of key: Catalog.Key) -> [String: CanonicalJSON] {
        var members: [String: CanonicalJSON] = [
            "id": .text(key.place.id), "purpose": .text(key.place.purpose.rawValue),
            "digest": .text("\(Digest(of: key.publicKey))"), "publicKey": .text(Base64.encode(key.publicKey)),
            "inProgram": .boolean(key.program != nil),
        ]
        // Apps are configured with this value (RFC 5480 2: the uncompressed point ends the SubjectPublicKeyInfo).
        if key.place.purpose == .fingerprints {
            members["point"] = .text(Base64.encode(key.publicKey.suffix(65)))
        }
        if let certificate = key.certificate {
            members["certificate"] = .text(PEMText.block("CERTIFICATE", of: certificate))
        }
        return members
    }
}
