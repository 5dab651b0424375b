/// How far a journal is entered into history, or known.
struct JournalMark: Sendable, Hashable {
    /// Which journal: the end of the audit when it began.
    let head: AuditHead
    /// How many of its rounds, from the first on.
    let count: Int

    /// Whether it includes what another mark says.
    func covers(_ other: JournalMark) -> Bool { head == other.head && count >= other.count }
}

extension Journal {
    var mark: JournalMark { JournalMark(head: origin.head, count: records.count) }

    /// How far it is ahead of history; nil if history has all of it.
    func pendingMark(after entered: JournalMark?) -> JournalMark? { pending(after: entered).isEmpty ? nil : mark }

    /// The rounds that history does not have yet.
    func pending(after entered: JournalMark?) -> ArraySlice<JournalRecord> {
        records.dropFirst(entered.map { $0.head == origin.head ? $0.count : 0 } ?? 0)
    }
}
