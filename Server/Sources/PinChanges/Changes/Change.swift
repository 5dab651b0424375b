import HoldfastPublishing
package import ServerApprovals
package import ServerFoundation
package import ServerModel

/// A proposed change with its approvals and rejections, made from rows that match the audit.
package struct Change: Sendable, Hashable {
    /// The state of a change.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Approvals are missing.
        case proposed
        /// Enough people approved it.
        case approved
        /// It is published, or was.
        case published
        /// An approver rejected it.
        case rejected
        /// It expired, another change was published, or its outlook got worse.
        case lapsed
    }

    /// How long people have to approve a change, in seconds: seven days.
    package static let span: Int64 = PublicationTiming.approvalSpan.components.seconds

    /// Its id.
    package let id: RandomID
    /// The content that it publishes.
    package let content: Content
    /// The outlook that approvers see: canonical JSON.
    package let outlook: [UInt8]
    /// The generation that it replaces.
    package let baseGeneration: Int64
    /// The gates that it passes even if it fails them.
    package let forced: Set<Gate>
    /// The digest of the proposer's key; nil if the proposer is not an approver.
    package let proposer: Digest?
    /// The reason, as the proposer stated it.
    package let reason: String
    /// The time of the proposal, in seconds since 1970.
    package let proposed: Int64
    /// The time since which it holds the canary of its app, in seconds since 1970; nil if it does not.
    package let canaryBegan: Int64?
    /// The approvals and rejections, in no order. Each was verified on arrival, and is verified again before it is
    /// used.
    package let approvals: [SignedApproval]
    /// The event that ended it; nil while it is open.
    package let ended: AuditEntry.Event?
    /// The approvers who may not approve changes of its app, no matter what statements of approvers say.
    package var barred: Set<Digest> = []

    package init(
        id: RandomID, content: Content, outlook: [UInt8], baseGeneration: Int64, forced: Set<Gate>, proposer: Digest?,
        reason: String, proposed: Int64, canaryBegan: Int64?, approvals: [SignedApproval], ended: AuditEntry.Event?,
        barred: Set<Digest> = []
    ) {
        self.id = id
        self.content = content
        self.outlook = outlook
        self.baseGeneration = baseGeneration
        self.forced = forced
        self.proposer = proposer
        self.reason = reason
        self.proposed = proposed
        self.canaryBegan = canaryBegan
        self.approvals = approvals
        self.ended = ended
        self.barred = barred
    }

    /// The last second at which people can approve it, and at which its canary can begin. A change that holds the
    /// canary can be published until its approvals end.
    package var end: Int64 { standing.end }

    /// The last second at which an approval signed now is valid: the end of the change plus the time of the canary.
    /// - Parameter settings: the app's.
    package func approvalEnd(with settings: AppSettings) -> Int64 { standing.approvalEnd(with: settings) }

    /// Whether it skips the canary, so that all clients get it at once. Every approver must see this.
    package var isEmergency: Bool { forced.contains(.canary) }

    /// The approvers who have neither approved nor rejected it, and whom the server notifies about an emergency.
    package func silentApprovers(of chain: ApproverChain) -> [ApproverSet.Member] {
        standing.silentApprovers(of: chain)
    }

    /// Whether it can no longer be published: it was not approved in time, or its content has ended.
    package func isOver(at now: Int64) -> Bool { now > standing.lastPublication || now > content.end }

    /// The last second for which entries of the canary's lists and challenge answers are valid while this change holds
    /// it: every client that fetched them has requested an update by then. Copies are not valid for longer, even after
    /// a rejection.
    /// - Parameter settings: the app's.
    package func canaryLimit(_ settings: AppSettings) -> Int64 {
        settings.timing.lastUse(ofReplaced: max(standing.lastPublication, approvalEnd(with: settings)))
    }

    /// The subject that each approval must name.
    /// - Throws: ``ServerError`` `invalidValue`.
    package func subject(for chain: ApproverChain) throws(ServerError) -> ApprovalText.Subject {
        try standing.subject(for: chain)
    }

    /// Verifies its approvals.
    /// - Throws: ``ServerError``, as ``ApprovedSubject`` does.
    package func approved(by chain: ApproverChain, at now: Int64) throws(ServerError) -> ApprovedSubject {
        try standing.approved(by: chain, at: now)
    }

    /// The state of the change.
    package func state(_ chain: ApproverChain, generation: Int64, at now: Int64) -> State {
        standing.state(chain, generation: generation, at: now)
    }
}
