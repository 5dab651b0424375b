import Foundation
import Holdfast
import Testing

@testable import HoldfastServer

@Suite("Upgrading the program")
struct UpgradeTests {
    /// The steps that a server had when it first published something.
    private static let versions = Array(2..<SQLiteMigrations.steps.count)

    @Test(
        "A server of an earlier version, with everything in it, goes on where it was", arguments: UpgradeTests.versions)
    func earlier(_ version: Int) async throws {
        try await World.settled { world in
            try await world.publish()
            let served = world.publisher.live.current.documents.mapValues(\.octets)
            let open = try await world.propose(world.draft { $0.formats = World.fewFormats }, forcing: [.lint]).change
            try await world.approve(open, by: [.alice])
            try await world.catalog.forgetOrigins(on: world.catalogHost, of: world.app)
            await world.engine.close()
            try OldDatabase.make(version, of: world.server.database)
            try await world.opened { opened in
                #expect(try OldDatabase.version(of: world.server.database) == Int64(SQLiteMigrations.steps.count))
                try await opened.publisher.refresh()
                let upgraded = World(world, as: opened, in: world.folder)
                #expect(opened.publisher.live.current.documents.mapValues(\.octets) == served)
                #expect(try await upgraded.clientsThatGetIn(world.shown) == World.everybody)
                #expect(try await opened.publisher.examine().filter(\.isFault) == [])
                // What waited for people still does, with the approval that it had.
                #expect(try await opened.catalog.change(open).approvals.count == 1)
                try await upgraded.pass(300)
                #expect(try await opened.publisher.renew().signed.count == 2)
                try await upgraded.publish()
                #expect(try await upgraded.clientsThatGetIn(world.announced) == World.everybody)
            }
        }
    }

    @Test("A step that fails leaves a database as it was, and is taken when nothing is in its way")
    func interrupted() async throws {
        try await World.settled { world in
            try await world.publish()
            try await world.catalog.forgetOrigins(on: world.catalogHost, of: world.app)
            await world.engine.close()
            try OldDatabase.make(2, of: world.server.database)
            func inTheWay(_ words: String) throws {
                try SQLiteConnection(world.server.database.path, clock: world.clock).execute(words)
            }
            try inTheWay("CREATE TABLE repository_draft (a)")
            await #expect(throws: ServerError.self) { try await world.opened { _ in } }
            #expect(try OldDatabase.version(of: world.server.database) == 2)
            try inTheWay("DROP TABLE repository_draft")
            let findings = try await world.opened { opened in try await opened.publisher.examine() }
            #expect(findings.filter(\.isFault) == [])
        }
    }

    @Test("An older program refuses a database that a newer one has opened, and leaves every octet of it alone")
    func goingBack() async throws {
        try await World.settled { world in
            try await world.publish()
            await world.engine.close()
            let newer = Int64(SQLiteMigrations.steps.count) + 1
            try OldDatabase.setVersion(newer, of: world.server.database)
            let octets = try Data(contentsOf: world.server.database)
            await expectError(.newerDatabase) { try await world.opened { _ in } }
            #expect(try Data(contentsOf: world.server.database) == octets)
            // It serves the documents that are there, and nothing else.
            guard case .documents(let problem) = try await world.server.openWhatCanBe(clock: world.clock) else {
                Issue.record("the database was opened")
                return
            }
            #expect(problem.code == .newerDatabase)
        }
    }
}
