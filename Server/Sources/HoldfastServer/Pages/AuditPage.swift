/// The audit, the newest entry first, and where it ends.
struct AuditPage: Sendable {
    let filter: AuditFilter
    let head: AuditHead
    /// The entries that the filter lets through, the newest first.
    let entries: [AuditEntry]
    /// The place before which nobody has looked; nil if everything was looked at.
    let rest: Int64?
    /// The apps to choose from.
    let apps: [AppName]

    /// As many as a page has room for.
    static let maximumEntryCount = 100
    /// How many are looked at for one page; the next page goes on from there.
    static let maximumEffort: Int64 = 5_000

    /// What the template shows.
    var content: [String: PageValue] {
        var older = filter
        older.before = rest
        return [
            "count": .number(head.count), "head": .text("\(head.digest)"),
            "events": .list(
                AuditEntry.Event.allCases.map { event in
                    ["name": .text(event.rawValue), "isHere": .flag(event == filter.event)]
                }),
            "apps": .list(apps.map { ["name": .text("\($0)"), "isHere": .flag($0 == filter.app)] }),
            "entries": .list(entries.map(Self.row)), "older": .optional(rest.map { _ in PageLink.audit(older) }),
        ]
    }

    private static func row(_ entry: AuditEntry) -> PageValue {
        let facts = entry.facts.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        return [
            "index": .number(entry.index), "time": .text(PageText.time(entry.time)),
            "event": .text(entry.event.rawValue), "actor": .text(entry.actor),
            "facts": .list(facts.map { ["name": .text($0.key), "value": .text($0.value)] }),
        ]
    }
}

extension Catalog {
    /// Reads entries backwards, until a page is full or enough were looked at.
    /// - Throws: ``ServerError``.
    func auditPage(_ filter: AuditFilter, apps: [AppName]) async throws(ServerError) -> AuditPage {
        let chunk: Int64 = 500
        let head = ledger.chain.head
        var end = min(filter.before ?? head.count, head.count)
        let bottom = max(0, end - AuditPage.maximumEffort)
        var found: [AuditEntry] = []
        while end > bottom, found.count < AuditPage.maximumEntryCount {
            let begin = max(bottom, end - chunk)
            let bytes = try await audit(after: begin - 1, limit: end - begin)
            var entries: [AuditEntry] = []
            for bytes in bytes { entries.append(try AuditEntry(bytes)) }
            for entry in entries.reversed() {
                end = entry.index
                if filter.matches(entry) { found.append(entry) }
                if found.count == AuditPage.maximumEntryCount { break }
            }
            // What is not there is not looked for again.
            if entries.isEmpty { end = begin }
        }
        return AuditPage(filter: filter, head: head, entries: found, rest: end > 0 ? end : nil, apps: apps)
    }
}
