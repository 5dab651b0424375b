import ServerApprovals
import ServerFoundation
import ServerModel

/// Reads the requests of the pages' script. Bytes are in Base64url, as browsers encode challenges.
package struct SignInBody {
    private var fields: JSONFields

    /// Maximum size in bytes, several times that of the longest body, a statement with 64 approvers.
    private static let limit = 64 << 10

    /// - Throws: ``ServerError`` `malformed` if the bytes are not one JSON object.
    init(_ bytes: [UInt8]) throws(ServerError) {
        fields = try JSONFields(try JSONReader.read(bytes, "body", limit: Self.limit), "")
    }

    /// A passkey's signature and the id of the passkey.
    mutating func assertion() throws(ServerError) -> (assertion: PasskeyAssertion, credential: [UInt8]) {
        let credential = try bytes("credential", atMost: AuthenticatorData.maximumID)
        let assertion = try PasskeyAssertion(
            authenticatorData: bytes("authenticatorData"), clientDataJSON: bytes("clientDataJSON"),
            signature: bytes("signature"))
        return (assertion, credential)
    }

    /// The registration of a new passkey.
    mutating func registration() throws(ServerError) -> PasskeyRegistration {
        PasskeyRegistration(
            attestationObject: try bytes("attestationObject"), clientDataJSON: try bytes("clientDataJSON"))
    }

    /// The token of an invitation.
    mutating func token() throws(ServerError) -> AccessToken {
        try fields.text("token", "the token of the invitation") { AccessToken($0) }
    }

    /// The token that proves that the request comes from a page of this session.
    mutating func csrf() throws(ServerError) -> [UInt8] { try fields.text("csrf") }

    /// A text to sign.
    mutating func text(_ name: String) throws(ServerError) -> [UInt8] { try fields.text(name) }

    /// Requires that all fields were read.
    func finish() throws(ServerError) { try fields.finish() }

    private mutating func bytes(_ name: String, atMost limit: Int = 8 << 10) throws(ServerError) -> [UInt8] {
        try fields.text(name, "Base64 for addresses, without padding, of at most \(limit) bytes") { text in
            text.count <= 2 * limit ? Base64URL.decode(text).flatMap { $0.count <= limit ? $0 : nil } : nil
        }
    }
}
