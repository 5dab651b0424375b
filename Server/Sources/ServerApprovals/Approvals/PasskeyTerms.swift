/// The terms on which passkeys approve. Approvers sign them with the statement that names the passkeys, so neither the
/// database nor the configuration can change them.
package struct PasskeyTerms: Sendable, Hashable {
    /// Whether passkeys are enough for a change.
    package enum Rule: String, Sendable, Hashable, CaseIterable {
        /// One of the approvals must be by a key file or a signer program. A passkey does not show what it signs: it
        /// trusts the page.
        case keyRequired = "key-required"
        /// Passkeys alone are enough.
        case passkeysOnly = "passkeys-only"
    }

    /// The relying party where the passkeys were made and sign.
    package let party: RelyingParty
    /// Whether they are enough.
    package let rule: Rule

    /// States the terms.
    package init(_ rule: Rule = .keyRequired, at party: RelyingParty) {
        self.party = party
        self.rule = rule
    }
}
