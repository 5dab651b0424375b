import HoldfastPublishing

/// What decides where a change is on its way. What it publishes and its outlook are known by their digests, so that lists
/// read neither.
struct ChangeStatus: Sendable, Hashable {
    let id: RandomID
    let app: AppName
    /// The digest of the content.
    let content: Digest
    /// The digest of the outlook.
    let outlook: Digest
    let baseGeneration: Int64
    let forced: Set<Gate>
    let proposer: Digest?
    let reason: String
    let proposed: Int64
    let approvals: [SignedApproval]
    let ended: AuditEntry.Event?
    /// Those who may approve nothing of its app, whatever statements of approvers say.
    let barred: Set<Digest>

    /// When it took the canary of its app, in seconds since 1970; nil if it does not hold it.
    let canaryBegan: Int64?

    /// The last second at which people can approve it.
    var end: Int64 { PublicationTiming.changeEnd(of: proposed) }

    /// The last second at which it can be published. The canary's time extends that of a change that holds the canary, as
    /// far as its approvals were signed for it.
    var lastPublication: Int64 {
        guard canaryBegan != nil else { return end }
        let ends = approvals.compactMap { try? ApprovalText($0.text) }.filter { $0.verdict == .approve }.map(\.end)
        return max(end, min(ends.max() ?? end, end + AppSettings.canaries.upperBound))
    }

    /// Whether it skips the canary.
    var isEmergency: Bool { forced.contains(.canary) }

    /// The last second at which an approval that is signed now is valid: the end of the change, extended by the time that
    /// the canary takes.
    func approvalEnd(with settings: AppSettings) -> Int64 {
        settings.timing(forcing: forced).approvalEnd(of: proposed)
    }

    /// What each approval must name.
    /// - Throws: ``ServerError`` `invalidValue`.
    func subject(for chain: ApproverChain) throws(ServerError) -> ApprovalText.Subject {
        try ApprovalText.Subject(
            server: chain.head.server, app: app, change: id, baseGeneration: baseGeneration, content: content,
            outlook: outlook, forced: forced, approvers: chain.head.digest)
    }

    /// Counts its approvals.
    /// - Throws: ``ServerError``, as ``ApprovedSubject`` does.
    func approved(by chain: ApproverChain, at now: Int64) throws(ServerError) -> ApprovedSubject {
        let subject = try subject(for: chain)
        // An approval under earlier approvers is not for this, and does not hinder those that are.
        let counting = approvals.filter { approval in
            (try? ApprovalText(approval.text)).map { $0.verdict == .reject || $0.subject == subject } ?? true
        }
        return try ApprovedSubject(subject, approvals: counting, chain: chain, proposer: proposer, at: now)
    }

    /// The approvers who may say something about it and have said nothing yet.
    func silentApprovers(of chain: ApproverChain) -> [ApproverSet.Member] {
        let heard = approvals.filter { (try? ApprovalText($0.text))?.subject.approvers == chain.head.digest }
            .map(\.signature.identity)
        return chain.head.approvers.members.filter {
            !heard.contains($0.key.identity) && !barred.contains($0.key.identity) && $0.approves(app)
        }
    }

    /// Where it is on its way.
    func state(_ chain: ApproverChain, generation: Int64, at now: Int64) -> Change.State {
        switch ended {
        case .published: return .published
        case .rejected: return .rejected
        case .lapsed: return .lapsed
        default: break
        }
        guard baseGeneration == generation, now <= lastPublication else { return .lapsed }
        do throws(ServerError) {
            _ = try approved(by: chain, at: now)
            return .approved
        } catch {
            return error.code == .rejected ? .rejected : .proposed
        }
    }
}

extension Change {
    /// What decides where it is on its way.
    var standing: ChangeStatus {
        ChangeStatus(
            id: id, app: content.app, content: content.digest, outlook: Digest(of: outlook),
            baseGeneration: baseGeneration, forced: forced, proposer: proposer, reason: reason, proposed: proposed,
            approvals: approvals, ended: ended, barred: barred, canaryBegan: canaryBegan)
    }
}

extension Catalog {
    /// What is said of a change that this server does not have.
    static func missingChange(_ id: RandomID) -> ServerError {
        ServerError(
            .notFound, of: "change", expected: "a change of this server", found: "\(id)",
            remedy: "Name one that `holdfast-server change list APP --data DIR` shows.")
    }

    /// Where a change is on its way, without what it publishes.
    /// - Throws: ``ServerError`` `notFound`.
    static func standing(
        of id: RandomID, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> ChangeStatus {
        guard let proposal = ledger.proposals[id] else {
            throw missingChange(id)
        }
        return ChangeStatus(
            id: id, app: proposal.app, content: proposal.content, outlook: proposal.outlook,
            baseGeneration: proposal.baseGeneration, forced: try gates(proposal.forced), proposer: proposal.proposer,
            reason: proposal.reason, proposed: proposal.time,
            approvals: try approvals(of: id, proposal.app, session, ledger),
            ended: ledger.ended[id], barred: ledger.people.barred(from: proposal.app),
            canaryBegan: ledger.canaries[proposal.app].flatMap { $0.change == id ? $0.began : nil })
    }

    /// Where a change is on its way, without what it publishes.
    /// - Throws: ``ServerError`` `notFound`.
    func standing(of id: RandomID) async throws(ServerError) -> ChangeStatus {
        try await look { session, ledger throws(ServerError) in try Self.standing(of: id, session, ledger) }
    }
}
