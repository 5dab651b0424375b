import ServerApprovals
import ServerFoundation
import ServerStore
import Synchronization

/// The warnings about the approvers, shown on every page. They change only with the statement of approvers, so a page
/// load by a stranger verifies nothing again.
final class ApproverNotices: Sendable {
    private let known = Mutex<(statement: Digest, notices: [String])?>(nil)

    /// Returns the notices, and reads them again if the statement has changed.
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
