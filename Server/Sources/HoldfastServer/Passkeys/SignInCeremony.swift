/// A sign-in that has begun: a challenge for one visitor, for two minutes. Whoever keeps it takes it away before it is
/// verified, so that no challenge is answered twice.
struct SignInCeremony: Sendable, Hashable {
    /// How long people have, in seconds.
    static let span: Int64 = 120

    /// What the passkey has to sign.
    let challenge: PasskeyChallenge
    /// Who asked: the digest of the visitor's token.
    let visitor: Digest
    /// The last second at which it counts, in seconds since 1970.
    let end: Int64

    /// Begins one.
    init(for visitor: Digest, at now: Int64, using generator: inout some RandomNumberGenerator) {
        challenge = .signIn(using: &generator)
        self.visitor = visitor
        end = now + Self.span
    }

    /// Verifies the answer.
    /// - Parameters:
    ///   - assertion: what the browser sent.
    ///   - credential: the passkey that it names.
    ///   - visitor: who sent it: the digest of that visitor's token.
    ///   - now: the time, in seconds since 1970.
    /// - Returns: what to remember of the passkey from now on.
    /// - Throws: ``ServerError``, as ``PasskeyAssertion/verified(by:for:at:)`` does; `notForThis` for another visitor, a
    ///   later time, or a passkey that is not for signing in; `counterNotRisen`.
    func signedIn(
        _ assertion: PasskeyAssertion, with credential: PasskeyCredential, by visitor: Digest, at now: Int64
    ) throws(ServerError) -> PasskeyCredential {
        guard visitor == self.visitor else { throw Self.notForThis("the visitor who asked", "another one") }
        // Also refuses a clock that was set back.
        guard (end - Self.span...end).contains(now) else {
            throw Self.notForThis("an answer within \(Self.span) s", "a later one")
        }
        try credential.require(.signIn)
        return try credential.used(
            try assertion.verified(by: credential.key, for: challenge, at: credential.party))
    }

    private static func notForThis(_ expected: String, _ found: String) -> ServerError {
        ServerError(
            .notForThis, of: "sign-in", expected: expected, found: found, remedy: "Load the page, and sign in again.")
    }
}
