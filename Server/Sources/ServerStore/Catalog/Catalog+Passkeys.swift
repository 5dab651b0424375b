package import ServerApprovals
package import ServerFoundation
package import ServerModel

extension Catalog {
    /// Maximum number of passkeys.
    fileprivate static let maximumPasskeyCount = 1_000

    /// Begins the registration of an invited person's passkey.
    /// - Returns: the invitation, and the ceremony with the challenge that the passkey signs.
    /// - Parameters:
    ///   - token: the invitation's.
    ///   - generator: generates the challenge.
    /// - Throws: ``ServerError``, as ``invitation(_:_:_:_:)`` does.
    package func beginRegistration(
        _ token: AccessToken, using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> (invitation: InvitationText, ceremony: PasskeyCeremony) {
        let (invitation, now) = try await look { [server, genesis] session, ledger throws(ServerError) in
            let chain = try Self.approverChain(session, server: server, genesis: genesis, known: ledger.approvers)
            return (try Self.invitation(token, chain, session, ledger), try session.now())
        }
        return (
            invitation,
            PasskeyCeremony(PasskeyChallenge.registration(invitation.purpose, using: &generator), at: now)
        )
    }

    /// Registers the passkey of an invited person. This uses up the invitation.
    /// - Parameters:
    ///   - registration: the browser's response.
    ///   - token: the invitation's.
    ///   - party: the relying party where it was made.
    ///   - ceremony: the ceremony that the browser was asked to complete.
    /// - Throws: ``ServerError``, as ``invitation(_:_:_:_:)`` and ``PasskeyCeremony/registered(_:for:at:at:)`` do;
    ///   `notForThis` for a challenge that was answered before, for a key that a statement of approvers names, unless
    ///   it is an approval passkey for the same apps, and for one that was registered for another purpose; `constraint`
    ///   for a passkey that exists already, or one too many.
    package func register(
        _ registration: PasskeyRegistration, _ token: AccessToken, at party: RelyingParty,
        answering ceremony: PasskeyCeremony
    ) async throws(ServerError) -> RegisteredPasskey {
        return try await transact { [server, genesis] step throws(ServerError) in
            let chain = try Self.approverChain(
                step.session, server: server, genesis: genesis, known: step.ledger.approvers)
            let invitation = try Self.invitation(token, chain, step.session, step.ledger)
            let credential = try ceremony.registered(
                registration, for: invitation.purpose, at: party, at: step.now)
            try step.useUp(ceremony)
            // Registration proves no possession of the key, so registering another person's key must not change what it
            // approves.
            let identity = credential.key.identity
            let bound = chain.bound(identity)
            let limits = bound.map { $0.apps } ?? step.ledger.people.limits(of: identity)
            let keepsItsApps =
                credential.purpose == .approval && chain.hasOnlyPasskey(identity) && limits == invitation.apps
            guard !chain.hasEverNamed(identity) || keepsItsApps else {
                throw ServerError(
                    .notForThis, of: "passkey", expected: "a key that no statement of approvers names",
                    found: "one that approves in another way, or did", remedy: "Make another passkey.")
            }
            // A signed statement of approvers takes precedence over an earlier registration.
            let people = step.ledger.people
            guard
                bound != nil
                    || people.mayRegister(identity, for: credential.purpose, invitation.apps, invitation.scope)
            else {
                throw ServerError(
                    .notForThis, of: "passkey", expected: "a new key, or one for what it was registered before",
                    found: "one that was for something else", remedy: "Make another passkey.")
            }
            let passkey = RegisteredPasskey(
                credential, of: invitation.person, for: invitation.apps, scope: invitation.scope)
            try step.add(passkey)
            try step.removeInvitation(invitation.token)
            var facts = [
                "action": PeopleLedger.Action.begun.rawValue, "passkey": "\(credential.key.identity)",
                "invitation": "\(invitation.token)", "digest": "\(Digest(of: passkey.bytes))",
                "person": invitation.person, "purpose": credential.purpose.rawValue,
            ]
            // The stored row contains it as well; this copy is for readers of the audit.
            if let apps = invitation.apps { facts["apps"] = AppName.line(apps) }
            if invitation.scope != .read { facts["scope"] = invitation.scope.text }
            try step.record(.passkey, by: invitation.person, facts)
            return passkey
        }
    }

    /// Removes a passkey, and ends its sessions. Statements of approvers that name it stay the same.
    /// - Throws: ``ServerError`` `notFound`.
    package func removePasskey(_ identity: Digest, by actor: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            guard step.ledger.people.passkeys[identity] != nil else {
                throw ServerError(.notFound, of: "passkey", expected: "a passkey", found: "\(identity)")
            }
            try step.removePasskey(identity)
            try step.record(
                .passkey, by: actor, ["action": PeopleLedger.Action.ended.rawValue, "passkey": "\(identity)"])
        }
    }

    /// All passkeys, sorted by the digests of their keys.
    /// - Throws: ``ServerError`` `brokenChain` if the rows do not match the audit.
    package func passkeys() async throws(ServerError) -> [RegisteredPasskey] {
        try await look { session, ledger throws(ServerError) in
            let identities = ledger.people.passkeys.keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
            var passkeys: [RegisteredPasskey] = []
            for identity in identities {
                if let passkey = try Self.passkey(identity, session, ledger) { passkeys.append(passkey) }
            }
            return passkeys
        }
    }

