package import ServerFoundation

/// A sign-in or a registration in progress: a challenge for one browser, which keeps it for two minutes. Answered
/// challenges are stored for as long, so that none is answered twice.
package struct PasskeyCeremony: Sendable, Hashable {
    /// The duration of a ceremony in seconds.
    package static let span: Int64 = 120

    /// The challenge that the passkey must sign.
    package let challenge: PasskeyChallenge
    /// The last second at which it is valid, in seconds since 1970.
    package let end: Int64

    /// Begins a ceremony.
    package init(_ challenge: PasskeyChallenge, at now: Int64) { self.init(challenge, until: now + Self.span) }

    /// Makes one from stored values.
    package init(_ challenge: PasskeyChallenge, until end: Int64) {
        self.challenge = challenge
        self.end = end
    }

    /// Verifies the response to a sign-in.
    /// - Parameters:
    ///   - assertion: the browser's response.
    ///   - credential: the passkey that it names.
    ///   - now: the time, in seconds since 1970.
    /// - Returns: the updated passkey to store.
    /// - Throws: ``ServerError``, as ``PasskeyAssertion/verified(by:for:at:)`` does; `notForThis` for another time, a
    ///   challenge of another form, or a passkey that is not for signing in; `counterNotRisen`.
    package func signedIn(
        _ assertion: PasskeyAssertion, with credential: PasskeyCredential, at now: Int64
    ) throws(ServerError) -> PasskeyCredential {
        try require(.signIn, at: now)
        try credential.require(.signIn)
        return try credential.used(
            try assertion.verified(by: credential.key, for: challenge, at: credential.party))
    }

    /// Verifies a new passkey.
    /// - Parameters:
    ///   - registration: the browser's response.
    ///   - purpose: the purpose of the passkey.
    ///   - party: the relying party where it was made.
    ///   - now: the time, in seconds since 1970.
    /// - Throws: ``ServerError``, as ``PasskeyRegistration/credential(for:_:at:)`` does; `notForThis` for another
    ///   time, or a challenge of another form.
    package func registered(
        _ registration: PasskeyRegistration, for purpose: PasskeyPurpose, at party: RelyingParty, at now: Int64
    ) throws(ServerError) -> PasskeyCredential {
        try require(purpose.registration, at: now)
        return try registration.credential(for: purpose, challenge, at: party)
    }

    private func require(_ form: PasskeyChallenge.Form, at now: Int64) throws(ServerError) {
        guard challenge.form == form else {
            throw Self.notForThis("the challenge of a \(form.words)", "that of a \(challenge.form.words)")
        }
        // Also rejects a clock that was set back.
        guard (end - Self.span...end).contains(now) else {
            throw Self.notForThis("an answer within \(Self.span) s", "one at another time")
        }
    }

    private static func notForThis(_ expected: String, _ found: String) -> ServerError {
        ServerError(
            .notForThis, of: "passkey", expected: expected, found: found, remedy: "Load the page, and begin again.")
    }
}
