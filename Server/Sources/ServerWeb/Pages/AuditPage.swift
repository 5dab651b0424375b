import ServerFoundation
import ServerModel
import ServerStore

/// The audit, newest entry first, and its head.
struct AuditPage: Sendable {
    let filter: AuditFilter
    let head: AuditHead
    /// The entries that match the filter, newest first.
    let entries: [AuditEntry]
    /// The index before which entries were not examined; nil if all were.
    let rest: Int64?
    /// The apps that the filter offers.
    let apps: [AppName]

    /// Maximum number of entries on a page.
    static let maximumEntryCount = 100
    /// Maximum number of entries examined for one page; the next page continues from there.
    static let maximumEffort: Int64 = 5_000

    /// The values for the template.
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
    /// Reads entries backwards until a page is full or the maximum number was examined.
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
            // Missing entries are not searched for again.
            if entries.isEmpty { end = begin }
        }
        return AuditPage(filter: filter, head: head, entries: found, rest: end > 0 ? end : nil, apps: apps)
    }
}
