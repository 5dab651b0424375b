package import ServerFoundation

/// A registered passkey (WebAuthn 4, "credential record").
package struct PasskeyCredential: Sendable, Hashable {
    /// The credential id.
    package let id: [UInt8]
    /// The purpose.
    package let purpose: PasskeyPurpose
    /// The public key.
    package let key: ApproverKey
    /// The relying party where it was made.
    package let party: RelyingParty
    /// Whether the key may be on several devices. It never changes.
    package let isBackupEligible: Bool
    /// The sign count at the last use; 0 if the authenticator does not count.
    package let counter: UInt32

    package init(
        id: [UInt8], purpose: PasskeyPurpose, key: ApproverKey, party: RelyingParty, isBackupEligible: Bool,
        counter: UInt32
    ) {
        self.id = id
        self.purpose = purpose
        self.key = key
        self.party = party
        self.isBackupEligible = isBackupEligible
        self.counter = counter
    }

    /// Verifies an approval, a rejection, or the signature of a statement of approvers.
    /// - Returns: the updated passkey to store.
    /// - Throws: ``ServerError``, as ``PasskeyEvidence/verified(over:at:)`` does; `notForThis` for another passkey, or
    ///   one that is not for approvals; `counterNotRisen`.
    package func approved(_ evidence: PasskeyEvidence, over text: [UInt8]) throws(ServerError) -> PasskeyCredential {
        try require(.approval)
        guard evidence.key == key else {
            throw ServerError(
                .notForThis, of: "passkey", expected: "the passkey \(key.identity)", found: "\(evidence.key.identity)",
                remedy: "Use the passkey that was registered here.")
        }
        return try used(try evidence.verified(over: text, at: party))
    }

    /// Requires that it was made for a purpose.
    /// - Throws: ``ServerError`` `notForThis`.
    package func require(_ purpose: PasskeyPurpose) throws(ServerError) {
        guard self.purpose == purpose else {
            throw ServerError(
                .notForThis, of: "passkey", expected: "a passkey for \(purpose.rawValue)",
                found: "one for \(self.purpose.rawValue)", remedy: "Use the other passkey, which was made for this.")
        }
    }

    /// Compares the authenticator data with the stored state (WebAuthn 7.2, steps 17 to 22).
    /// - Parameter data: the data of a verified assertion.
    /// - Returns: the updated passkey to store.
    /// - Throws: ``ServerError`` `counterNotRisen`, or `notForThis` if its backup eligibility has changed.
    package func used(_ data: AuthenticatorData) throws(ServerError) -> PasskeyCredential {
        guard data.flags.contains(.backupEligible) == isBackupEligible else {
            throw ServerError(
                .notForThis, of: "passkey",
                expected: isBackupEligible ? "a key that may be backed up" : "a key that may not be backed up",
                found: "the opposite", remedy: "Register the passkey again.")
        }
        // Synced passkeys cannot count signatures, and always report 0.
        guard data.counter > counter || (data.counter == 0 && counter == 0) else {
            throw ServerError(
                .counterNotRisen, of: "passkey", expected: "a counter above \(counter)", found: "\(data.counter)")
        }
        return PasskeyCredential(
            id: id, purpose: purpose, key: key, party: party, isBackupEligible: isBackupEligible,
            counter: data.counter)
    }
}
