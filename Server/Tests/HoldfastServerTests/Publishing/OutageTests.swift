import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("Rounds while the database cannot be written")
struct OutageTests {
    private static let trust = "trust/\(World.customer).json.signed"
    private static let canaryTrust = "trust/\(World.customer)-canary.json.signed"

    private func version(_ world: World, _ path: String = trust) -> Int64? {
        world.catalog.ledger.documents[.init(app: world.app, name: path)]?.version
    }

    private func bytes(_ world: World, _ path: String = trust) throws -> [UInt8] {
        try #require(world.publisher.live.current.document(at: path.utf8)).bytes
    }

    @Test("While another program holds the database nothing is signed again, and what is served stays")
    func locked() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let served = try bytes(world)
            try await world.withLockedDatabase { publisher in
                world.clock.advance(by: .seconds(300))
                let round = try await publisher.renew()
                #expect(round.signed == [] && round.problems.count == 1, "\(round)")
                #expect(round.problems.first?.contains("lockedDatabase") == true, "\(round)")
                #expect(publisher.catalog.writeProblem?.code == .lockedDatabase)
                // That it cannot be written is found out before anything is signed.
                await expectError(.lockedDatabase) { try await publisher.renew() }
                try await world.publisher.refresh()
                #expect(try bytes(world) == served)
                #expect(try world.publisher.folder.read(Self.trust) == served)
                try await world.everybodyFollows(isThorough: false)
                let standing = try await publisher.standing(of: world.app)
                #expect(standing.refusedFrom == world.now + DocumentMaker.trustServerLife + 1)
            }
            #expect(version(world) == 1)
            world.clock.advance(by: .seconds(300))
            #expect(try await world.publisher.renew().problems == [])
            #expect(version(world) == 2 && version(world, Self.canaryTrust) == 2)
            try await world.everybodyFollows(isThorough: false)
            #expect(try await world.publisher.examine().filter(\.isFault) == [])
            #expect(try world.publisher.folder.version(of: Self.trust) == 2)
        }
    }

    @Test("A process that could not write goes on when it can, and no version has two contents")
    func goesOn() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let engine = try SQLiteEngine(
                world.folder.appending(path: "server.db"), clock: world.clock, patience: .zero)
            let publisher = try await world.another(engine)
            let other = try SQLiteConnection(world.folder.appending(path: "server.db").path, clock: world.clock)
            try other.execute("BEGIN IMMEDIATE")
            world.clock.advance(by: .seconds(300))
            #expect(try await publisher.renew().signed == [])
            try other.execute("ROLLBACK")
            #expect(try await publisher.renew().signed == [Self.trust, Self.canaryTrust])
            #expect(publisher.catalog.writeProblem == nil)
            #expect(publisher.catalog.ledger.documents.values.allSatisfy { $0.version <= 2 })
            await engine.close()
        }
    }

    @Test("An older database with its own head beside the newest folder: nothing is signed with it")
    func olderDatabase() async throws {
        try await World.run { world in
            try await world.publish(world.draft { $0.formats = World.fewFormats })
            let old = world.folder.appending(path: "old")
            try FileManager.default.createDirectory(at: old, withIntermediateDirectories: false)
            try await world.engine.read { session throws(ServerError) in
                try session.copy(to: old.appending(path: "server.db"))
            }
            try FileManager.default.copyItem(
                at: world.folder.appending(path: "head"), to: old.appending(path: "head"))
            world.clock.advance(by: .seconds(300))
            #expect(try await world.publisher.renew().problems == [])
            #expect(try await world.publisher.deliver().problems == [])
            let served = try world.publisher.folder.read(Self.trust)
            let engine = try SQLiteEngine(old.appending(path: "server.db"), clock: world.clock)
            func publisher(_ folder: PublicFolder) async throws -> Publisher {
                let catalog = try await Catalog(
                    engine, server: Story.server, genesis: Digest(of: world.story.genesis.text),
                    head: HeadFile(old.appending(path: "head")), time: World.time(world.clock, in: old))
                return Publisher(catalog, folder: folder, secret: World.secret())
            }
            let round = try await publisher(world.publisher.folder).renew()
            #expect(round.signed == [] && round.problems.first?.contains("brokenChain") == true, "\(round)")
            #expect(round.problems.first?.contains("older copy") == true, "\(round)")
            #expect(try world.publisher.folder.read(Self.trust) == served)
            // The control: the same with a folder that has had nothing newer.
            let place = PublicFolder(old.appending(path: "public"), versions: old.appending(path: "versions"))
            #expect(try await publisher(place).renew().signed.count == 2)
            await engine.close()
        }
    }
}

extension World {
    /// Another process on the same folder, while a third one holds the lock of the database: it can be read, not written.
    func withLockedDatabase(_ body: (Publisher) async throws -> Void) async throws {
        let engine = try SQLiteEngine(folder.appending(path: "server.db"), clock: clock, patience: .zero)
        let publisher = try await another(engine)
        let other = try SQLiteConnection(folder.appending(path: "server.db").path, clock: clock)
        try other.execute("BEGIN IMMEDIATE")
        let result: Result<Void, any Error>
        do { result = .success(try await body(publisher)) } catch { result = .failure(error) }
        try other.execute("ROLLBACK")
        await engine.close()
        try result.get()
    }
}
