import ServerFoundation

/// The client data of a browser (`clientDataJSON`, WebAuthn 5.8.1). The signature covers its bytes as they are;
/// browsers may add members, so it is not compared as a whole.
struct ClientData: Sendable, Hashable {
    /// The operation that a browser was asked to perform.
    enum Kind: String, Sendable, Hashable, CaseIterable {
        /// To make a passkey.
        case create = "webauthn.create"
        /// To sign with one.
        case get = "webauthn.get"
    }

    /// Maximum size, several times that of browsers' client data for this server.
    static let limit = 1_024

    let kind: Kind
    let challenge: [UInt8]
    private let origin: [UInt8]
    /// Whether the page was in a frame of another origin.
    private let isFramed: Bool

    /// Reads a browser's client data.
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

    /// Requires that it is for this server's request, on its own page.
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
            throw Self.notForThis(
                "crossOrigin", "a page outside of frames of other sites", "a page in a frame of another site")
        }
    }

    private static func notForThis(_ field: String, _ expected: String, _ found: String) -> ServerError {
        ServerError(
            .notForThis, of: "clientDataJSON.\(field)", expected: expected, found: found,
            remedy: "Load the server's own page, and use the passkey there once more.")
    }
}
