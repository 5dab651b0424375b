extension Catalog {
    /// How long somebody stays signed in, in seconds: a working day.
    static let sessionSpan: Int64 = 12 * 3_600
    /// More than people have open.
    private static let greatestSessionCount = 1_000

    /// Somebody who is signed in.
    public struct SignedIn: Sendable, Hashable {
        /// The digest of the session's token.
        public let session: Digest
        /// Who it is.
        public let passkey: RegisteredPasskey
        /// The last second at which it counts, in seconds since 1970.
        public let end: Int64
    }

    /// Asks a visitor to sign in.
    /// - Throws: ``ServerError`` `constraint` if too many are answering.
    func beginSignIn(
        for visitor: Digest, using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> PasskeyChallenge {
        let challenge = PasskeyChallenge.signIn(using: &generator)
        try await keep(challenge, for: visitor)
        return challenge
    }

    /// Signs a visitor in.
    /// - Parameters:
    ///   - assertion: what the browser sent.
    ///   - credential: the id of the passkey that it names.
    ///   - visitor: who sent it: the digest of the visitor's token.
    ///   - generator: makes the session's token.
    /// - Returns: the token of the session, of which only the digest is kept. It is never the visitor's, which somebody
    ///   else may have chosen.
    /// - Throws: ``ServerError``, as ``PasskeyCeremony/signedIn(_:with:by:at:)`` does; `notForThis` without a challenge;
    ///   `notFound` for a passkey that is not registered; `constraint` for one session too many.
    func signIn(
        _ assertion: PasskeyAssertion, with credential: [UInt8], by visitor: Digest,
        using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> AccessToken {
        let ceremony = try await takeCeremony(of: visitor)
        let token = AccessToken(using: &generator)
        let digest = token.digest
        try await transact { step throws(ServerError) in
            let row = try step.session.run(
                "SELECT identity FROM passkey WHERE credential = $1", [.octets(credential)]
            ).first
            let identity = try row?.octets(0) { Digest(octets: $0) }
            let found = try identity.map { identity throws(ServerError) in
                try Self.passkey(identity, step.session, step.ledger)
            }
            guard let passkey = found ?? nil else {
                throw ServerError(
                    .notFound, of: "passkey", expected: "a passkey that is registered here", found: "another",
                    remedy: "Use the passkey that you registered here, or ask for an invitation.")
            }
            try step.remember(
                try ceremony.signedIn(assertion, with: passkey.credential, by: visitor, at: step.now))
            guard step.ledger.people.sessions.count(where: { $0.value.end >= step.now }) < Self.greatestSessionCount
            else {
                throw ServerError(
                    .constraint, of: "sessions", expected: "at most \(Self.greatestSessionCount)", found: "one more",
                    remedy: "End those that nobody uses.")
            }
            let end = step.now + Self.sessionSpan
            try step.session.run(
                "DELETE FROM session WHERE ends_at < $1 OR digest = $2", [.integer(step.now), .octets(digest.octets)])
            try step.session.run(
                "INSERT INTO session (digest, passkey, ends_at) VALUES ($1, $2, $3)",
                [.octets(digest.octets), .octets(passkey.credential.key.identity.octets), .integer(end)])
            try step.record(
                .session, by: passkey.person,
                [
                    "action": PeopleLedger.Action.begun.rawValue, "session": "\(digest)",
                    "passkey": "\(passkey.credential.key.identity)", "end": "\(end)",
                ])
        }
        return token
    }

    /// The session of a token that nobody has ended, as far as it is in memory: nothing is read, so whoever has none costs
    /// nothing. It says whose share a request takes, and lets nobody in.
    func knownSession(of token: AccessToken) -> Digest? {
        let (digest, ledger) = (token.digest, ledger)
        // All are compared, so that the time says nothing about which were close.
        let known = ledger.people.sessions.filter { $0.key.isSame(as: digest) }.first
        return known.flatMap { $0.value.end >= ledger.latestTime ? $0.key : nil }
    }

    /// Who a session's token belongs to; nil if it counts no longer, or never did. The audit decides; a row that says
    /// something else is an attacker's.
    /// - Throws: ``ServerError`` `brokenChain` for such a row.
    func session(of token: AccessToken) async throws(ServerError) -> SignedIn? {
        let digest = token.digest
        return try await look { session, ledger throws(ServerError) in
            // All are compared, so that the time says nothing about which were close.
            guard let known = ledger.people.sessions.filter({ $0.key.isSame(as: digest) }).first?.value else {
                return nil
            }
            // A clock that was set back makes no session young.
            guard max(try session.now(), ledger.latestTime) <= known.end else { return nil }
            let row = try session.run(
                "SELECT passkey, ends_at FROM session WHERE digest = $1", [.octets(digest.octets)]
            ).first
            guard row == StorageRow([.octets(known.passkey.octets), .integer(known.end)]),
                let passkey = try Self.passkey(known.passkey, session, ledger)
            else {
                throw ServerError(
                    .brokenChain, of: "session", expected: "the row that the audit names", found: "another, or none")
            }
            return SignedIn(session: digest, passkey: passkey, end: known.end)
        }
    }

    /// Everybody who is signed in, the latest to end first.
    /// - Throws: ``ServerError`` `brokenChain` if the rows are not what the audit names.
    public func sessions() async throws(ServerError) -> [SignedIn] {
        try await look { session, ledger throws(ServerError) in
            let now = max(try session.now(), ledger.latestTime)
            var people: [SignedIn] = []
            for (digest, known) in ledger.people.sessions where now <= known.end {
                guard let passkey = try Self.passkey(known.passkey, session, ledger) else { continue }
                people.append(SignedIn(session: digest, passkey: passkey, end: known.end))
            }
            return people.sorted { ($0.end, "\($0.session)") > ($1.end, "\($1.session)") }
        }
    }

    /// Ends a session.
    /// - Throws: ``ServerError`` `notFound`.
    public func endSession(_ digest: Digest, by actor: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            guard step.ledger.people.sessions[digest] != nil else {
                throw ServerError(.notFound, of: "session", expected: "a session", found: "another, or one that ended")
            }
            try step.endSession(digest, by: actor)
        }
    }

    /// Ends all sessions.
    /// - Returns: how many still counted.
    @discardableResult
    public func endAllSessions(by actor: String) async throws(ServerError) -> Int {
        try await transact { step throws(ServerError) in
            let sessions = step.ledger.people.sessions
            let digests = sessions.keys.sorted { $0.octets.lexicographicallyPrecedes($1.octets) }
            for digest in digests { try step.endSession(digest, by: actor) }
            return sessions.values.count { $0.end >= step.now }
        }
    }
}

extension Catalog.Step {
    fileprivate mutating func endSession(_ digest: Digest, by actor: String) throws(ServerError) {
        try session.run("DELETE FROM session WHERE digest = $1", [.octets(digest.octets)])
        try record(.session, by: actor, ["action": PeopleLedger.Action.ended.rawValue, "session": "\(digest)"])
    }

    /// Ends all sessions, ceremonies and invitations: the audit says that a backup was restored.
    func endSessions() throws(ServerError) {
        for query: Query in [
            "DELETE FROM session", "DELETE FROM passkey_challenge", "DELETE FROM invitation_approval",
            "DELETE FROM invitation",
        ] {
            try session.run(query)
        }
    }
}
