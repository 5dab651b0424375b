/// On what terms passkeys approve. Approvers sign them with the statement that names the passkeys, so no database and no
/// configuration can change them.
public struct PasskeyTerms: Sendable, Hashable {
    /// Whether passkeys are enough for a change.
    public enum Rule: String, Sendable, Hashable, CaseIterable {
        /// One of the approvals has to be by a key file or a signer program. A passkey does not show what it signs: it
        /// trusts the page.
        case keyRequired = "key-required"
        /// Passkeys alone are enough.
        case passkeysOnly = "passkeys-only"
    }

    /// Where the passkeys were made, and sign.
    public let party: RelyingParty
    /// Whether they are enough.
    public let rule: Rule

    /// States the terms.
    public init(_ rule: Rule = .keyRequired, at party: RelyingParty) {
        self.party = party
        self.rule = rule
    }
}
