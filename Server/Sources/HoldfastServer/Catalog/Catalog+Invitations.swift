extension Catalog {
    /// More open invitations than anybody keeps count of.
    private static let maximumInvitationCount = 100

    /// Takes an invitation that enough approvers have signed.
    /// - Throws: ``ServerError``, as ``SignedInvitation/verified(by:_:at:)`` does; `constraint` for one that was there before,
    ///   and for one too many.
    public func invite(_ signed: SignedInvitation) async throws(ServerError) {
        try await transact { [server, genesis] step throws(ServerError) in
            let chain = try Self.approverChain(
                step.session, server: server, genesis: genesis, known: step.ledger.approvers)
            let people = step.ledger.people
            let invitation = try signed.verified(by: chain, people, at: step.now)
            guard !people.hasInvited(invitation.token), people.invitations.count < Self.maximumInvitationCount else {
                throw ServerError(
                    .constraint, of: "invitation", expected: "a new token, and few open invitations",
                    found: "a token that has invited somebody, or \(people.invitations.count) invitations",
                    remedy: "Have the approvers sign an invitation with a new token.")
            }
            // Only what the audit does not know can be there.
            try step.removeInvitation(invitation.token)
            try step.session.run(
                "INSERT INTO invitation (digest, text) VALUES ($1, $2)",
                [.bytes(invitation.token.bytes), .bytes(invitation.bytes)])
            // One row for each signer; a signer who signed twice has one.
            var signatures: [Digest: [UInt8]] = [:]
            for signature in signed.signatures { signatures[signature.identity] = signature.signature }
            for (identity, signature) in signatures {
                try step.session.run(
                    "INSERT INTO invitation_approval (invitation, identity, signature) VALUES ($1, $2, $3)",
                    [.bytes(invitation.token.bytes), .bytes(identity.bytes), .bytes(signature)])
            }
            for app in invitation.apps ?? [] { try step.requireApp(app) }
            var facts = [
                "invitation": "\(invitation.token)", "text": "\(Digest(of: invitation.bytes))",
                "person": invitation.person, "purpose": invitation.purpose.rawValue, "end": "\(invitation.end)",
            ]
            if let apps = invitation.apps { facts["apps"] = AppName.line(apps) }
            if invitation.scope != .read { facts["scope"] = invitation.scope.text }
            try step.record(.invitation, by: "approvers", facts)
        }
    }

    /// The invitations that nobody has used, the first to end first; also those whose time is over, and those of approvers
    /// who count no longer.
    /// - Throws: ``ServerError`` `brokenChain` if the rows are not what the audit names.
    public func invitations() async throws(ServerError) -> [InvitationText] {
        try await look { session, ledger throws(ServerError) in
            var invitations: [InvitationText] = []
            for (token, text) in ledger.people.invitations {
                invitations.append(try InvitationText(try Self.text(of: token, text, session)))
            }
            return invitations.sorted { ($0.end, "\($0.token)") < ($1.end, "\($1.token)") }
        }
    }

    private static func text(
        of token: Digest, _ known: Digest, _ session: any StorageSession
    ) throws(ServerError) -> [UInt8] {
        let row = try session.run("SELECT text FROM invitation WHERE digest = $1", [.bytes(token.bytes)]).first
        guard let text = try row?.bytes(0), Digest(of: text) == known else {
            throw ServerError(
                .brokenChain, of: "invitation", expected: "the text that the audit names", found: "another, or none")
        }
        return text
    }

    /// What a token invites to, verified once more.
    /// - Throws: ``ServerError`` `notFound` if it invites nobody, or somebody has used it; `brokenChain` for rows that are not
    ///   what the audit names; `notForThis` if its time is over, or other approvers count now.
    static func invitation(
        _ token: AccessToken, _ chain: ApproverChain, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> InvitationText {
        let digest = token.digest
        // All are compared, so that the time says nothing about which were close.
        guard let known = ledger.people.invitations.filter({ $0.key.isSame(as: digest) }).first?.value else {
            throw ServerError(
                .notFound, of: "invitation", expected: "a token that invites, and that nobody has used",
                found: "another", remedy: "Ask for a new invitation.")
        }
        let text = try text(of: digest, known, session)
        let rows = try session.run(
            "SELECT identity, signature FROM invitation_approval WHERE invitation = $1 ORDER BY identity LIMIT 64",
            [.bytes(digest.bytes)])
        var signatures: [ApproverSignature] = []
        for row in rows {
            signatures.append(
                ApproverSignature(
                    identity: try row.bytes(0) { Digest(bytes: $0) }, signature: try row.bytes(1)))
        }
        let signed = SignedInvitation(text: text, signatures: signatures)
        return try signed.verified(by: chain, ledger.people, at: max(try session.now(), ledger.latestTime))
    }
}

extension Catalog.Step {
    /// Removes the rows of an invitation.
    func removeInvitation(_ token: Digest) throws(ServerError) {
        try session.run("DELETE FROM invitation_approval WHERE invitation = $1", [.bytes(token.bytes)])
        try session.run("DELETE FROM invitation WHERE digest = $1", [.bytes(token.bytes)])
    }
}
