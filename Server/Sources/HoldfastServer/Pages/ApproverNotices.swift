import Synchronization

/// What everybody should know about those who approve, on every page. It changes with the statement of approvers alone, so
/// strangers who load pages have nothing verified again.
final class ApproverNotices: Sendable {
    private let known = Mutex<(statement: Digest, notices: [String])?>(nil)

    /// Reads it, where it has changed.
    /// - Throws: ``ServerError``.
    func notices(in catalog: Catalog) async throws(ServerError) -> [String] {
        let mark = catalog.ledger.approvers
        if let known = known.withLock({ $0 }), known.statement == mark?.digest { return known.notices }
        let head = try await catalog.approvers().head
        let notices = PageFrame.notices(head.approvers)
        known.withLock { $0 = (head.digest, notices) }
        return notices
    }
}