    /// A passkey; nil if none has this key. The audit decides; a row that differs from it comes from an attacker.
    /// - Throws: ``ServerError`` `brokenChain` for such a row.
    package static func passkey(
        _ identity: Digest, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> RegisteredPasskey? {
        guard let known = ledger.people.passkeys[identity] else { return nil }
        let row = try session.run(
            "SELECT octets, counter, credential FROM passkey WHERE identity = $1", [.bytes(identity.bytes)]
        ).first
        guard let row, Digest(of: try row.bytes(0)) == known, let counter = UInt32(exactly: try row.integer(1)) else {
            throw broken(identity)
        }
        let passkey = try RegisteredPasskey(try row.bytes(0), counter: counter)
        guard passkey.credential.key.identity == identity, passkey.credential.id == (try row.bytes(2)) else {
            throw broken(identity)
        }
        return passkey
    }

    private static func broken(_ identity: Digest) -> ServerError {
        ServerError(
            .brokenChain, of: "passkey \(identity)", expected: "the row that the audit names", found: "another, or none"
        )
    }
}

extension Catalog.Step {
    /// Records that a challenge was answered, for as long as it could be answered again. Only holders of passkeys and
    /// invitations reach this point, so no other client can fill the table. All machines of the database share it.
    /// - Throws: ``ServerError`` `notForThis` for one that was answered before.
    func useUp(_ ceremony: PasskeyCeremony) throws(ServerError) {
        try session.run("DELETE FROM passkey_challenge WHERE ends_at < $1", [.integer(now)])
        let bytes = ceremony.challenge.bytes
        let kept = try session.run(
            """
            INSERT INTO passkey_challenge (visitor, octets, ends_at) VALUES ($1, $2, $3) \
            ON CONFLICT (visitor) DO NOTHING RETURNING ends_at
            """, [.bytes(Digest(of: bytes).bytes), .bytes(bytes), .integer(ceremony.end)])
        guard !kept.isEmpty else {
            throw ServerError(
                .notForThis, of: "passkey", expected: "the answer to a challenge", found: "one that was given before",
                remedy: "Load the page, and begin again.")
        }
    }

    /// Stores a new passkey.
    fileprivate func add(_ passkey: RegisteredPasskey) throws(ServerError) {
        let (identity, id) = (passkey.credential.key.identity, passkey.credential.id)
        let others = try session.run(
            "SELECT identity FROM passkey WHERE identity = $1 OR credential = $2",
            [.bytes(identity.bytes), .bytes(id)])
        for row in others {
            let other = try row.bytes(0) { Digest(bytes: $0) }
            guard ledger.people.passkeys[other] == nil else {
                throw ServerError(
                    .constraint, of: "passkey", expected: "a new passkey", found: "one that is registered",
                    remedy: "Make another passkey, or use the one that is there.")
            }
            // This row is unknown to the audit.
            try removePasskey(other)
        }
        guard ledger.people.passkeys.count < Catalog.maximumPasskeyCount else {
            throw ServerError(
                .constraint, of: "passkeys", expected: "at most \(Catalog.maximumPasskeyCount)", found: "one more",
                remedy: "Remove unused passkeys.")
        }
        try session.run(
            "INSERT INTO passkey (identity, credential, octets, counter) VALUES ($1, $2, $3, $4)",
            [
                .bytes(identity.bytes), .bytes(id), .bytes(passkey.bytes),
                .integer(Int64(passkey.credential.counter)),
            ])
    }

    /// Removes the registration of a key that a statement of approvers names, unless it is for what the statement
    /// names.
    package mutating func yield(_ member: ApproverSet.Member, of set: ApproverSet) throws(ServerError) {
        let identity = member.key.identity
        guard ledger.people.hasStranger(member, of: set) else { return }
        try removePasskey(identity)
        try record(
            .passkey, by: "approvers", ["action": PeopleLedger.Action.yielded.rawValue, "passkey": "\(identity)"])
    }

    fileprivate func removePasskey(_ identity: Digest) throws(ServerError) {
        try session.run("DELETE FROM session WHERE passkey = $1", [.bytes(identity.bytes)])
        try session.run("DELETE FROM passkey WHERE identity = $1", [.bytes(identity.bytes)])
    }

    /// Stores the sign count of a passkey.
    package func remember(_ credential: PasskeyCredential) throws(ServerError) {
        try session.run(
            "UPDATE passkey SET counter = $1 WHERE identity = $2",
            [.integer(Int64(credential.counter)), .bytes(credential.key.identity.bytes)])
    }

    /// Records that a passkey has signed a text. A passkey that was never registered here is known only from the
    /// statement of approvers, and its sign count is unknown.
    /// - Throws: ``ServerError``, as ``PasskeyCredential/approved(_:over:)`` does.
    package func use(_ evidence: PasskeyEvidence, over text: [UInt8]) throws(ServerError) {
        guard let passkey = try Catalog.passkey(evidence.key.identity, session, ledger) else { return }
        try remember(try passkey.credential.approved(evidence, over: text))
    }
}
