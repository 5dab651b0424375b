package import ServerApprovals
package import ServerFoundation

extension SignedInvitation {
    /// Verifies that as many approvers signed the invitation as a change needs. Approvers of certain apps alone can
    /// invite only for those.
    /// - Parameters:
    ///   - chain: the approvers whose signatures are valid.
    ///   - people: the apps that they approve.
    ///   - now: the time, in seconds since 1970.
    /// - Throws: ``ServerError`` `notForThis` for another server, other approvers or a later time; `notApproved`; the
    ///   errors of ``ApproverSet`` for signatures.
    package func verified(
        by chain: ApproverChain, _ people: PeopleLedger, at now: Int64
    ) throws(ServerError) -> InvitationText {
        let invitation = try InvitationText(text)
        guard invitation.server == chain.head.server, invitation.approvers == chain.head.digest,
            now <= invitation.end
        else {
            throw ServerError(
                .notForThis, of: "invitation", expected: "one of this server, its approvers and this time",
                found: "another", remedy: "Have the approvers sign a new invitation.")
        }
        let set = chain.head.approvers
        let signers = try set.signers(of: text, signatures).filter {
            people.allows($0, all: invitation.apps) && set.member($0)?.approves(all: invitation.apps) == true
        }
        guard signers.count >= set.number else {
            throw ServerError(
                .notApproved, of: "invitation", expected: "signatures by \(set.number)", found: "\(signers.count)")
        }
        try set.requireKey(among: signers, of: "invitation")
        return invitation
    }
}
