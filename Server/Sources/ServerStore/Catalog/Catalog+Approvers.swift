package import ServerApprovals
package import ServerFoundation
import ServerModel

extension Catalog {
    /// The chain of approver statements; its head is in force.
    /// - Throws: ``ServerError`` `brokenChain` if the stored statements do not match the audit.
    package func approvers() async throws(ServerError) -> ApproverChain {
        try await look { [server, genesis] session, ledger throws(ServerError) in
            try Self.approverChain(session, server: server, genesis: genesis, known: ledger.approvers)
        }
    }

    /// The statements of the chain with their signatures, the genesis first, verified as a whole.
    /// - Throws: ``ServerError``, as ``approvers()`` does.
    package func signedApprovers() async throws(ServerError) -> [SignedApprovers] {
        try await look { [server, genesis] session, ledger throws(ServerError) in
            let statements = try Self.storedApprovers(session)
            _ = try ApproverChain(statements, genesis: genesis, server: server, known: ledger.approvers)
            return statements
        }
    }

    /// Adds a statement of approvers. Approvers of certain apps alone cannot approve it, because it affects all apps.
    ///
    /// Every new approver signs the statement, but registering a passkey proves no possession of its key. Therefore a
    /// registration with a key that is new in the statement ends, unless it is an approval passkey for at least the
    /// apps that the statement names.
    /// - Throws: ``ServerError``, as ``ApproverChain/append(_:)`` does; `constraint` for a key file or a signer program
    ///   with a key that an earlier statement names and that was registered as a passkey for certain apps, and for a
    ///   passkey that an earlier statement names and that was registered for fewer apps than this one names.
    package func append(_ next: SignedApprovers) async throws(ServerError) {
        try await transact { [server, genesis] step throws(ServerError) in
            var chain = try Self.approverChain(
                step.session, server: server, genesis: genesis, known: step.ledger.approvers)
            let (earlier, before) = (chain, chain.head.approvers)
            let people = step.ledger.people
            try chain.append(next) { people.allows($0, all: nil) }
            let set = chain.head.approvers
            let strange = set.members.first {
                earlier.hasEverNamed($0.key.identity)
                    && (!$0.isPasskey && people.limits(of: $0.key.identity) != nil || people.isNarrower($0, of: set))
            }
            if let strange {
                throw ServerError(
                    .constraint, of: "approvers", expected: "keys that are not registered for fewer apps",
                    found: "that of \(strange.name)", remedy: "Have \(strange.name) make another key.")
            }
            for member in set.members where !earlier.hasEverNamed(member.key.identity) {
                try step.yield(member, of: set)
            }
            for signature in next.signatures {
                let identity = signature.identity
                guard (chain.head.approvers.member(identity) ?? before.member(identity))?.isPasskey == true else {
                    continue
                }
                try step.use(PasskeyEvidence(signature.signature), over: next.text)
            }
            try Self.store(next, at: chain.head.index, &step)
        }
    }

    package static func store(_ statement: SignedApprovers, at index: Int64, _ step: inout Step) throws(ServerError) {
        // One row for each signer; a signer who signed twice has one.
        var signatures: [Digest: [UInt8]] = [:]
        for signature in statement.signatures { signatures[signature.identity] = signature.signature }
        for (identity, signature) in signatures {
            try step.session.run(
                "INSERT INTO approver (place, identity, statement, signature) VALUES ($1, $2, $3, $4)",
                [.integer(index), .bytes(identity.bytes), .bytes(statement.text), .bytes(signature)])
        }
        try step.record(
            .approvers, by: "approvers", ["index": "\(index)", "digest": "\(Digest(of: statement.text))"])
    }

    /// Reads and verifies the whole chain. It must end with the statement that the audit names.
    package static func approverChain(
        _ session: any StorageSession, server: RandomID, genesis: Digest, known: ApproverChain.Mark?
    ) throws(ServerError) -> ApproverChain {
        let statements = try storedApprovers(session)
        let chain = try ApproverChain(statements, genesis: genesis, server: server, known: known)
        guard known == nil || chain.mark == known else {
            throw ServerError(
                .brokenChain, of: "approvers", expected: "statement \(known?.index ?? 0) as the last",
                found: "statement \(chain.head.index)")
        }
        return chain
    }

    private static func storedApprovers(_ session: any StorageSession) throws(ServerError) -> [SignedApprovers] {
        var statements: [SignedApprovers] = []
        let rows = try session.run(
            "SELECT place, identity, statement, signature FROM approver ORDER BY place, identity")
        var place: Int64 = -1
        for row in rows {
            let text = try row.bytes(2)
            let signature = ApproverSignature(
                identity: try row.bytes(1) { Digest(bytes: $0) }, signature: try row.bytes(3))
            if try row.integer(0) == place, let last = statements.last {
                guard last.text == text else {
                    throw ServerError(
                        .brokenChain, of: "approvers", expected: "one statement at each place", found: "two")
                }
                statements[statements.count - 1] = SignedApprovers(
                    text: text, signatures: last.signatures + [signature])
            } else {
                place = try row.integer(0)
                statements.append(SignedApprovers(text: text, signatures: [signature]))
            }
        }
        return statements
    }
}
