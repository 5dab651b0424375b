import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

@Suite("Upgrading the program")
struct UpgradeTests {
    /// The steps that a server had when it first published something.
    private static let versions = Array(2..<SQLiteMigrations.steps.count)

    @Test(
        "A server of an earlier version, with everything in it, goes on where it was", arguments: UpgradeTests.versions)
    func earlier(_ version: Int) async throws {
        try await World.settled { world in
            try await world.publish()
            let served = world.publisher.live.current.documents.mapValues(\.bytes)
            let open = try await world.propose(world.draft { $0.formats = World.fewFormats }, forcing: [.lint]).change
            try await world.approve(open, by: [.alice])
            try await world.catalog.forgetOrigins(on: world.catalogHost, of: world.app)
            await world.engine.close()
            try OldDatabase.make(version, of: world.server.database)
            try await world.opened { opened in
                #expect(try OldDatabase.version(of: world.server.database) == Int64(SQLiteMigrations.steps.count))
                try await opened.publisher.refresh()
                let upgraded = World(world, as: opened, in: world.folder)
                #expect(opened.publisher.live.current.documents.mapValues(\.bytes) == served)
                #expect(try await upgraded.clientsThatGetIn(world.shown) == World.everybody)
                #expect(try await opened.publisher.examine().filter(\.isFault) == [])
                // A change that waited for people still does, with its approval.
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

    @Test("What hosts left behind without bound in a database of before is gone after the upgrade; what is named stays")
    func oversized() async throws {
        try await World.settled { world in
            try await world.publish()
            await world.engine.close()
            try OldDatabase.make(11, of: world.server.database)
            func count(_ text: String) throws -> Int64 {
                try SQLiteConnection(world.server.database.path, clock: world.clock).run(text: text)[0].integer(0)
            }
            let keys = try count("SELECT count(*) FROM public_key")
            let usual = try world.root.leaf(names: [.dns(World.host)]).der
            let old = try SQLiteConnection(world.server.database.path, clock: world.clock)
            try old.execute(
                """
                WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 700)
                INSERT INTO chain (digest, certificates) SELECT CAST(printf('%032d', n) AS BLOB),
                    CASE WHEN n <= 200 THEN zeroblob(90000) ELSE X'\(Hex.encode(usual))' END FROM number;
                WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 600)
                INSERT INTO observation (host_id, vantage, address, chain_digest, first_seen_at, last_seen_at)
                    SELECT (SELECT min(id) FROM host), 'hostile', 'a' || n, CAST(printf('%032d', n) AS BLOB),
                        \(world.now) + n, \(world.now) + n FROM number;
                INSERT INTO public_key (pin, octets)
                    SELECT digest, zeroblob(91) FROM chain WHERE length(certificates) = 90000;
                """)
            try await world.opened { opened in
                #expect(try await opened.publisher.examine().filter(\.isFault) == [])
                try await opened.publisher.refresh()
            }
            #expect(try count("SELECT count(*) FROM chain WHERE length(certificates) = 90000") == 0)
            #expect(try count("SELECT count(*) FROM observation") == 256)
            // Observations of other vantages stay, although they are older.
            #expect(try count("SELECT count(DISTINCT vantage) FROM observation WHERE chain_digest IS NOT NULL") == 3)
            let unnamed = try count(
                """
                SELECT count(*) FROM chain WHERE digest NOT IN (SELECT chain_digest FROM observation
                WHERE chain_digest IS NOT NULL) AND digest NOT IN (SELECT chain_digest FROM next_chain)
                """)
            #expect(unnamed == 0)
            // Those of contents and announcements; what hosts showed besides is in their chains.
            let left = try count("SELECT count(*) FROM public_key")
            #expect((1...keys).contains(left), "\(left) of \(keys)")
            #expect(try count("SELECT count(*) FROM public_key WHERE octets = zeroblob(91)") == 0)
        }
    }

    @Test("An older program refuses a database that a newer one has opened, and leaves every byte of it alone")
    func goingBack() async throws {
        try await World.settled { world in
            try await world.publish()
            await world.engine.close()
            let newer = Int64(SQLiteMigrations.steps.count) + 1
            try OldDatabase.setVersion(newer, of: world.server.database)
            let bytes = try Data(contentsOf: world.server.database)
            await expectError(.newerDatabase) { try await world.opened { _ in } }
            #expect(try Data(contentsOf: world.server.database) == bytes)
            // It serves the documents that are there, and nothing else.
            guard case .documents(let problem) = try await world.server.openWhatCanBe(clock: world.clock) else {
                Issue.record("the database was opened")
                return
            }
            #expect(problem.code == .newerDatabase)
        }
    }
}
