import Testing

@testable import HoldfastServer

@Suite("The snapshot that is served")
struct LiveSnapshotTests {
    private func snapshot(_ sequence: Int64, _ text: String) -> PublishedSnapshot {
        PublishedSnapshot(
            sequence: sequence,
            documents: [
                "lists/bank.json": .init(
                    octets: Array(text.utf8), mediaType: "application/json", signedAt: Story.now, refresh: 3_600,
                    end: Story.end)
            ], apps: [:])
    }

    @Test("A snapshot is replaced by a newer one, never by an older one")
    func upwards() {
        let live = LiveSnapshot()
        #expect(live.current.document(at: "lists/bank.json".utf8) == nil)
        #expect(live.replace(with: snapshot(7, "seven")))
        #expect(!live.replace(with: snapshot(6, "six")))
        #expect(live.current.document(at: "lists/bank.json".utf8)?.octets == Array("seven".utf8))
        #expect(live.replace(with: snapshot(8, "eight")))
        #expect(live.current.sequence == 8)
    }

    @Test("A path is found only as it was published: no slash before it, nothing but short printable ASCII")
    func paths() {
        let snapshot = snapshot(1, "one")
        for path in ["/lists/bank.json", "lists/bank.json\0", "lists/BANK.json", "lists/ba\u{301}nk.json", ""] {
            #expect(snapshot.document(at: path.utf8) == nil)
        }
        #expect(snapshot.document(at: [UInt8](repeating: 0x61, count: 600)) == nil)
        #expect(snapshot.document(at: "lists/bank.json".utf8)?.entityTag.utf8.count == 66)
    }
}
