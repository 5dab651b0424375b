package import ServerApprovals
package import ServerFoundation
package import ServerModel

extension Catalog {
    /// Maximum number of open invitations.
    private static let maximumInvitationCount = 100

    /// Stores an invitation that enough approvers have signed.
    /// - Throws: ``ServerError``, as ``SignedInvitation/verified(by:_:at:)`` does; `constraint` for one that existed
    ///   before, and if there are too many.
    package func invite(_ signed: SignedInvitation) async throws(ServerError) {
        try await transact { [server, genesis] step throws(ServerError) in
            let chain = try Self.approverChain(
                step.session, server: server, genesis: genesis, known: step.ledger.approvers)
            let people = step.ledger.people
            let invitation = try signed.verified(by: chain, people, at: step.now)
            guard !people.hasInvited(invitation.token), people.invitations.count < Self.maximumInvitationCount else {
                throw ServerError(
                    .constraint, of: "invitation", expected: "a new token, and few open invitations",
                    found: "a token that was used before, or \(people.invitations.count) open invitations",
                    remedy: "Have the approvers sign an invitation with a new token.")
            }
            // Existing rows with this token can only be unknown to the audit.
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

    /// The unused invitations, the first to end first; also expired ones, and those by approvers no longer in force.
    /// - Throws: ``ServerError`` `brokenChain` if the rows do not match the audit.
    package func invitations() async throws(ServerError) -> [InvitationText] {
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

    /// The invitation of a token, verified again.
    /// - Throws: ``ServerError`` `notFound` if the token has no invitation or it was used; `brokenChain` for rows that
    ///   do not match the audit; `notForThis` if it has expired, or the approvers have changed.
    package static func invitation(
        _ token: AccessToken, _ chain: ApproverChain, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> InvitationText {
        let digest = token.digest
        // Compare all, so that the time reveals nothing about close matches.
        guard let known = ledger.people.invitations.filter({ $0.key.isSame(as: digest) }).first?.value else {
            throw ServerError(
                .notFound, of: "invitation", expected: "the token of an unused invitation",
                found: "a used or unknown token", remedy: "Ask for a new invitation.")
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
