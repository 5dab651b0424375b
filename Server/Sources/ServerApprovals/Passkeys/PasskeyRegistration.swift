package import ServerFoundation

/// A new passkey, as a browser returns it (WebAuthn 5.2.1).
package struct PasskeyRegistration: Sendable, Hashable {
    /// The new key, with the data of its authenticator.
    package let attestationObject: [UInt8]
    /// The client data.
    package let clientDataJSON: [UInt8]

    package init(attestationObject: [UInt8], clientDataJSON: [UInt8]) {
        self.attestationObject = attestationObject
        self.clientDataJSON = clientDataJSON
    }

    /// Maximum size: the authenticator data and the text around it.
    private static let limit = AuthenticatorData.limit + 64

    /// Verifies it (WebAuthn 7.1).
    ///
    /// The attestation "none" does not prove the model of the authenticator: the people who let the passkey approve
    /// decide whether to trust it, not its maker.
    /// - Parameters:
    ///   - challenge: the challenge of this server; its form contains the purpose.
    ///   - purpose: the purpose.
    ///   - party: the relying party that requested it.
    /// - Throws: ``ServerError`` `malformed`, `invalidValue`, `notForThis` or `userNotVerified`.
    package func credential(
        for purpose: PasskeyPurpose, _ challenge: PasskeyChallenge, at party: RelyingParty
    ) throws(ServerError) -> PasskeyCredential {
        guard challenge.form == purpose.registration else {
            throw ServerError(
                .notForThis, of: "challenge", expected: "one for a passkey for \(purpose.rawValue)",
                found: "one for something else", remedy: "Begin the registration again.")
        }
        try ClientData(clientDataJSON).require(.create, challenge, at: party)
        let value = try CBORReader.read(attestationObject, "attestation", limit: Self.limit)
        guard let values = value.values(of: [.text("fmt"), .text("attStmt"), .text("authData")]),
            values.starts(with: [.text("none"), .map([])]), case .bytes(let bytes) = values[2]
        else {
            throw ServerError(
                .malformed, of: "attestation", expected: "fmt \"none\", an empty attStmt, and authData",
                found: "another attestation", remedy: "Ask the browser for the attestation \"none\".")
        }
        let data = try AuthenticatorData(bytes)
        try data.require(party)
        guard let made = data.credential else {
            throw ServerError(
                .malformed, of: "attestation", expected: "a new key", found: "none",
                remedy: "Send the bytes that the authenticator wrote, unchanged.")
        }
        return PasskeyCredential(
            id: made.id, purpose: purpose, key: made.key.key, party: party,
            isBackupEligible: data.flags.contains(.backupEligible), counter: data.counter)
    }
}
