/// What stands on the page of an app beside its hosts, as much as a page has room for.
struct AppParts: Sendable {
    /// A change with where it is on its way.
    struct ListedChange: Sendable {
        let standing: ChangeStatus
        let state: Change.State
    }

    /// The changes, the newest first, and how many stand before the next part; nil for the last part.
    let changes: [ListedChange]
    let nextChange: Int?
    /// The newest version of each document, and how many stand before the next part.
    let documents: [Catalog.DocumentLine]
    let nextDocument: Int?
    /// What builds are made from, to copy.
    let exports: [Catalog.StoredDocument]
    /// What builds are made from, and pages do not show.
    let others: [Catalog.DocumentLine]
    /// The keys that sign.
    let keys: [Catalog.Key]
    /// What clients report; nil if that cannot be read, which holds up no page.
    let reports: ReportStanding?

    /// As many changes, and as many documents, as a page has room for.
    static let maximumCount = 50
    /// What builds are made from is small; a larger file is fetched and not copied from a page.
    private static let maximumExport: Int64 = 256 << 10
    /// A content has each format once.
    private static let maximumExportCount = 16
    private static let folder = "pins/"

    /// Reads them.
    /// - Parameters:
    ///   - app: the app.
    ///   - change: how many changes to leave out.
    ///   - document: how many documents to leave out.
    ///   - chain: whose approvals count.
    ///   - catalog: where they are.
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
                // Text that a page would have to change is not offered: a copy must have the same bytes.
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
