import Foundation
import Holdfast
import HoldfastTesting
import Synchronization
import Testing

@testable import ServerFoundation
@testable import ServerStore

/// Locks that only a database on another machine has.
@Suite(
    "The right to serve from a database", .besidePostgres, .timeLimit(.minutes(5)),
    .needs(.postgreSQL))
struct PostgreSQLHoldTests: PostgreSQLCases {
    @Test("A server that lost its hold writes nothing until it has it again", arguments: StorageKind.remote)
    func lostHold(_ kind: StorageKind) async throws {
        let server = try #require(PostgresServer.current)
        let address = try #require(try await kind.address())
        let name = try #require(address.parameters["dbname"])
        let hold = try await DatabaseLock.take(address)
        let engine = try await PostgreSQLEngine.open(address, clock: nil, hold: hold)
        try await add("bank", to: engine)
        try await server.run(Self.ending(holdOn: name))
        let error = await expectError(.unreachableDatabase) { try await add("lost", to: engine) }
        #expect(error?.expected.contains("the right to serve") == true)
        #expect(try await names(in: engine) == ["bank"])
        try await hold.renew()
        try await add("shop", to: engine)
        #expect(try await names(in: engine) == ["bank", "shop"])
        await engine.close()
        await hold.release()
    }

    /// Ends the session that holds a database.
    static func ending(holdOn name: String) -> String {
        """
        SELECT pg_terminate_backend(pid, 10000) FROM pg_locks JOIN pg_database ON pg_database.oid = database \
        WHERE locktype = 'advisory' AND objid = 2 AND datname = '\(name)';
        """
    }

    @Test("A standby is held by nobody")
    func standby() async throws {
        try await PostgresServer.run { server in
            let address = try server.address(try await server.database())
            await server.stop(SIGINT)
            try Data().write(to: server.folder.appending(path: "data/standby.signal"))
            try await server.start(as: "read-only connections")
            let error = await expectError(.readOnlyDatabase) { try await DatabaseLock.take(address) }
            #expect(error?.found == "a standby")
        }
    }

