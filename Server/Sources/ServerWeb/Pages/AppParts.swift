import HostMonitoring
import PinChanges
import PinPublication
import ServerApprovals
import ServerFoundation
import ServerStore

/// The parts of an app's page other than its hosts, limited to what a page shows.
struct AppParts: Sendable {
    /// A change with its state.
    struct ListedChange: Sendable {
        let standing: ChangeStatus
        let state: Change.State
    }

    /// The changes, newest first, and the offset of the next part; nil for the last part.
    let changes: [ListedChange]
    let nextChange: Int?
    /// The newest version of each document, and the offset of the next part; nil for the last part.
    let documents: [Catalog.DocumentLine]
    let nextDocument: Int?
    /// The exported documents for app builds that the page shows for copying.
    let exports: [Catalog.StoredDocument]
    /// The exported documents for app builds that the page only lists.
    let others: [Catalog.DocumentLine]
    /// The keys that sign.
    let keys: [Catalog.Key]
    /// The status of client reports; nil if it cannot be read, which does not block the page.
    let reports: ReportStanding?

    /// Maximum number of changes, and of documents, on a page.
    static let maximumCount = 50
    /// Maximum size of an export that the page shows; a larger one is downloaded instead.
    private static let maximumExport: Int64 = 256 << 10
    /// A content has each format once.
    private static let maximumExportCount = 16
    private static let folder = "pins/"

    /// Reads the parts.
    /// - Parameters:
    ///   - app: the app.
    ///   - change: the number of changes to skip.
    ///   - document: the number of documents to skip.
    ///   - chain: the approvers whose approvals are valid.
    ///   - catalog: the catalog to read.
    /// - Throws: ``ServerError``.
    init(
        of app: AppName, changesFrom change: Int, documentsFrom document: Int, approvers chain: ApproverChain,
        in catalog: Catalog
    ) async throws(ServerError) {
        self = try await catalog.look { [server = catalog.server] session, ledger throws(ServerError) in
            let now = max(try session.now(), ledger.latestTime)
            let found = try Catalog.standings(
                of: app, from: change, limit: Self.maximumCount, session, ledger)
            let lines = try Catalog.documentLines(
                of: app, from: document, limit: Self.maximumCount, session, ledger)
            let files = try Catalog.documentLines(
                of: app, from: 0, limit: Self.maximumExportCount, session, ledger
            ) { $0.utf8.starts(with: Self.folder.utf8) }
            var exports: [Catalog.StoredDocument] = []
            var others: [Catalog.DocumentLine] = []
            for line in files.lines {
                // A copy must have the same bytes, so text that the page would have to alter is not offered.
                if line.size <= Self.maximumExport,
                    let stored = try Catalog.document(line.path, of: app, session, ledger),
                    stored.bytes.allSatisfy({ $0 == 0x0A || $0 == 0x09 || (0x20...0x7E).contains($0) })
                {
                    exports.append(stored)
                } else {
                    others.append(line)
                }
            }
            var keys: [Catalog.Key] = []
            for purpose in SealedKey.Purpose.allCases {
                if let key = try Catalog.key(purpose, of: app, server, session, ledger) { keys.append(key) }
            }
            return AppParts(
                changes: found.changes.map { standing in
                    ListedChange(
                        standing: standing,
                        state: standing.state(chain, generation: ledger.generation(of: app), at: now))
                },
                nextChange: found.hasMore ? change + Self.maximumCount : nil,
                documents: lines.lines, nextDocument: lines.hasMore ? document + Self.maximumCount : nil,
                exports: exports, others: others, keys: keys,
                reports: try? Catalog.reportStanding(of: app, session, ledger))
        }
    }

    private init(
        changes: [ListedChange], nextChange: Int?, documents: [Catalog.DocumentLine], nextDocument: Int?,
        exports: [Catalog.StoredDocument], others: [Catalog.DocumentLine], keys: [Catalog.Key],
        reports: ReportStanding?
    ) {
        (self.changes, self.nextChange) = (changes, nextChange)
        (self.documents, self.nextDocument) = (documents, nextDocument)
        (self.exports, self.others) = (exports, others)
        (self.keys, self.reports) = (keys, reports)
    }
}
