package import ServerApprovals
package import ServerFoundation
package import ServerModel

/// A content that its approvers have approved. Only the initializer makes a permit, and opening a private key requires
/// one.
package struct SigningPermit: Sendable, Hashable {
    /// The content.
    package let content: Content
    /// The approvals.
    package let approved: ApprovedSubject
    /// The last second, since 1970, for which entries of lists and challenge answers are valid; `Int64.max` if only the
    /// end of the content applies. A list does not state that it is the canary's, so every client with the app's key
    /// accepts it.
    package let limit: Int64

    /// Binds approvals to the content that they approve.
    /// - Throws: ``ServerError`` `notForThis` if they are for another content.
    package init(_ content: Content, _ approved: ApprovedSubject, limit: Int64 = .max) throws(ServerError) {
        guard approved.subject.content == content.digest, approved.subject.app == content.app else {
            throw ServerError(
                .notForThis, of: "content", expected: "approvals of \(content.digest)",
                found: "approvals of \(approved.subject.content)")
        }
        self.content = content
        self.approved = approved
        self.limit = limit
    }
}
