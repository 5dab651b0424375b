import HoldfastPublishing

/// A change as it was proposed, with what was said about it. It is made from rows that agree with the audit.
public struct Change: Sendable, Hashable {
    /// Where a change is on its way.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Approvals are missing.
        case proposed
        /// Enough people approved it.
        case approved
        /// It is what is published, or was.
        case published
        /// Somebody rejected it.
        case rejected
        /// Its time is over, another change was published, or its outlook got worse.
        case lapsed
    }

    /// How long people have to approve a change, in seconds: seven days.
    public static let span: Int64 = PublicationTiming.approvalSpan.components.seconds

    /// Its id.
    public let id: RandomID
    /// What it publishes.
    public let content: Content
    /// The outlook that approvers see: canonical JSON.
    public let outlook: [UInt8]
    /// The generation that it replaces.
    public let baseGeneration: Int64
    /// The gates that it passes even if it fails them.
    public let forced: Set<Gate>
    /// The digest of the proposer's key; nil for nobody who approves.
    public let proposer: Digest?
    /// Why, in the proposer's words.
    public let reason: String
    /// When it was proposed, in seconds since 1970.
    public let proposed: Int64
    /// Since when it holds the canary of its app, in seconds since 1970; nil if it does not.
    public let canaryBegan: Int64?
    /// What approvers and others said about it, in no order. Each was verified when it came, and is again when it counts.
    public let approvals: [SignedApproval]
    /// What ended it; nil while it is open.
    let ended: AuditEntry.Event?
    /// Those who may approve nothing of its app, whatever statements of approvers say.
    var barred: Set<Digest> = []

    /// The last second at which people can approve it, and at which its canary can begin. A change that holds the canary
    /// can be published until its approvals end.
    public var end: Int64 { standing.end }

    /// The last second at which an approval that is signed now is valid: the end of the change, extended by the time that
    /// the canary takes.
    /// - Parameter settings: the app's.
    public func approvalEnd(with settings: AppSettings) -> Int64 { standing.approvalEnd(with: settings) }

    /// Whether it skips the canary, so that everybody gets it at once. Every approver has to see it.
    public var isEmergency: Bool { forced.contains(.canary) }

    /// The approvers who may say something about it and have said nothing yet, and whom the server tells about an emergency.
    public func silentApprovers(of chain: ApproverChain) -> [ApproverSet.Member] {
        standing.silentApprovers(of: chain)
    }

    /// Whether its time is over: people have not agreed in time, or nothing may be signed for its content anymore.
    func isOver(at now: Int64) -> Bool { now > standing.lastPublication || now > content.end }

    /// The last second for which entries of the canary's lists and challenge answers are valid while this change holds it:
    /// every client that fetched them has asked again by then. Copies are not valid for longer, also after a rejection.
    /// - Parameter settings: the app's.
    func canaryLimit(_ settings: AppSettings) -> Int64 {
        settings.timing.lastUse(ofReplaced: max(standing.lastPublication, approvalEnd(with: settings)))
    }

    /// What each approval must name.
    /// - Throws: ``ServerError`` `invalidValue`.
    public func subject(for chain: ApproverChain) throws(ServerError) -> ApprovalText.Subject {
        try standing.subject(for: chain)
    }

    /// Counts its approvals.
    /// - Throws: ``ServerError``, as ``ApprovedSubject`` does.
    public func approved(by chain: ApproverChain, at now: Int64) throws(ServerError) -> ApprovedSubject {
        try standing.approved(by: chain, at: now)
    }

    /// Where it is on its way.
    public func state(_ chain: ApproverChain, generation: Int64, at now: Int64) -> State {
        standing.state(chain, generation: generation, at: now)
    }
}
