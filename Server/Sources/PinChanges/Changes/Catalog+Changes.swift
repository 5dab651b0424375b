import HoldfastPublishing
package import ServerApprovals
package import ServerFoundation
package import ServerModel
package import ServerStore

extension Catalog {
    /// Stores a proposal. Its approvals name the digests of the stored content and outlook.
    /// - Parameters:
    ///   - content: the content to publish.
    ///   - outlook: its outlook, canonical JSON.
    ///   - forced: the gates that it passes even if it fails them.
    ///   - proposer: the digest of the proposer's key; nil if the proposer is not an approver.
    ///   - reason: the reason: 1 to 1,024 bytes.
    ///   - actor: the person or token that proposes it, for the audit.
    ///   - base: the generation that the outlook was made for.
    ///   - generator: generates the id.
    /// - Returns: the id of the change.
    /// - Throws: ``ServerError`` `notFound`, `invalidValue`, or `outOfTurn` if something else was published since.
    package func propose(
        _ content: Content, outlook: [UInt8], forcing forced: Set<Gate>, proposer: Digest?, reason: String,
        by actor: String, base: Int64, using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> RandomID {
        let id = RandomID(using: &generator)
        try await transact { step throws(ServerError) in
            try step.propose(
                id, content, outlook: outlook, forcing: forced, proposer: proposer, reason: reason, by: actor,
                base: base)
        }
        return id
    }

    package static func text(of gates: Set<Gate>) -> String {
        let names = gates.map(\.rawValue).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return names.isEmpty ? "-" : names.joined(separator: ",")
    }

    /// A change.
    /// - Throws: ``ServerError`` `notFound`; `brokenChain` if its rows do not match the audit.
    package func change(_ id: RandomID) async throws(ServerError) -> Change {
        try await look { session, ledger throws(ServerError) in try Self.change(id, session, ledger) }
    }

    /// The changes of an app, the newest first.
    /// - Throws: ``ServerError``.
    package func changes(of app: AppName) async throws(ServerError) -> [Change] {
        try await look { session, ledger throws(ServerError) in
            let ids = ledger.proposals.filter { $0.value.app == app }
                .sorted { ($0.value.time, "\($0.key)") > ($1.value.time, "\($1.key)") }
            var changes: [Change] = []
            for (id, _) in ids.prefix(1_000) { changes.append(try Self.change(id, session, ledger)) }
            return changes
        }
    }

    package static func change(
        _ id: RandomID, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> Change {
        guard let proposal = ledger.proposals[id] else {
            throw missingChange(id)
        }
        let row = try session.run("SELECT content, outlook FROM change WHERE id = $1", [.bytes(id.bytes)]).first
        guard let row, Digest(of: try row.bytes(0)) == proposal.content,
            Digest(of: try row.bytes(1)) == proposal.outlook
        else {
            throw ServerError(
                .brokenChain, of: "change \(id)", expected: "the content and the outlook that were proposed",
                found: "others")
        }
        let content = try Content(try row.bytes(0))
        guard content.app == proposal.app else {
            throw ServerError(.brokenChain, of: "change \(id)", expected: "\(proposal.app)", found: "\(content.app)")
        }
        // All other values come from the audit, no matter what the row contains.
        let canary = ledger.canaries[proposal.app]
        return Change(
            id: id, content: content, outlook: try row.bytes(1), baseGeneration: proposal.baseGeneration,
            forced: try gates(proposal.forced), proposer: proposal.proposer, reason: proposal.reason,
            proposed: proposal.time, canaryBegan: canary?.change == id ? canary?.began : nil,
            approvals: try approvals(of: id, proposal.app, session, ledger), ended: ledger.ended[id],
            barred: ledger.people.barred(from: proposal.app))
    }

    /// The approvals and rejections of a change by its approvers.
    package static func approvals(
        of id: RandomID, _ app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> [SignedApproval] {
        try session.run(
            "SELECT identity, text, signature FROM approval WHERE change_id = $1 ORDER BY identity, text LIMIT 1000",
            [.bytes(id.bytes)]
        ).map { row throws(ServerError) in
            SignedApproval(
                text: try row.bytes(1),
                signature: ApproverSignature(
                    identity: try row.bytes(0) { Digest(bytes: $0) }, signature: try row.bytes(2)))
        }.filter { ledger.people.allows($0.signature.identity, app) }
    }

    package static func gates(_ text: String) throws(ServerError) -> Set<Gate> {
        guard !text.utf8.elementsEqual("-".utf8) else { return [] }
        var gates: Set<Gate> = []
        for name in text.utf8.split(separator: UInt8(ascii: ",")) {
            guard let gate = Gate(bytes: name), gate.canBeForced else {
                throw ServerError(.brokenChain, of: "audit", expected: "names of gates", found: "others")
            }
            gates.insert(gate)
        }
        return gates
    }

    /// Stores an approval or a rejection, if it is valid now.
    /// - Throws: ``ServerError`` `notFound`; `outOfTurn` for a change that has ended; `notForThis`, `invalidSignature`
    ///   or `malformed` for one that is not valid.
    package func add(_ approval: SignedApproval) async throws(ServerError) {
        let text = try ApprovalText(approval.text)
        try await transact { [server, genesis] step throws(ServerError) in
            let change = try Self.change(text.subject.change, step.session, step.ledger)
            guard change.ended == nil else {
                throw ServerError(
                    .outOfTurn, of: "change \(change.id)", expected: "an open change",
                    found: "one that was \(change.ended?.rawValue ?? "ended")",
                    remedy:
                        "Look at those that are open: `holdfast-server change list \(change.content.app) --data DIR`.")
            }
            let chain = try Self.approverChain(
                step.session, server: server, genesis: genesis, known: step.ledger.approvers)
            let subject = try change.subject(for: chain)
            guard text.subject == subject else {
                throw ServerError(
                    .notForThis, of: "change \(change.id)", expected: "an approval of what is stored here",
                    found: "one of something else")
            }
            guard step.now <= text.end, step.now <= change.end else {
                throw ServerError(
                    .notForThis, of: "change \(change.id)", expected: "a time before its end", found: "a later one")
            }
            let signers = try chain.head.approvers.signers(of: approval.text, [approval.signature])
            let who = approval.signature.identity
            guard step.ledger.people.allows(who, change.content.app) else {
                throw ServerError(
                    .notForThis, of: "passkey", expected: "one that was invited for \(change.content.app)",
                    found: "one for other apps", remedy: "Ask an approver of \(change.content.app) to approve it.")
            }
            guard chain.head.approvers.member(who)?.approves(change.content.app) == true else {
                throw ServerError(
                    .notForThis, of: "approval", expected: "an approval by an approver of \(change.content.app)",
                    found: "an approval by an approver of other apps",
                    remedy: "Ask an approver of \(change.content.app) to approve it.")
            }
            if text.verdict == .approve { try Self.requireFewApprovals(by: who, text, step.session) }
            // Repeating the same approval changes nothing, and is no new use of the passkey.
            if chain.head.approvers.member(who)?.isPasskey == true, !change.approvals.contains(approval) {
                try step.use(PasskeyEvidence(approval.signature.signature), over: approval.text)
            }
            try step.session.run(
                """
                INSERT INTO approval (change_id, identity, text, signature, created_at) VALUES ($1, $2, $3, $4, $5) \
                ON CONFLICT (change_id, identity, text) DO UPDATE SET signature = excluded.signature
                """,
                [
                    .bytes(change.id.bytes), .bytes(who.bytes), .bytes(approval.text),
                    .bytes(approval.signature.signature), .integer(step.now),
                ])
            try step.record(
                text.verdict == .approve ? .approved : .rejected, by: signers.map { "\($0)" }.joined(),
                ["change": "\(change.id)", "app": "\(change.content.app)", "text": "\(Digest(of: approval.text))"])
        }
    }

    /// Maximum number per person. At most a thousand are read, so one person's must not displace those of others.
    private static let maximumApprovalCount = 8

    private static func requireFewApprovals(
        by identity: Digest, _ text: ApprovalText, _ session: any StorageSession
    ) throws(ServerError) {
        let change = text.subject.change
        let texts = try session.run(
            "SELECT text FROM approval WHERE change_id = $1 AND identity = $2",
            [.bytes(change.bytes), .bytes(identity.bytes)])
        guard texts.count >= maximumApprovalCount, !texts.contains(where: { $0[0] == .bytes(text.bytes) }) else {
            return
        }
        throw ServerError(
            .constraint, of: "change \(change)", expected: "at most \(maximumApprovalCount) approvals by one person",
            found: "one more", remedy: "One that has not ended is enough; propose the change again if all have.")
    }

    /// Maximum number per app. A token that may only propose must not fill the disk, or the list that people read.
    private static let maximumOpenCount = 100

    /// Throws for a proposal with a token while too many changes are open.
    /// - Throws: ``ServerError`` `constraint`.
    package func requireFewOpenChanges(of app: AppName) async throws(ServerError) {
        let now = try await self.now()
        let open = ledger.openChanges(at: now).count { $0.proposal.app == app }
        guard open < Self.maximumOpenCount else {
            throw ServerError(
                .constraint, of: "changes", expected: "less than \(Self.maximumOpenCount) open changes of \(app)",
                found: "\(open)",
                remedy:
                    "Reject open changes, or revoke the token that proposed them. A change that is not approved lapses "
                    + "by itself. `holdfast-server change propose` still works."
            )
        }
    }

    /// Ends a change that can no longer be published.
    package func lapse(_ change: RandomID, because reason: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            guard step.ledger.proposals[change] != nil, step.ledger.ended[change] == nil else { return }
            try step.record(.lapsed, by: "server", ["change": "\(change)", "reason": reason])
        }
    }
}

extension Catalog.Step {
    /// Stores a proposal.
    package mutating func propose(
        _ id: RandomID, _ content: Content, outlook: [UInt8], forcing forced: Set<Gate>, proposer: Digest?,
        reason: String, by actor: String, base: Int64
    ) throws(ServerError) {
        guard (1...1_024).contains(reason.utf8.count) else {
            throw ServerError(
                .invalidValue, of: "reason", expected: "1 to 1024 bytes", found: "\(reason.utf8.count)",
                remedy: "Say why, for those who approve and for the audit.")
        }
        let gates = Catalog.text(of: forced)
        try requireApp(content.app)
        guard ledger.generation(of: content.app) == base else {
            throw ServerError(
                .outOfTurn, of: "app \(content.app)", expected: "generation \(base)",
                found: "\(ledger.generation(of: content.app))",
                remedy: "Propose it again on what is published.")
        }
        try session.run(
            """
            INSERT INTO change (id, app, state, base_generation, content, outlook, forced, proposer, reason, \
            created_at, ends_at) VALUES ($1, $2, 'proposed', $3, $4, $5, $6, $7, $8, $9, $10)
            """,
            [
                .bytes(id.bytes), .text("\(content.app)"), .integer(base), .bytes(content.bytes),
                .bytes(outlook), .text(gates), .optional(proposer?.bytes), .text(reason), .integer(now),
                .integer(PublicationTiming.changeEnd(of: now)),
            ])
        try Catalog.keepKeys(of: content, session, ledger)
        var facts = [
            "change": "\(id)", "app": "\(content.app)", "content": "\(content.digest)",
            "outlook": "\(Digest(of: outlook))", "base": "\(base)", "forced": gates, "reason": reason,
        ]
        if let proposer { facts["proposer"] = "\(proposer)" }
        // The gates state it as well; this is for readers of the audit.
        if forced.contains(.canary) { facts["emergency"] = "everybody gets it at once" }
        try record(.proposed, by: actor, facts)
    }
}
