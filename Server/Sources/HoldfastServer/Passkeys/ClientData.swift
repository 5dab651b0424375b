/// What a browser says that it had an authenticator sign (`clientDataJSON`, WebAuthn 5.8.1). Its bytes are signed as they
/// are; browsers add members as they like, so nothing is compared as a whole.
struct ClientData: Sendable, Hashable {
    /// What a browser was asked to do.
    enum Kind: String, Sendable, Hashable, CaseIterable {
        /// To make a passkey.
        case create = "webauthn.create"
        /// To sign with one.
        case get = "webauthn.get"
    }

    /// Several times as long as what browsers write for the challenges of this server.
    static let limit = 1_024

    let kind: Kind
    let challenge: [UInt8]
    private let origin: [UInt8]
    /// Whether the page stood in one of somebody else.
    private let isFramed: Bool

    /// Reads what a browser wrote.
    /// - Throws: ``ServerError`` `malformed` or `invalidValue`.
    init(_ bytes: [UInt8]) throws(ServerError) {
        let subject = "clientDataJSON"
        var fields = try JSONFields(
            try JSONReader.read(bytes, subject, limit: Self.limit, ofStrangers: true), subject)
        kind = try fields.text("type", "webauthn.create or webauthn.get") { Kind(bytes: $0) }
        challenge = try fields.text("challenge", "Base64 for addresses, without padding") { Base64URL.decode($0) }
        origin = try fields.text("origin")
        let hasAncestor = fields.optional("topOrigin") != nil
        isFramed = try fields.optionalBoolean("crossOrigin") ?? false || hasAncestor
    }

    /// Requires that it is what this server asked for, on its own page.
    /// - Throws: ``ServerError`` `notForThis`.
    func require(_ kind: Kind, _ challenge: PasskeyChallenge, at party: RelyingParty) throws(ServerError) {
        guard self.kind == kind else {
            throw Self.notForThis("type", kind.rawValue, self.kind.rawValue)
        }
        guard self.challenge == challenge.bytes else {
            throw Self.notForThis("challenge", "the challenge of this \(challenge.form.words)", "another one")
        }
        guard origin.elementsEqual(party.origin.utf8) else {
            throw Self.notForThis("origin", party.origin, "another page")
        }
        guard !isFramed else {
            throw Self.notForThis("crossOrigin", "a page of its own", "one within a page of somebody else")
        }
    }

    private static func notForThis(_ field: String, _ expected: String, _ found: String) -> ServerError {
        ServerError(
            .notForThis, of: "clientDataJSON.\(field)", expected: expected, found: found,
            remedy: "Load the server's own page, and use the passkey there once more.")
    }
}
