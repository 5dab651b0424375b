import Foundation
import Holdfast
import HoldfastSigning
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("The snapshot that is served")
struct LiveSnapshotTests {
    private func snapshot(_ sequence: Int64, _ text: String) -> PublishedSnapshot {
        PublishedSnapshot(
            sequence: sequence,
            documents: [
                "lists/bank.json": .init(
                    bytes: Array(text.utf8), mediaType: "application/json", signedAt: Story.now, refresh: 3_600,
                    end: Story.end)
            ], apps: [:])
    }

    @Test("A snapshot is replaced by a newer one, never by an older one")
    func upwards() {
        let live = LiveSnapshot()
        #expect(live.current.document(at: "lists/bank.json".utf8) == nil)
        #expect(live.replace(with: snapshot(7, "seven")))
        #expect(!live.replace(with: snapshot(6, "six")))
        #expect(live.current.document(at: "lists/bank.json".utf8)?.bytes == Array("seven".utf8))
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

    @Test("Bytes that were compressed are not compressed again, and those that were not are once there is time")
    func compressing() throws {
        func document(
            _ bytes: [UInt8], like known: PublishedSnapshot.Document? = nil, compressing: Bool
        ) -> PublishedSnapshot.Document {
            PublishedSnapshot.Document(
                bytes: bytes, digest: Digest(of: bytes), mediaType: "application/json", signedAt: 1, refresh: 60,
                end: 100, like: { $0 == known?.digest ? known : nil }, compressing: compressing)
        }
        let bytes = [UInt8](repeating: 0x61, count: 4_096)
        let early = document(bytes, compressing: false)
        #expect(early.compressed == nil && early.bytes == bytes)
        let full = document(bytes, like: early, compressing: true)
        #expect(full.compressed != nil && full.compressed != early.compressed)
        // Known compressed bytes are used, also by a read that does not compress.
        #expect(document(bytes, like: full, compressing: false).compressed == full.compressed)
        let other = document([UInt8](repeating: 0x62, count: 4_096), like: full, compressing: true)
        #expect(other.compressed != nil && other.compressed != full.compressed && other.digest != full.digest)
        // If compression does not pay off, it is not tried again.
        let noise = document([1, 2, 3], compressing: true)
        #expect(noise.compressed == nil && document([1, 2, 3], like: noise, compressing: true) == noise)
    }

    @Test(
        "A server that starts serves documents before it has compressed them, and compressed ones after the next look")
    func starting() async throws {
        try await World.run { world in
            try await world.publish()
            let started = Publisher(world.catalog, folder: world.publisher.folder, secret: World.secret())
            let first = try await started.refresh(compressing: false)
            #expect(!first.documents.isEmpty && first.documents.values.allSatisfy { $0.compressed == nil })
            let second = try await started.refresh()
            #expect(second.documents.values.contains { $0.compressed != nil })
            #expect(second.documents.mapValues(\.bytes) == first.documents.mapValues(\.bytes))
            #expect(second.documents == world.publisher.live.current.documents)
        }
    }

    @Test("What a look finds unchanged is the value that is served, and every difference is taken")
    func shared() throws {
        let site = try ServingSite()
        let app = try site.app().1
        #expect(try app.shared(with: site.app().1).generation == app.generation)
        let later = try FingerprintEntry(
            name: "other.example.com", pin: Pin(subject: .certificate, digest: Digest(of: [1]).bytes),
            until: Date(timeIntervalSince1970: 1_900_000_000))
        let moved = PublishedSnapshot.App(
            generation: app.generation, content: app.content, entries: app.entries, publicKey: app.publicKey,
            key: app.key, signer: "program-2")
        #expect(moved.shared(with: app).signer == "program-2" && app.shared(with: moved).signer == nil)
        for other in try [
            site.app(entries: [later]).1, site.app(end: ServingSite.end + 1).1, site.app(hasKey: false).1,
            ServingSite(key: SigningKey()).app().1,
        ] {
            let taken = other.shared(with: app)
            #expect(taken.parts == other.parts && taken.content == other.content)
            #expect((taken.key == nil) == (other.key == nil) && taken.publicKey == other.publicKey)
        }
    }
}
