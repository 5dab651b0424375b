import Foundation
import Holdfast
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("A database that cannot be used")
struct BrokenDatabaseTests {
    /// A second process on the world's folder, which does not wait for locks.
    private func impatient(_ world: World) async throws -> (SQLiteEngine, Publisher) {
        let engine = try SQLiteEngine(
            world.folder.appending(path: "server.db"), clock: world.clock, patience: .zero)
        let publisher = try await world.another(engine)
        try await publisher.refresh()
        return (engine, publisher)
    }

    @Test("While another program locks it nothing is published, and what is served is served on; then it goes on")
    func locked() async throws {
        try await World.run { world in
            try await world.publish()
            let change = try await world.propose().change
            try await world.approve(change)
            let (engine, publisher) = try await impatient(world)
            let other = try SQLiteConnection(world.folder.appending(path: "server.db").path, clock: world.clock)
            try other.execute("BEGIN IMMEDIATE")
            await expectError(.lockedDatabase) { try await publisher.publish(change) }
            #expect(publisher.live.current.documents == world.publisher.live.current.documents)
            #expect(publisher.catalog.ledger.generation(of: world.app) == 1)
            try other.execute("ROLLBACK")
            #expect(try await publisher.publish(change) == .published(generation: 2))
            await engine.close()
        }
    }

    @Test("A database that became damaged or was emptied publishes nothing, and what is served is served on")
    func damaged() async throws {
        for damage in ["DELETE FROM audit", "DROP TABLE audit", "DELETE FROM document", "DROP TABLE change"] {
            try await World.run { world in
                try await world.publish()
                let change = try await world.propose().change
                try await world.approve(change)
                let served = world.publisher.live.current
                let other = try SQLiteConnection(world.folder.appending(path: "server.db").path, clock: world.clock)
                try other.execute("PRAGMA foreign_keys = OFF")
                try other.execute(damage)
                if damage != "DELETE FROM document" {
                    await #expect(throws: ServerError.self) { try await world.publisher.publish(change) }
                }
                // If only the app is damaged, it stays as it was; without the audit nothing can be read.
                if damage.contains("audit") {
                    await #expect(throws: ServerError.self) { try await world.publisher.refresh() }
                } else {
                    #expect(try await !world.publisher.refresh().problems.isEmpty)
                }
                #expect(world.publisher.live.current.documents == served.documents)
                #expect(try world.publisher.folder.read("lists/bank.json") != nil)
            }
        }
    }

    @Test("A folder whose file of the head, secret or configuration is missing says which, and what to do")
    func missing() async throws {
        try await withFolder { folder in
            let server = ServerFolder(folder.appending(path: "data"))
            var generator = SystemRandomNumberGenerator()
            let story = try Story()
            _ = try await server.create(
                genesis: story.genesis, secret: SecretFile(folder.appending(path: "secret")), clock: SystemWallClock(),
                using: &generator)
            let good = try await server.open(clock: SystemWallClock())
            #expect(good.secretProblem == nil)
            await good.engine.close()
            try FileManager.default.moveItem(
                at: folder.appending(path: "secret"), to: folder.appending(path: "elsewhere"))
            let blind = try await server.open(clock: SystemWallClock())
            #expect(blind.secretProblem?.code == .file)
            await blind.engine.close()
            for (name, code) in [("head", ServerError.Code.file), ("configuration.json", .notFound)] {
                try FileManager.default.removeItem(at: server.url.appending(path: name))
                await expectError(code) { try await server.open(clock: SystemWallClock()) }
            }
        }
    }
}
