/// A sign-in or a registration that has begun: a challenge for one browser, which keeps it for two minutes. What was answered
/// is remembered as long, so that no challenge is answered twice.
struct PasskeyCeremony: Sendable, Hashable {
    /// How long people have, in seconds.
    static let span: Int64 = 120

    /// What the passkey has to sign.
    let challenge: PasskeyChallenge
    /// The last second at which it counts, in seconds since 1970.
    let end: Int64

    /// Begins one.
    init(_ challenge: PasskeyChallenge, at now: Int64) { self.init(challenge, until: now + Self.span) }

    /// Takes one that was kept.
    init(_ challenge: PasskeyChallenge, until end: Int64) {
        self.challenge = challenge
        self.end = end
    }

    /// Verifies the answer to a sign-in.
    /// - Parameters:
    ///   - assertion: what the browser sent.
    ///   - credential: the passkey that it names.
    ///   - now: the time, in seconds since 1970.
    /// - Returns: what to remember of the passkey from now on.
    /// - Throws: ``ServerError``, as ``PasskeyAssertion/verified(by:for:at:)`` does; `notForThis` for another
    ///   time, a challenge of another form, or a passkey that is not for signing in; `counterNotRisen`.
    func signedIn(
        _ assertion: PasskeyAssertion, with credential: PasskeyCredential, at now: Int64
    ) throws(ServerError) -> PasskeyCredential {
        try require(.signIn, at: now)
        try credential.require(.signIn)
        return try credential.used(
            try assertion.verified(by: credential.key, for: challenge, at: credential.party))
    }

    /// Verifies a new passkey.
    /// - Parameters:
    ///   - registration: what the browser sent.
    ///   - purpose: what it is for.
    ///   - party: where it was made.
    ///   - now: the time, in seconds since 1970.
    /// - Throws: ``ServerError``, as ``PasskeyRegistration/credential(for:_:at:)`` does; `notForThis` for another
    ///   time, or a challenge of another form.
    func registered(
        _ registration: PasskeyRegistration, for purpose: PasskeyPurpose, at party: RelyingParty, at now: Int64
    ) throws(ServerError) -> PasskeyCredential {
        try require(purpose.registration, at: now)
        return try registration.credential(for: purpose, challenge, at: party)
    }

    private func require(_ form: PasskeyChallenge.Form, at now: Int64) throws(ServerError) {
        guard challenge.form == form else {
            throw Self.notForThis("the challenge of a \(form.words)", "that of a \(challenge.form.words)")
        }
        // Also refuses a clock that was set back.
        guard (end - Self.span...end).contains(now) else {
            throw Self.notForThis("an answer within \(Self.span) s", "one at another time")
        }
    }

    private static func notForThis(_ expected: String, _ found: String) -> ServerError {
        ServerError(
            .notForThis, of: "passkey", expected: expected, found: found, remedy: "Load the page, and begin again.")
    }
}
