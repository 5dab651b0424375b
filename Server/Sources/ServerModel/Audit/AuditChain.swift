package import ServerFoundation

/// Verifies an audit entry by entry, in constant memory. A change of any verified entry would change the digest of
/// ``head``.
package struct AuditChain: Sendable, Hashable {
    /// The end of the verified part.
    package private(set) var head: AuditHead

    /// Begins before the first entry, or after a head that was verified earlier.
    package init(after head: AuditHead = .empty) { self.head = head }

    /// Takes the next entry, exactly as it was stored.
    /// - Throws: ``ServerError`` `brokenChain` if it does not follow, `malformed`; nothing has changed then.
    @discardableResult
    package mutating func follow(_ bytes: [UInt8]) throws(ServerError) -> AuditEntry {
        let entry = try AuditEntry(bytes)
        guard entry.index == head.count, entry.previous == head.digest else {
            throw ServerError(
                .brokenChain, of: "audit", expected: "entry \(head.count) after \(head.digest)",
                found: "entry \(entry.index) after \(entry.previous)")
        }
        head = AuditHead(count: entry.index + 1, digest: entry.digest)
        return entry
    }

    /// Makes the next entry.
    /// - Throws: ``ServerError`` `invalidValue`.
    package func next(
        _ event: AuditEntry.Event, by actor: String, at time: Int64, facts: [String: String] = [:]
    ) throws(ServerError) -> AuditEntry {
        try AuditEntry(
            index: head.count, previous: head.digest, time: time, event: event, actor: actor, facts: facts)
    }

    /// Verifies a whole audit.
    /// - Parameters:
    ///   - entries: all of them, the first one first.
    ///   - known: a head that was kept outside the database; an audit without it was rewritten or truncated.
    /// - Returns: the chain, and the entries as they were read.
    /// - Throws: ``ServerError`` `brokenChain` or `malformed`.
    package static func verified(
        _ entries: some Sequence<[UInt8]>, known: AuditHead?
    ) throws(ServerError) -> (chain: AuditChain, entries: [AuditEntry]) {
        var chain = AuditChain()
        var read: [AuditEntry] = []
        var hasSeen = known == nil || known == .empty
        for bytes in entries {
            read.append(try chain.follow(bytes))
            if chain.head == known { hasSeen = true }
        }
        guard hasSeen else {
            throw ServerError(
                .brokenChain, of: "audit", expected: "an audit with the known head \(known ?? .empty)",
                found: "one of \(chain.head.count) entries without it")
        }
        return (chain, read)
    }
}
