import Testing

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel

@Suite("Audit")
struct AuditChainTests {
    /// Entries and the heads after each.
    static func story(_ actors: [String] = ["alice", "bob", "watcher", "carol"]) throws -> (
        entries: [[UInt8]], heads: [AuditHead]
    ) {
        var chain = AuditChain()
        var entries: [[UInt8]] = []
        var heads: [AuditHead] = []
        let events: [AuditEntry.Event] = [.created, .proposed, .approved, .published]
        for (index, actor) in actors.enumerated() {
            let entry = try chain.next(
                events[index % 4], by: actor, at: Story.now + Int64(index), facts: ["app": "bank", "change": "č\n"])
            try chain.follow(entry.bytes)
            entries.append(entry.bytes)
            heads.append(chain.head)
        }
        return (entries, heads)
    }

    @Test("An audit is read as it was written, from its first entry to its head")
    func verified() throws {
        let (entries, heads) = try Self.story()
        let (chain, read) = try AuditChain.verified(entries, known: heads[1])
        #expect(chain.head == heads[3])
        #expect(read.map(\.bytes) == entries)
        #expect(AuditHead("\(heads[3])".utf8) == heads[3])
        var rest = AuditChain(after: heads[1])
        try rest.follow(entries[2])
        #expect(rest.head == heads[2])
    }

    @Test("An entry that is changed, left out, moved or inserted breaks the chain")
    func rewriting() throws {
        let (entries, heads) = try Self.story()
        let (others, _) = try Self.story(["mallory", "bob", "watcher", "carol"])
        let rewritten: [[[UInt8]]] = [
            [others[0]] + entries.dropFirst(), Array(entries.dropFirst()), [entries[0]] + entries.dropFirst(2),
            [entries[0], entries[2], entries[1], entries[3]], [entries[0], entries[0]] + entries.dropFirst(),
            entries + [entries[3]], entries + [others[1]],
        ]
        for audit in rewritten { expectError(.brokenChain) { try AuditChain.verified(audit, known: nil) } }
        let changed = Array(String(decoding: entries[1], as: UTF8.self).replacing("bob", with: "eve").utf8)
        expectError(.brokenChain) { try AuditChain.verified([entries[0], changed] + entries.dropFirst(2), known: nil) }
        // Everything is written again, or the last entries are gone: only a head from outside shows it.
        #expect(throws: Never.self) { try AuditChain.verified(others, known: nil) }
        expectError(.brokenChain) { try AuditChain.verified(others, known: heads[1]) }
        expectError(.brokenChain) { try AuditChain.verified(entries.prefix(3), known: heads[3]) }
        expectError(.brokenChain) { try AuditChain.verified([[UInt8]](), known: heads[0]) }
    }

    @Test("A damaged entry is refused, or is another entry in its one spelling")
    func campaign() throws {
        let bytes = try Self.story().entries[2]
        var generator = SeededGenerator(seed: 5)
        defer { noteCampaign(of: mutants(inPartsOf: 2)) }
        for _ in 0..<mutants(inPartsOf: 2) {
            let damaged = mutated(bytes, &generator)
            guard let read = try? AuditEntry(damaged) else { continue }
            #expect(read.bytes == damaged)
        }
        for text in [
            "", "0", "1 00", "0 \(Digest(of: []))", "1 \(Digest.nothing)", "01 \(Digest(of: []))",
            "1  \(Digest(of: []))",
        ] {
            #expect(AuditHead(text.utf8) == nil)
        }
    }
}
