/// A passkey as this server knows it (WebAuthn 4, "credential record").
struct PasskeyCredential: Sendable, Hashable {
    /// By what the authenticator finds the key.
    let id: [UInt8]
    /// What it is for.
    let purpose: PasskeyPurpose
    /// The public key.
    let key: ApproverKey
    /// Where it was made.
    let party: RelyingParty
    /// Whether the key may be on several devices. It never changes.
    let isBackupEligible: Bool
    /// How often it had signed when it was used last; 0 if it does not count.
    let counter: UInt32

    /// Verifies an approval, a rejection, or the signature of a statement of approvers.
    /// - Returns: what to remember of the passkey from now on.
    /// - Throws: ``ServerError``, as ``PasskeyEvidence/verified(over:at:)`` does; `notForThis` for a passkey that is not for
    ///   approvals, or another one; `counterNotRisen`.
    func approved(_ evidence: PasskeyEvidence, over text: [UInt8]) throws(ServerError) -> PasskeyCredential {
        try require(.approval)
        guard evidence.key == key else {
            throw ServerError(
                .notForThis, of: "passkey", expected: "the passkey \(key.identity)", found: "\(evidence.key.identity)",
                remedy: "Use the passkey that was registered here.")
        }
        return try used(try evidence.verified(over: text, at: party))
    }

    /// Requires that it was made for something.
    /// - Throws: ``ServerError`` `notForThis`.
    func require(_ purpose: PasskeyPurpose) throws(ServerError) {
        guard self.purpose == purpose else {
            throw ServerError(
                .notForThis, of: "passkey", expected: "a passkey for \(purpose.rawValue)",
                found: "one for \(self.purpose.rawValue)", remedy: "Use the other passkey, which was made for this.")
        }
    }

    /// Compares what the authenticator says with what is remembered (WebAuthn 7.2, steps 17 to 22).
    /// - Parameter data: of an assertion that has been verified.
    /// - Returns: what to remember of the passkey from now on.
    /// - Throws: ``ServerError`` `counterNotRisen`, or `notForThis` if it is another kind of passkey now.
    func used(_ data: AuthenticatorData) throws(ServerError) -> PasskeyCredential {
        guard data.flags.contains(.backupEligible) == isBackupEligible else {
            throw ServerError(
                .notForThis, of: "passkey",
                expected: isBackupEligible ? "a key that may be backed up" : "a key that may not be backed up",
                found: "the opposite", remedy: "Register the passkey anew.")
        }
        // Passkeys on several devices cannot count, and say 0 forever.
        guard data.counter > counter || (data.counter == 0 && counter == 0) else {
            throw ServerError(
                .counterNotRisen, of: "passkey", expected: "a counter above \(counter)", found: "\(data.counter)")
        }
        return PasskeyCredential(
            id: id, purpose: purpose, key: key, party: party, isBackupEligible: isBackupEligible,
            counter: data.counter)
    }
}
