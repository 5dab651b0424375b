package import ServerFoundation

/// Every statement of approvers of a server, from the genesis on, verified. Only a value of this type determines whose
/// approvals are valid.
package struct ApproverChain: Sendable, Hashable {
    /// A statement known to have been in force, recorded outside the database.
    package struct Mark: Sendable, Hashable {
        /// Its place in the chain.
        package let index: Int64
        /// Its digest.
        package let digest: Digest

        /// Names a statement.
        package init(index: Int64, digest: Digest) {
            self.index = index
            self.digest = digest
        }
    }

    /// The verified statements, the genesis first.
    package private(set) var statements: [ApproverStatement]
    /// The statements with their signatures, so that others can verify them again.
    package private(set) var signed: [SignedApprovers]

    /// The statement in force.
    package var head: ApproverStatement { statements[statements.count - 1] }

    /// The mark to keep outside the database.
    package var mark: Mark { Mark(index: head.index, digest: head.digest) }

    /// Begins a chain.
    /// - Parameters:
    ///   - genesis: the first statement, signed by exactly its own approvers.
    ///   - digest: its digest in the configuration.
    ///   - server: the id of this server.
    /// - Throws: ``ServerError`` `brokenChain`, `invalidSignature`, `notApproved`, `malformed` or `invalidValue`.
    package init(genesis: SignedApprovers, digest: Digest, server: RandomID) throws(ServerError) {
        let statement = try ApproverStatement(genesis.text)
        guard statement.index == 0, statement.digest == digest else {
            throw ServerError(
                .brokenChain, of: "genesis", expected: "the statement whose digest the configuration names",
                found: "\(statement.digest)")
        }
        guard statement.server == server else {
            throw ServerError(.notForThis, of: "genesis", expected: "\(server)", found: "\(statement.server)")
        }
        let signers = try statement.approvers.signers(of: genesis.text, genesis.signatures)
        try Self.require(signers.count, of: statement.approvers.members.count, "genesis")
        statements = [statement]
        signed = [genesis]
    }

    /// Verifies a whole chain.
    /// - Parameters:
    ///   - chain: the statements, the genesis first.
    ///   - digest: the genesis's digest in the configuration.
    ///   - server: the id of this server.
    ///   - known: a statement that is known to have been in force. A chain without it was rewritten or replaced by an
    ///     older one.
    /// - Throws: ``ServerError``, as the initializer and ``append(_:)`` do.
    package init(
        _ chain: [SignedApprovers], genesis digest: Digest, server: RandomID, known: Mark?
    ) throws(ServerError) {
        guard let first = chain.first else {
            throw ServerError(.brokenChain, of: "genesis", expected: "a statement of approvers", found: "none")
        }
        try self.init(genesis: first, digest: digest, server: server)
        for statement in chain.dropFirst() { try append(statement) }
        guard let known else { return }
        guard statements.indices.contains(Int(clamping: known.index)),
            statements[Int(clamping: known.index)].digest == known.digest
        else {
            throw ServerError(
                .brokenChain, of: "approvers", expected: "statement \(known.index) with the digest \(known.digest)",
                found: "a chain of \(statements.count) without it")
        }
    }

    /// Adds the next statement.
    ///
    /// It needs the approvals that a change needs under the statement before, by approvers of all apps, or those of the
    /// recovery keys of the genesis. Every approver who is new, or who signs in a different way from now on, signs it
    /// as well, which proves possession of each key. If the statement before limits approvers to apps, this one does so
    /// too; a format without limits cannot drop them.
    /// - Throws: ``ServerError`` `brokenChain`, `notForThis`, `invalidSignature`, `notApproved`, `malformed` or
    ///   `invalidValue`; the chain is unchanged then.
    package mutating func append(_ next: SignedApprovers) throws(ServerError) {
        try append(next, counting: { _ in true })
    }

    /// Adds the next statement.
    /// - Parameter mayAgree: whether the approval of an approver named in the statement before is valid for this one.
    /// - Throws: ``ServerError``, as ``append(_:)`` does.
    package mutating func append(_ next: SignedApprovers, counting mayAgree: (Digest) -> Bool) throws(ServerError) {
        let statement = try ApproverStatement(next.text)
        let (before, subject) = (head, "statement \(statement.index) of approvers")
        guard statement.server == before.server else {
            throw ServerError(.notForThis, of: subject, expected: "\(before.server)", found: "\(statement.server)")
        }
        guard statement.index == before.index + 1, statement.previous == before.digest else {
            throw ServerError(
                .brokenChain, of: subject, expected: "statement \(before.index + 1) after \(before.digest)",
                found: "one after \(statement.previous)")
        }
        guard statement.approvers.bindsApps || !before.approvers.bindsApps else {
            throw ServerError(
                .invalidValue, of: subject, expected: "the apps of each approver, as the statement before has them",
                found: "an earlier version of the text",
                remedy: "Write it again with `holdfast-server approvers propose`.")
        }
        var (approvals, recoveries, own): (Set<Digest>, Set<Digest>, Set<Digest>) = ([], [], [])
        let recovery = statements[0].recovery
        for signature in next.signatures {
            let identity = signature.identity
            // An approver who will sign in another way from now on, such as with a passkey on another page, must prove
            // that it can. That signature is not an approval as well: each signature is made in one way only.
            let isChanged =
                statement.approvers.member(identity) != nil
                && !statement.approvers.hasUnchanged(identity, since: before.approvers)
            var counts = false
            if before.approvers.member(identity) != nil, !isChanged {
                let signers = try before.approvers.signers(of: next.text, [signature])
                approvals.formUnion(
                    signers.filter { before.approvers.member($0)?.approves(all: nil) == true && mayAgree($0) })
                counts = true
            }
            if let recovery, recovery.member(identity) != nil {
                recoveries.formUnion(try recovery.signers(of: next.text, [signature]))
                counts = true
            }
            // Also rejects a signature by a key that neither statement names.
            if !counts || statement.approvers.member(identity) != nil {
                own.formUnion(try statement.approvers.signers(of: next.text, [signature]))
            }
        }
        if recovery.map({ recoveries.count < $0.number }) ?? true {
            try Self.require(approvals.count, of: before.approvers.number, subject)
            try before.approvers.requireKey(among: approvals, of: subject)
        }
        let newcomers = statement.approvers.members.filter { member in
            !statement.approvers.hasUnchanged(member.key.identity, since: before.approvers)
        }
        if let missing = newcomers.first(where: { !own.contains($0.key.identity) }) {
            throw ServerError(
                .notApproved, of: subject, expected: "a signature by each new approver",
                found: "none by \(missing.name)", remedy: "Have \(missing.name) sign the statement too.")
        }
        statements.append(statement)
        signed.append(next)
    }

    /// Whether any statement names a key, as an approver or for recovery.
    package func hasEverNamed(_ identity: Digest) -> Bool {
        statements.contains { $0.approvers.member(identity) != nil || $0.recovery?.member(identity) != nil }
    }

    /// Whether every statement that names a key marks it as a passkey's.
    package func hasOnlyPasskey(_ identity: Digest) -> Bool {
        statements.allSatisfy {
            $0.approvers.member(identity)?.isPasskey ?? true && $0.recovery?.member(identity) == nil
        }
    }

    /// The approver entry for a key in the last statement that names it; nil if that statement does not limit approvers
    /// to apps.
    package func bound(_ identity: Digest) -> ApproverSet.Member? {
        let last = statements.last { $0.approvers.member(identity) != nil }?.approvers
        return last?.bindsApps == true ? last?.member(identity) : nil
    }

    /// The chain up to a statement; nil if the statement was never in force.
    package func when(_ digest: Digest) -> ApproverChain? {
        guard let index = statements.firstIndex(where: { $0.digest == digest }) else { return nil }
        var earlier = self
        earlier.statements.removeSubrange((index + 1)...)
        earlier.signed.removeSubrange((index + 1)...)
        return earlier
    }

    private static func require(_ count: Int, of number: Int, _ subject: String) throws(ServerError) {
        guard count >= number else {
            throw ServerError(
                .notApproved, of: subject, expected: "signatures by \(number) approvers", found: "\(count)",
                remedy: "More approvers must decide, each with their own key: "
                    + "`holdfast-server sign STATEMENT --key KEY --output SIGNATURE`.")
        }
    }
}
