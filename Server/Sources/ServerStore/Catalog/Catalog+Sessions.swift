package import ServerApprovals
package import ServerFoundation
package import ServerModel

extension Catalog {
    /// The duration of a session in seconds: a working day.
    package static let sessionSpan: Int64 = 12 * 3_600
    /// Maximum number of sessions.
    static let maximumSessionCount = 1_000
    /// Maximum number of sessions per passkey.
    static let maximumSessionsOfPasskey = 8

    /// A person who is signed in.
    package struct SignedIn: Sendable, Hashable {
        /// The digest of the session's token.
        package let session: Digest
        /// The person's passkey.
        package let passkey: RegisteredPasskey
        /// The last second at which the session is valid, in seconds since 1970.
        package let end: Int64
    }

    /// Begins to sign a person in. Nothing is stored for it.
    /// - Throws: ``ServerError`` of the database.
    package func beginSignIn(
        using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> PasskeyCeremony {
        PasskeyCeremony(PasskeyChallenge.signIn(using: &generator), at: try await now())
    }

    /// Signs a person in. A passkey has eight sessions: a ninth ends the oldest. If all passkeys together have too
    /// many, the oldest session of the passkey with the most ends, so that one person cannot lock others out.
    /// - Parameters:
    ///   - assertion: the browser's response.
    ///   - credential: the id of the passkey that it names.
    ///   - ceremony: the ceremony that the browser was asked to complete.
    ///   - generator: generates the session's token.
    /// - Returns: the token of the session, of which only the digest is stored.
    /// - Throws: ``ServerError``, as ``PasskeyCeremony/signedIn(_:with:at:)`` does; `notForThis` for a challenge that
    ///   was answered before; `notFound` for a passkey that is not registered.
    package func signIn(
        _ assertion: PasskeyAssertion, with credential: [UInt8], answering ceremony: PasskeyCeremony,
        using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> AccessToken {
        let token = AccessToken(using: &generator)
        let digest = token.digest
        // Reject invalid input before others have to wait for a transaction.
        try await look { session, ledger throws(ServerError) in
            let passkey = try Self.passkey(withID: credential, session, ledger)
            _ = try ceremony.signedIn(assertion, with: passkey.credential, at: try session.now())
        }
        try await transact { step throws(ServerError) in
            let passkey = try Self.passkey(withID: credential, step.session, step.ledger)
            try step.remember(try ceremony.signedIn(assertion, with: passkey.credential, at: step.now))
            try step.useUp(ceremony)
            let identity = passkey.credential.key.identity
            try step.makeRoomForSession(of: identity, by: passkey.person)
            let end = step.now + Self.sessionSpan
            try step.session.run(
                "DELETE FROM session WHERE ends_at < $1 OR digest = $2", [.integer(step.now), .bytes(digest.bytes)])
            try step.session.run(
                "INSERT INTO session (digest, passkey, ends_at) VALUES ($1, $2, $3)",
                [.bytes(digest.bytes), .bytes(identity.bytes), .integer(end)])
            try step.record(
                .session, by: passkey.person,
                [
                    "action": PeopleLedger.Action.begun.rawValue, "session": "\(digest)", "passkey": "\(identity)",
                    "end": "\(end)",
                ])
        }
        return token
    }

    /// - Throws: ``ServerError`` `notFound` for a passkey that is not registered.
    private static func passkey(
        withID id: [UInt8], _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> RegisteredPasskey {
        let row = try session.run("SELECT identity FROM passkey WHERE credential = $1", [.bytes(id)]).first
        let identity = try row?.bytes(0) { Digest(bytes: $0) }
        let found = try identity.map { identity throws(ServerError) in try passkey(identity, session, ledger) }
        guard let passkey = found ?? nil else {
            throw ServerError(
                .notFound, of: "passkey", expected: "a passkey that is registered here", found: "another",
                remedy: "Use the passkey that you registered here, or ask for an invitation.")
        }
        return passkey
    }

    /// The session of a token, if it has not ended, as far as it is in memory: nothing is read, so requests without a
    /// session cost nothing. It determines the rate limit of a request and grants no access.
    package func knownSession(of token: AccessToken) -> Digest? {
        let (digest, ledger) = (token.digest, ledger)
        // Compare all, so that the time reveals nothing about close matches.
        let known = ledger.people.sessions.filter { $0.key.isSame(as: digest) }.first
        return known.flatMap { $0.value.end >= ledger.latestTime ? $0.key : nil }
    }

    /// The person of a session's token; nil if the session is not valid or never was. The audit decides; a row that
    /// differs from it comes from an attacker.
    /// - Throws: ``ServerError`` `brokenChain` for such a row.
    package func session(of token: AccessToken) async throws(ServerError) -> SignedIn? {
        let digest = token.digest
        return try await look { session, ledger throws(ServerError) in
            // Compare all, so that the time reveals nothing about close matches.
            guard let known = ledger.people.sessions.filter({ $0.key.isSame(as: digest) }).first?.value else {
                return nil
            }
            // Turning the clock back must not make a session valid again.
            guard max(try session.now(), ledger.latestTime) <= known.end else { return nil }
            let row = try session.run(
                "SELECT passkey, ends_at FROM session WHERE digest = $1", [.bytes(digest.bytes)]
            ).first
            guard row == StorageRow([.bytes(known.passkey.bytes), .integer(known.end)]),
                let passkey = try Self.passkey(known.passkey, session, ledger)
            else {
                throw ServerError(
                    .brokenChain, of: "session", expected: "the row that the audit names", found: "another, or none")
            }
            return SignedIn(session: digest, passkey: passkey, end: known.end)
        }
    }

    /// All people who are signed in, the latest to end first.
    /// - Throws: ``ServerError`` `brokenChain` if the rows do not match the audit.
    package func sessions() async throws(ServerError) -> [SignedIn] {
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
    package func endSession(_ digest: Digest, by actor: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            guard step.ledger.people.sessions[digest] != nil else {
                throw ServerError(.notFound, of: "session", expected: "a session", found: "another, or one that ended")
            }
            try step.endSession(digest, by: actor)
        }
    }

    /// Ends all sessions.
    /// - Returns: the number of sessions that were still valid.
    @discardableResult
    package func endAllSessions(by actor: String) async throws(ServerError) -> Int {
        try await transact { step throws(ServerError) in
            let sessions = step.ledger.people.sessions
            let digests = sessions.keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
            for digest in digests { try step.endSession(digest, by: actor) }
            return sessions.values.count { $0.end >= step.now }
        }
    }
}

extension Catalog.Step {
    /// Ends the oldest session of a passkey that has the maximum, and the oldest of the passkey with the most if the
    /// total has reached its maximum.
    fileprivate mutating func makeRoomForSession(of passkey: Digest, by actor: String) throws(ServerError) {
        let sessions = ledger.people.sessions.filter { $0.value.end >= now }
        let byPasskey = Dictionary(grouping: sessions) { $0.value.passkey }
        var ending = Set(
            Self.oldestFirst(byPasskey[passkey] ?? []).dropLast(Catalog.maximumSessionsOfPasskey - 1).map(\.key))
        if sessions.count - ending.count >= Catalog.maximumSessionCount {
            let fullest = byPasskey.values.max { $0.count < $1.count } ?? []
            if let oldest = Self.oldestFirst(fullest).first { ending.insert(oldest.key) }
        }
        for digest in ending { try endSession(digest, by: actor) }
    }

    /// The digests decide between sessions that end at the same time.
    private static func oldestFirst(
        _ sessions: [Dictionary<Digest, PeopleLedger.Session>.Element]
    ) -> [Dictionary<Digest, PeopleLedger.Session>.Element] {
        sessions.sorted {
            $0.value.end == $1.value.end
                ? $0.key.bytes.lexicographicallyPrecedes($1.key.bytes) : $0.value.end < $1.value.end
        }
    }

    fileprivate mutating func endSession(_ digest: Digest, by actor: String) throws(ServerError) {
        try session.run("DELETE FROM session WHERE digest = $1", [.bytes(digest.bytes)])
        try record(.session, by: actor, ["action": PeopleLedger.Action.ended.rawValue, "session": "\(digest)"])
    }

    /// Ends all sessions, ceremonies and invitations, after the audit recorded that a backup was restored.
    package func endSessions() throws(ServerError) {
        for query: Query in [
            "DELETE FROM session", "DELETE FROM passkey_challenge", "DELETE FROM invitation_approval",
            "DELETE FROM invitation",
        ] {
            try session.run(query)
        }
    }
}
