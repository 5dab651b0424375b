/// A content that its approvers have approved. Only the initializer makes one, and no private key is opened without.
public struct SigningPermit: Sendable, Hashable {
    /// The content.
    public let content: Content
    /// The approvals.
    public let approved: ApprovedSubject
    /// The last second, since 1970, for which entries of lists and challenge answers are valid; `Int64.max` if only the
    /// content's end counts. Lists do not say that they are the canary's, so every client with the app's key accepts them.
    public let limit: Int64

    /// Binds approvals to the bytes that they are for.
    /// - Throws: ``ServerError`` `notForThis` if they are for another content.
    public init(_ content: Content, _ approved: ApprovedSubject, limit: Int64 = .max) throws(ServerError) {
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
