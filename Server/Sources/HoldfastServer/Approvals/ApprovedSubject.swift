/// A change that its approvers have approved. Only the initializer makes one, so whatever takes a value of this type
/// signs nothing that people did not agree to.
public struct ApprovedSubject: Sendable, Hashable {
    /// What they approved.
    public let subject: ApprovalText.Subject
    /// Who they are, by the digests of their keys.
    public let approvers: Set<Digest>
    /// With what somebody else can verify it again.
    let evidence: Evidence

    /// What was verified, and with what.
    struct Evidence: Sendable, Hashable {
        /// The approvals that counted.
        let approvals: [SignedApproval]
        /// The statements of approvers, the genesis first, up to the one under which they counted.
        let approvers: [SignedApprovers]
        /// The digest of the proposer's key; nil if the watcher proposed it.
        let proposer: Digest?
    }

    /// Counts the approvals of a change.
    /// - Parameters:
    ///   - subject: what is about to be published, made from the bytes themselves and not from a stored digest.
    ///   - approvals: every approval and rejection that is known of this change.
    ///   - chain: whose approvals count.
    ///   - proposer: the digest of the key of the person who proposed it, whose approval does not count if more than one
    ///     is needed; nil if the watcher proposed it.
    ///   - now: the time, in seconds since 1970.
    /// - Throws: ``ServerError``: `rejected` if one approver rejected it; `notForThis`, `invalidSignature` or `malformed`
    ///   for an approval that is not for this change; `notApproved` if there are too few by people who approve this app, or
    ///   only passkeys where these are not enough; what ``PasskeyEvidence/verified(over:at:)`` says of a passkey.
    public init(
        _ subject: ApprovalText.Subject, approvals: [SignedApproval], chain: ApproverChain, proposer: Digest?,
        at now: Int64
    ) throws(ServerError) {
        let set = chain.head.approvers
        guard subject.server == chain.head.server, subject.approvers == chain.head.digest else {
            throw ServerError(
                .notForThis, of: "change \(subject.change)", expected: "the approvers that count now",
                found: "others")
        }
        var approving: Set<Digest> = []
        var counted: [SignedApproval] = []
        for approval in approvals {
            let text = try ApprovalText(approval.text)
            // Whoever does not approve this app neither approves nor rejects its changes.
            guard set.member(approval.signature.identity)?.approves(subject.app) ?? true else { continue }
            // A rejection is final for the change, whatever else it names: content, outlook and time may have moved.
            let isRejection =
                text.verdict == .reject && text.subject.server == subject.server
                && text.subject.change == subject.change && text.subject.app == subject.app
            guard isRejection || text.subject == subject else {
                throw ServerError(
                    .notForThis, of: "change \(subject.change)", expected: "approvals of what is about to be published",
                    found: "one of something else")
            }
            let signers = try set.signers(of: approval.text, [approval.signature])
            if isRejection {
                throw ServerError(
                    .rejected, of: "change \(subject.change)", expected: "no rejection",
                    found: "one by \(signers.compactMap { set.member($0)?.name }.joined())")
            }
            guard now <= text.end else { continue }
            // One person is enough only where the approvers themselves have signed that it is.
            if set.number > 1, approval.signature.identity == proposer { continue }
            approving.formUnion(signers)
            counted.append(approval)
        }
        guard approving.count >= set.number else {
            throw ServerError(
                .notApproved, of: "change \(subject.change)", expected: "approvals by \(set.number)",
                found: "\(approving.count)",
                remedy: "More approvers must decide, each with their own key: "
                    + "`holdfast-server approve \(subject.change) --data DIR --key FILE`.")
        }
        try set.requireKey(among: approving, of: "change \(subject.change)")
        self.subject = subject
        approvers = approving
        evidence = Evidence(approvals: counted, approvers: chain.signed, proposer: proposer)
    }
}
