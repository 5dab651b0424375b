/// A content that its approvers have approved. Only the initializer makes one, and no private key is opened without.
public struct SigningPermit: Sendable, Hashable {
    /// The content.
    public let content: Content
    /// The approvals.
    public let approved: ApprovedSubject

    /// Binds approvals to the octets that they are for.
    /// - Throws: ``ServerError`` `notForThis` if they are for another content.
    public init(_ content: Content, _ approved: ApprovedSubject) throws(ServerError) {
        guard approved.subject.content == content.digest, approved.subject.app == content.app else {
            throw ServerError(
                .notForThis, of: "content", expected: "approvals of \(content.digest)",
                found: "approvals of \(approved.subject.content)")
        }
        self.content = content
        self.approved = approved
    }
}
