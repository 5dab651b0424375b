package import ServerFoundation

/// A signature by a passkey, with the signed data (WebAuthn 5.2.2). All bytes are kept unchanged, so that anyone can
/// verify it again at any time.
package struct PasskeyAssertion: Sendable, Hashable {
    /// The authenticator data.
    package let authenticatorData: [UInt8]
    /// The client data.
    package let clientDataJSON: [UInt8]
    /// The signature over the authenticator data and the SHA-256 of the client data.
    package let signature: [UInt8]

    /// Maximum size: it contains no new key, and few extensions.
    private static let maximumData = 1_024
    /// Maximum length: longer than the DER of any signature of ES256.
    private static let maximumSignature = 80

    /// Makes one from a browser's response; nothing is verified yet.
    /// - Throws: ``ServerError`` `malformed` for a part that is empty or too long.
    package init(authenticatorData: [UInt8], clientDataJSON: [UInt8], signature: [UInt8]) throws(ServerError) {
        for (name, bytes, limit) in [
            ("authenticatorData", authenticatorData, Self.maximumData),
            ("clientDataJSON", clientDataJSON, ClientData.limit),
            ("signature", signature, Self.maximumSignature),
        ] where !(1...limit).contains(bytes.count) {
            throw ServerError(
                .malformed, of: name, expected: "1 to \(limit) bytes", found: "\(bytes.count)",
                remedy: "Send what the browser gave, unchanged.")
        }
        self.authenticatorData = authenticatorData
        self.clientDataJSON = clientDataJSON
        self.signature = signature
    }

    /// Verifies everything but the stored state of the passkey (WebAuthn 7.2).
    /// - Parameters:
    ///   - key: the key of the passkey.
    ///   - challenge: the challenge of this server.
    ///   - party: the relying party that requested it.
    /// - Returns: the authenticator data.
    /// - Throws: ``ServerError`` `malformed`, `invalidValue`, `notForThis`, `userNotVerified` or `invalidSignature`.
    package func verified(
        by key: ApproverKey, for challenge: PasskeyChallenge, at party: RelyingParty
    ) throws(ServerError) -> AuthenticatorData {
        try ClientData(clientDataJSON).require(.get, challenge, at: party)
        let data = try AuthenticatorData(authenticatorData)
        guard data.credential == nil else {
            throw ServerError(
                .malformed, of: "data of the authenticator", expected: "no new key in an assertion", found: "one",
                remedy: "Send the bytes that the authenticator wrote, unchanged.")
        }
        try data.require(party)
        guard key.verifies(signature, over: authenticatorData + Digest(of: clientDataJSON).bytes) else {
            throw ServerError(
                .invalidSignature, of: "passkey", expected: "a signature by the key \(key.identity)", found: "another",
                remedy: "Use the passkey that was registered here.")
        }
        return data
    }
}
