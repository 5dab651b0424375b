package import ServerFoundation

/// A change that its approvers have approved. Only the initializer creates one, so code that requires this type never
/// publishes unapproved content.
package struct ApprovedSubject: Sendable, Hashable {
    /// The approved change.
    package let subject: ApprovalText.Subject
    /// The approvers, by the digests of their keys.
    package let approvers: Set<Digest>
    /// The evidence with which another party can verify the approval again.
    package let evidence: Evidence

    /// The verified approvals and the statements they were verified with.
    package struct Evidence: Sendable, Hashable {
        /// The valid approvals.
        package let approvals: [SignedApproval]
        /// The statements of approvers, the genesis first, up to the one that was in force.
        package let approvers: [SignedApprovers]
        /// The digest of the proposer's key; nil if the watcher proposed it.
        package let proposer: Digest?
    }

    /// Verifies the approvals of a change.
    /// - Parameters:
    ///   - subject: what is about to be published, made from the bytes themselves and not from a stored digest.
    ///   - approvals: every approval and rejection that is known of this change.
    ///   - chain: the approvers whose approvals are valid.
    ///   - proposer: the digest of the proposer's key, whose approval is not valid if more than one is needed; nil if
    ///     the watcher proposed the change.
    ///   - now: the time, in seconds since 1970.
    /// - Throws: ``ServerError``: `rejected` if one approver rejected it; `notForThis`, `invalidSignature` or
    ///   `malformed` for an approval that is not for this change; `notApproved` if too few people who approve this app
    ///   approved it, or only passkeys where these are not enough; the errors of ``PasskeyEvidence/verified(over:at:)``
    ///   for a passkey.
    package init(
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
            // Ignore approvers of other apps: they can neither approve nor reject changes of this one.
            guard set.member(approval.signature.identity)?.approves(subject.app) ?? true else { continue }
            // A rejection is final even if the content, the outlook or the time has changed since.
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
            // A single approval, by the proposer, is enough only if the signed statement of approvers says so.
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