    @Test("Tables that a server works on are brought to a newer version by one server alone, with the rows they have")
    func upgrading() async throws {
        let address = try #require(try await StorageKind.postgresql.address())
        let connection = try PostgreSQLConnection(address, limits: .usual, clock: nil)
        try connection.execute(
            """
            CREATE TABLE schema_version (application TEXT NOT NULL PRIMARY KEY, version BIGINT NOT NULL); \
            INSERT INTO schema_version VALUES ('holdfast-server', 8)
            """)
        for step in PostgreSQLMigrations.steps.prefix(8) {
            try connection.execute(String(decoding: step, as: UTF8.self))
        }
        try connection.run(StorageSuite.insert, [.text("bank"), .text("Bank")])
        try connection.execute(
            """
            INSERT INTO report_count (app, audience, host, code, platform, app_version, document_version, hour, count, \
            rated, scaled, squares) SELECT 'bank', 'everybody', 'api.example.com', 'ok', '-', '-', '-', 3600 * n, n, n, \
            n, n FROM generate_series(1, 3) AS n
            """)
        let hold = try await DatabaseLock.take(address)
        // Neither a command takes such a step under a server, nor a server under another.
        let refusal = await expectError(.databaseInUse) { try await PostgreSQLEngine.open(address) }
        #expect(refusal?.remedy.contains("Stop serve first") == true)
        let other = try await DatabaseLock.take(address)
        await expectError(.databaseInUse) { try await PostgreSQLEngine.open(address, clock: nil, hold: hold) }
        let version = try connection.run(text: "SELECT version FROM schema_version")
        #expect(version == [StorageRow([.integer(8)])])
        await other.release()
        // The database learns of it a moment later.
        while (try? await hold.takeAlone()) == nil {}
        try await hold.share()
        await (try PostgreSQLEngine.open(address, clock: nil, hold: hold)).close()
        #expect(
            try connection.run(text: "SELECT hour, since, count FROM report_count ORDER BY hour")
                == (1...3).map { StorageRow([.integer(3_600 * $0), .integer(3_600 * $0), .integer($0)]) })
        // Others may serve again.
        await (try DatabaseLock.take(address)).release()
        try await hold.renew()
        await hold.release()
    }

    @Test("Servers have a database together; who needs it alone waits for all of them", arguments: StorageKind.remote)
    func hold(_ kind: StorageKind) async throws {
        let server = try #require(PostgresServer.current)
        let address = try #require(try await kind.address())
        let first = try await DatabaseLock.take(address)
        let second = try await DatabaseLock.take(address)
        let engine = try await PostgreSQLEngine.open(address, clock: nil, hold: second)
        try await add("bank", to: engine)
        await expectError(.databaseInUse) { try await second.takeAlone() }
        // After its connection broke, the lock is taken again.
        let name = try #require(address.parameters["dbname"])
        try await server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)';")
        try await first.renew()
        try await second.share()
        await expectError(.databaseInUse) { try await second.takeAlone() }
        await first.release()
        while (try? await second.takeAlone()) == nil {}
        // A server of a version in which one had it alone has it like this.
        let refusal = await expectError(.databaseInUse) { try await DatabaseLock.take(address) }
        #expect(refusal?.found.contains("an older version") == true)
        try await add("shop", to: engine)
        try await second.share()
        await (try DatabaseLock.take(address)).release()
        await engine.close()
        await second.release()
        await expectError(.database) { try await second.renew() }
    }

    @Test(
        "A step that only adds something is taken while servers without it serve, and both go on; one that is not ends them",
        arguments: StorageKind.remote)
    func rolling(_ kind: StorageKind) async throws {
        let address = try #require(try await kind.address())
        func program(_ steps: [(text: String, isAdditive: Bool)]) -> PostgreSQLMigrations {
            PostgreSQLMigrations(
                known: PostgreSQLMigrations.newest.known
                    + steps.map { PostgreSQLMigrations.Step(bytes: Array($0.text.utf8), isAdditive: $0.isAdditive) })
        }
        let adding = (text: "ALTER TABLE app ADD COLUMN nickname TEXT", isAdditive: true)
        let removing = (text: "ALTER TABLE app DROP COLUMN nickname", isAdditive: false)
        let (before, next, last) = (program([]), program([adding]), program([adding, removing]))
        func server(_ program: PostgreSQLMigrations) async throws -> (hold: DatabaseLock, engine: PostgreSQLEngine) {
            let hold = try await DatabaseLock.take(address, migrations: program)
            do {
                return (hold, try await PostgreSQLEngine.open(address, clock: nil, hold: hold, migrations: program))
            } catch {
                await hold.release()
                throw error
            }
        }
        let old = try await server(before)
        try await add("bank", to: old.engine)
        await expectError(.databaseInUse) { try await PostgreSQLEngine.open(address, clock: nil, migrations: next) }
        let new = try await server(next)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                let isOld = number.isMultiple(of: 2)
                group.addTask { try await add("app-\(number)", to: isOld ? old.engine : new.engine) }
                group.addTask { _ = try await names(in: isOld ? old.engine : new.engine) }
            }
            try await group.waitForAll()
        }
        try await old.hold.renew()
        #expect(try await names(in: old.engine).count == 21)
        // One that starts refuses what it does not know, and one that runs and lost its connection comes back.
        await expectError(.newerDatabase) { try await server(before) }
        try await old.hold.share()
        await expectError(.databaseInUse) { try await server(last) }
        await new.hold.release()
        // A step that old servers cannot work with waits until they end, and refuses them afterwards.
        await old.hold.release()
        var newest: (hold: DatabaseLock, engine: PostgreSQLEngine)?
        while newest == nil { newest = try? await server(last) }
        let third = try #require(newest)
        await expectError(.newerDatabase) { try await DatabaseLock.take(address, migrations: before) }
        await expectError(.newerDatabase) { try await DatabaseLock.take(address, migrations: next) }
        await expectError(.unreachableDatabase) { try await add("late", to: old.engine) }
        #expect(try await names(in: third.engine).count == 21)
        for engine in [old.engine, new.engine, third.engine] { await engine.close() }
        await third.hold.release()
    }
}
