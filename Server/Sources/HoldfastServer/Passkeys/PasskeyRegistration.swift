/// A new passkey, as a browser hands it over (WebAuthn 5.2.1).
struct PasskeyRegistration: Sendable, Hashable {
    /// The new key, with the data of its authenticator.
    let attestationObject: [UInt8]
    /// What the browser says.
    let clientDataJSON: [UInt8]

    /// The data of the authenticator, and the words around it.
    private static let limit = AuthenticatorData.limit + 64

    /// Verifies it (WebAuthn 7.1).
    ///
    /// Nobody vouches for the model of an authenticator here (attestation "none"): what a passkey is worth is decided by
    /// the people who let it approve, and not by its maker.
    /// - Parameters:
    ///   - challenge: what this server asked for; its form says what the passkey is for.
    ///   - purpose: what it is for.
    ///   - party: where it asked.
    /// - Throws: ``ServerError`` `malformed`, `invalidValue`, `notForThis` or `userNotVerified`.
    func credential(
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
