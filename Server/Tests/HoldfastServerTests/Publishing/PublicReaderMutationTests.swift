import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTesting
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// Damaged files at public addresses, as they are read back after a publication, and by a server that is restored:
/// only signed files count as published, and a restored server adopts nothing without a signature.
@Suite("What is public, damaged", .timeLimit(.minutes(60)))
struct PublicReaderMutationTests {
    private static let address = "https://pins.example.com"

    private func document(_ path: String, _ world: World) async throws -> Catalog.StoredDocument {
        try #require(
            try await world.catalog.look { session, ledger throws(ServerError) in
                try Catalog.newest(path, of: world.app, session, ledger)
            })
    }

    private func publisher(_ world: World, _ reader: AnswerStub) -> Publisher {
        Publisher(
            world.catalog, folder: world.publisher.folder, secret: World.secret(), live: world.publisher.live,
            reader: reader)
    }

    @Test("Only the bytes that were signed count as read back, and a damaged answer is asked for once")
    func readBack() async throws {
        try await World.run { world in
            try await world.publish()
            let url = try #require(URL(string: Self.address))
            for (index, path) in ["lists/bank.json", "trust/gcx.json.signed", "pins/bank.pins.json"].enumerated() {
                let written = try await document(path, world)
                let count = mutants(inPartsOf: 10)
                let stub = AnswerStub { _ in AnswerStub.Answer() }
                let reader = try await publisher(world, stub).publicReader(of: world.app, at: url)
                let read = await campaign(awaiting: 0x4EAD + UInt64(index), [written.bytes], count: count) { mutant in
                    stub.say(mutant, at: path)
                    do throws(ServerError) {
                        try await reader.read(written)
                        #expect(mutant == written.bytes && stub.asked() > 1)
                    } catch {
                        #expect(error.code == .gate && "\(error)".utf8.count <= 1_000, "\(error)")
                        // No client is started.
                        #expect(stub.asked() == 1)
                        throw error
                    }
                }
                #expect(read < count)
            }
        }
    }

    @Test("A repository with a damaged file is followed as it was signed, or not at all")
    func repository() async throws {
        try await World.run { world in
            try await world.publishRepository(RepositoryHolders())
            let url = try #require(URL(string: Self.address))
            let folder = world.publisher.folder.url
            let parts = ["timestamp", "1.snapshot", "1.targets"].map { "metadata/\($0).json" }
            let names = parts + ["bundle.json"]
            for (index, name) in names.enumerated() {
                let path = "repo/bank/\(name)"
                let good = Array(try Data(contentsOf: folder.appending(path: path)))
                // Every signature of it is verified each time.
                let count = max(100, mutants / 40)
                let stub = AnswerStub(of: folder)
                let reader = try await publisher(world, stub).publicReader(of: world.app, at: url)
                let read = await campaign(awaiting: 0x4EB0 + UInt64(index), [good], count: count) { mutant in
                    stub.say(mutant, at: path)
                    do throws(ServerError) {
                        try await reader.readRepository()
                    } catch {
                        #expect(error.code == .gate && "\(error)".utf8.count <= 1_000, "\(error)")
                        #expect(stub.asked() <= 12)
                        throw error
                    }
                    #expect(stub.asked() <= 12)
                    // The bytes of a file that is compared with a digest are those that were signed.
                    #expect(mutant == good || !name.hasPrefix("metadata/1."), "\(name)")
                }
                #expect(read < count, "\(name)")
            }
        }
    }

    @Test("A restored server takes a damaged document for what it is: what the backup has, older, or nobody's")
    func restored() async throws {
        try await World.run { world in
            try await world.publish()
            let scene = try await world.catalog.scene(of: world.app)
            let content = try #require(scene.published)
            let publicKeys = scene.publicKeys
            let trust = "trust/gcx.json.signed"
            for (index, path) in ["lists/bank.json", trust, "pins/bank.pins.json"].enumerated() {
                let known = try await document(path, world)
                let judge = PublicStateJudge(
                    app: world.app, known: [path: known], earlier: [Digest(of: [1])], content: content,
                    fingerprints: scene.keys.fingerprints, trustServer: scene.keys.trustServer, publicKeys: publicKeys,
                    now: world.now)
                let count = mutants(inPartsOf: 10)
                var foreign = 0
                _ = campaign(0x4E5A + UInt64(index), [known.bytes], count: count) { mutant in
                    switch try judge.judge(mutant, at: path) {
                    case .known: #expect(mutant == known.bytes)
                    case .older: Issue.record("nothing is older than the first")
                    case .unsigned: #expect(path.hasPrefix("pins/"))
                    case .foreign(let words):
                        #expect(words.utf8.count <= 1_000)
                        foreign += 1
                    case .newer(let document), .renewed(let document):
                        // The key of the app signed what counts in it, whatever else was damaged.
                        #expect(document.bytes == mutant && !path.hasPrefix("pins/"))
                        #expect(document.end <= content.end)
                        if path.utf8.elementsEqual(trust.utf8) { #expect(document.signedAt == known.signedAt) }
                    }
                }
                #expect(foreign > 0 || path.hasPrefix("pins/"), "\(path)")
            }
        }
    }

    @Test("A restored server adopts no repository that does not verify, and asks for no more files than it has")
    func restoredRepository() async throws {
        try await World.run { world in
            try await world.publishRepository(RepositoryHolders())
            let known = try await world.catalog.repository(of: world.app)
            let url = try #require(URL(string: Self.address))
            let folder = world.publisher.folder.url
            for (index, name) in ["timestamp.json", "1.snapshot.json", "1.root.json"].enumerated() {
                let path = "repo/bank/metadata/\(name)"
                let good = Array(try Data(contentsOf: folder.appending(path: path)))
                let count = max(100, mutants / 40)
                let stub = AnswerStub(of: folder)
                _ = await campaign(awaiting: 0x4EC0 + UInt64(index), [good], count: count) { mutant in
                    stub.say(mutant, at: path)
                    let found: PublicRepository
                    do throws(ServerError) {
                        found = try await PublicRepository(of: world.app, known, in: [.address(url, stub)])
                    } catch {
                        // The same version with other bytes, by the right key: an operator must decide.
                        #expect(error.code == .constraint && mutant != good && stub.asked() <= 12, "\(error)")
                        throw error
                    }
                    #expect(stub.asked() <= 12)
                    switch found.sighting {
                    case .known: #expect(mutant == good || index > 0)
                    case .older: #expect(found.files.isEmpty)
                    case .foreign(let words): #expect(mutant != good && words.utf8.count <= 1_000)
                    case .newer: Issue.record("nobody signed anything newer")
                    }
                }
            }
        }
    }
}
