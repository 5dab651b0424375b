/// A sign-in or a registration that has begun: a challenge for one visitor, for two minutes. Whoever keeps it takes it away
/// before the answer is verified, so that no challenge is answered twice.
struct PasskeyCeremony: Sendable, Hashable {
    /// How long people have, in seconds.
    static let span: Int64 = 120

    /// What the passkey has to sign.
    let challenge: PasskeyChallenge
    /// Who asked: the digest of the visitor's token.
    let visitor: Digest
    /// The last second at which it counts, in seconds since 1970.
    let end: Int64

    /// Begins one.
    init(_ challenge: PasskeyChallenge, for visitor: Digest, at now: Int64) {
        self.init(challenge, for: visitor, until: now + Self.span)
    }

    /// Takes one that was kept.
    init(_ challenge: PasskeyChallenge, for visitor: Digest, until end: Int64) {
        self.challenge = challenge
        self.visitor = visitor
        self.end = end
    }

    /// Verifies the answer to a sign-in.
    /// - Parameters:
    ///   - assertion: what the browser sent.
    ///   - credential: the passkey that it names.
    ///   - visitor: who sent it: the digest of that visitor's token.
    ///   - now: the time, in seconds since 1970.
    /// - Returns: what to remember of the passkey from now on.
    /// - Throws: ``ServerError``, as ``PasskeyAssertion/verified(by:for:at:)`` does; `notForThis` for another visitor, a
    ///   later time, a challenge of another form, or a passkey that is not for signing in; `counterNotRisen`.
    func signedIn(
        _ assertion: PasskeyAssertion, with credential: PasskeyCredential, by visitor: Digest, at now: Int64
    ) throws(ServerError) -> PasskeyCredential {
        try require(.signIn, by: visitor, at: now)
        try credential.require(.signIn)
        return try credential.used(
            try assertion.verified(by: credential.key, for: challenge, at: credential.party))
    }

    /// Verifies a new passkey.
    /// - Parameters:
    ///   - registration: what the browser sent.
    ///   - purpose: what it is for.
    ///   - party: where it was made.
    ///   - visitor: who sent it: the digest of that visitor's token.
    ///   - now: the time, in seconds since 1970.
    /// - Throws: ``ServerError``, as ``PasskeyRegistration/credential(for:_:at:)`` does; `notForThis` for another visitor, a
    ///   later time, or a challenge of another form.
    func registered(
        _ registration: PasskeyRegistration, for purpose: PasskeyPurpose, at party: RelyingParty, by visitor: Digest,
        at now: Int64
    ) throws(ServerError) -> PasskeyCredential {
        try require(purpose.registration, by: visitor, at: now)
        return try registration.credential(for: purpose, challenge, at: party)
    }

    private func require(_ form: PasskeyChallenge.Form, by visitor: Digest, at now: Int64) throws(ServerError) {
        guard challenge.form == form else {
            throw Self.notForThis("the challenge of a \(form.words)", "that of a \(challenge.form.words)")
        }
        guard visitor.isSame(as: self.visitor) else { throw Self.notForThis("the visitor who asked", "another one") }
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
