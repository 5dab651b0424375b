import HoldfastPublishing
package import ServerApprovals
package import ServerFoundation
package import ServerModel
package import ServerStore

/// The data that determines the state of a change. Content and outlook are represented by their digests, so that lists
/// need not read them.
package struct ChangeStatus: Sendable, Hashable {
    package let id: RandomID
    package let app: AppName
    /// The digest of the content.
    package let content: Digest
    /// The digest of the outlook.
    package let outlook: Digest
    package let baseGeneration: Int64
    package let forced: Set<Gate>
    package let proposer: Digest?
    package let reason: String
    package let proposed: Int64
    package let approvals: [SignedApproval]
    package let ended: AuditEntry.Event?
    /// The approvers who may not approve changes of its app, no matter what statements of approvers say.
    package let barred: Set<Digest>

    /// The time at which it took the canary of its app, in seconds since 1970; nil if it does not hold it.
    package let canaryBegan: Int64?

    /// The last second at which people can approve it.
    package var end: Int64 { PublicationTiming.changeEnd(of: proposed) }

    /// The last second at which it can be published. Holding the canary extends it, as far as its approvals allow.
    package var lastPublication: Int64 {
        guard canaryBegan != nil else { return end }
        let ends = approvals.compactMap { try? ApprovalText($0.text) }.filter { $0.verdict == .approve }.map(\.end)
        return max(end, min(ends.max() ?? end, end + AppSettings.canaries.upperBound))
    }

    /// Whether it skips the canary.
    package var isEmergency: Bool { forced.contains(.canary) }

    /// The last second at which an approval signed now is valid: the end of the change plus the time of the canary.
    package func approvalEnd(with settings: AppSettings) -> Int64 {
        settings.timing(forcing: forced).approvalEnd(of: proposed)
    }

    /// The subject that each approval must name.
    /// - Throws: ``ServerError`` `invalidValue`.
    package func subject(for chain: ApproverChain) throws(ServerError) -> ApprovalText.Subject {
        try ApprovalText.Subject(
            server: chain.head.server, app: app, change: id, baseGeneration: baseGeneration, content: content,
            outlook: outlook, forced: forced, approvers: chain.head.digest)
    }

    /// Verifies its approvals.
    /// - Throws: ``ServerError``, as ``ApprovedSubject`` does.
    package func approved(by chain: ApproverChain, at now: Int64) throws(ServerError) -> ApprovedSubject {
        let subject = try subject(for: chain)
        // An approval under earlier approvers is not for this subject, and must not block those that are.
        let counting = approvals.filter { approval in
            (try? ApprovalText(approval.text)).map { $0.verdict == .reject || $0.subject == subject } ?? true
        }
        return try ApprovedSubject(subject, approvals: counting, chain: chain, proposer: proposer, at: now)
    }

    /// The approvers who may approve or reject it and have done neither.
    package func silentApprovers(of chain: ApproverChain) -> [ApproverSet.Member] {
        let heard = approvals.filter { (try? ApprovalText($0.text))?.subject.approvers == chain.head.digest }
            .map(\.signature.identity)
        return chain.head.approvers.members.filter {
            !heard.contains($0.key.identity) && !barred.contains($0.key.identity) && $0.approves(app)
        }
    }

    /// The state of the change.
    package func state(_ chain: ApproverChain, generation: Int64, at now: Int64) -> Change.State {
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
    /// The data that determines its state.
    package var standing: ChangeStatus {
        ChangeStatus(
            id: id, app: content.app, content: content.digest, outlook: Digest(of: outlook),
            baseGeneration: baseGeneration, forced: forced, proposer: proposer, reason: reason, proposed: proposed,
            approvals: approvals, ended: ended, barred: barred, canaryBegan: canaryBegan)
    }
}

extension Catalog {
    /// The error for a change that this server does not have.
    package static func missingChange(_ id: RandomID) -> ServerError {
        ServerError(
            .notFound, of: "change", expected: "a change of this server", found: "\(id)",
            remedy: "Name one that `holdfast-server change list APP --data DIR` shows.")
    }

    /// The status of a change, without its content.
    /// - Throws: ``ServerError`` `notFound`.
    package static func standing(
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

    /// The status of a change, without its content.
    /// - Throws: ``ServerError`` `notFound`.
    package func standing(of id: RandomID) async throws(ServerError) -> ChangeStatus {
        try await look { session, ledger throws(ServerError) in try Self.standing(of: id, session, ledger) }
    }
}
