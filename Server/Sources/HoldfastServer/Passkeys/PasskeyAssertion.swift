/// A signature by a passkey, with what it signs (WebAuthn 5.2.2). Everything is kept as it came: it can be verified again by
/// anybody at any time.
struct PasskeyAssertion: Sendable, Hashable {
    /// What the authenticator says.
    let authenticatorData: [UInt8]
    /// What the browser says.
    let clientDataJSON: [UInt8]
    /// The signature over the first, and over the SHA-256 of the second.
    let signature: [UInt8]

    /// Without a new key, and with few extensions.
    private static let maximumData = 1_024
    /// Longer than the DER of any signature of ES256.
    private static let maximumSignature = 80

    /// Takes what a browser sent; nothing is verified yet.
    /// - Throws: ``ServerError`` `malformed` for more bytes than any of them has.
    init(authenticatorData: [UInt8], clientDataJSON: [UInt8], signature: [UInt8]) throws(ServerError) {
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

    /// Verifies everything but what a server remembers of the passkey (WebAuthn 7.2).
    /// - Parameters:
    ///   - key: the key of the passkey.
    ///   - challenge: what this server asked for.
    ///   - party: where it asked.
    /// - Returns: what the authenticator says.
    /// - Throws: ``ServerError`` `malformed`, `invalidValue`, `notForThis`, `userNotVerified` or `invalidSignature`.
    func verified(
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
