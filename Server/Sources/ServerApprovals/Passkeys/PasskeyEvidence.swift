package import ServerFoundation

/// The signature of a passkey over a text, with all data needed to verify it later (`holdfast-passkey-evidence-v1`):
/// five lines of printable ASCII, each ended by a line feed. Each line after the first is canonical Base64.
///
/// ```text
/// holdfast-passkey-evidence-v1
/// MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE…       SubjectPublicKeyInfo of the passkey
/// …                                           authenticatorData
/// …                                           clientDataJSON
/// …                                           signature
/// ```
/// The remarks on the right are not part of the text.
package struct PasskeyEvidence: Sendable, Hashable {
    /// The key of the passkey.
    package let key: ApproverKey
    /// The canonical bytes.
    package let bytes: [UInt8]
    private let assertion: PasskeyAssertion

    private static let header = "holdfast-passkey-evidence-v1"
    /// Maximum size in bytes; every valid text is shorter.
    package static let limit = 4 << 10

    /// Combines a signature with its key.
    package init(_ assertion: PasskeyAssertion, by key: ApproverKey) {
        self.assertion = assertion
        self.key = key
        let lines = [
            Self.header, Base64.encode(key.subjectPublicKeyInfo), Base64.encode(assertion.authenticatorData),
            Base64.encode(assertion.clientDataJSON), Base64.encode(assertion.signature),
        ]
        bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    /// Reads a text; nothing is verified yet.
    /// - Throws: ``ServerError`` `malformed`, or `invalidValue` for an invalid key.
    package init(_ bytes: [UInt8]) throws(ServerError) {
        var reader = try LineReader(bytes, "evidence of a passkey", limit: Self.limit)
        try reader.line("header", equalTo: Self.header)
        let base64 = "Base64"
        let key = try reader.line("key", base64) { Base64.decode($0) }
        let data = try reader.line("authenticatorData", base64) { Base64.decode($0) }
        let client = try reader.line("clientDataJSON", base64) { Base64.decode($0) }
        let signature = try reader.line("signature", base64) { Base64.decode($0) }
        try reader.finish()
        self.init(
            try PasskeyAssertion(authenticatorData: data, clientDataJSON: client, signature: signature),
            by: try ApproverKey(der: key))
    }

    /// Verifies that the passkey signed exactly this text on the page of this server.
    /// - Parameters:
    ///   - text: an approval, or a statement of approvers.
    ///   - party: the relying party where the passkey was made.
    /// - Returns: the authenticator data.
    /// - Throws: ``ServerError``, as ``PasskeyAssertion/verified(by:for:at:)`` does.
    @discardableResult
    package func verified(over text: [UInt8], at party: RelyingParty) throws(ServerError) -> AuthenticatorData {
        try assertion.verified(by: key, for: .approval(of: text), at: party)
    }
}
