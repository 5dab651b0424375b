/// Reads what the script of the pages sends. Bytes are in Base64 for addresses, as browsers write challenges.
struct SignInBody {
    private var fields: JSONFields

    /// Several times as long as the longest body, a statement of 64 approvers.
    private static let limit = 64 << 10

    /// - Throws: ``ServerError`` `malformed` for what is not one object of JSON.
    init(_ bytes: [UInt8]) throws(ServerError) {
        fields = try JSONFields(try JSONReader.read(bytes, "body", limit: Self.limit), "")
    }

    /// What a passkey signed, and which one says that it did.
    mutating func assertion() throws(ServerError) -> (assertion: PasskeyAssertion, credential: [UInt8]) {
        let credential = try bytes("credential", atMost: AuthenticatorData.maximumID)
        let assertion = try PasskeyAssertion(
            authenticatorData: bytes("authenticatorData"), clientDataJSON: bytes("clientDataJSON"),
            signature: bytes("signature"))
        return (assertion, credential)
    }

    /// A new passkey.
    mutating func registration() throws(ServerError) -> PasskeyRegistration {
        PasskeyRegistration(
            attestationObject: try bytes("attestationObject"), clientDataJSON: try bytes("clientDataJSON"))
    }

    /// The token of an invitation.
    mutating func token() throws(ServerError) -> AccessToken {
        try fields.text("token", "the token of the invitation") { AccessToken($0) }
    }

    /// What shows that a page of this session asks.
    mutating func csrf() throws(ServerError) -> [UInt8] { try fields.text("csrf") }

    /// A text that somebody signs.
    mutating func text(_ name: String) throws(ServerError) -> [UInt8] { try fields.text(name) }

    /// Nothing may be left.
    func finish() throws(ServerError) { try fields.finish() }

    private mutating func bytes(_ name: String, atMost limit: Int = 8 << 10) throws(ServerError) -> [UInt8] {
        try fields.text(name, "Base64 for addresses, without padding, of at most \(limit) bytes") { text in
            text.count <= 2 * limit ? Base64URL.decode(text).flatMap { $0.count <= limit ? $0 : nil } : nil
        }
    }
}
