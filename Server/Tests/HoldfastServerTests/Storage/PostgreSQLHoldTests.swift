import Foundation
import Holdfast
import HoldfastTesting
import Synchronization
import Testing

@testable import HoldfastServer

/// What only a database on another machine can do.
@Suite(
    "The right to serve from a database", .besidePostgres,
    .enabled(if: PostgresServer.isTested, "needs PostgreSQL's initdb, postgres and psql")
)
struct PostgreSQLHoldTests: PostgreSQLCases {
    @Test("A server that lost its hold writes nothing until it has it again", arguments: StorageKind.remote)
    func lostHold(_ kind: StorageKind) async throws {
        let server = try #require(PostgresServer.current)
        let address = try #require(try await kind.address())
        let name = try #require(address.parameters["dbname"])
        let hold = try await DatabaseHold.take(address)
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
            let error = await expectError(.readOnlyDatabase) { try await DatabaseHold.take(address) }
            #expect(error?.found == "a standby")
        }
    }

    @Test("Tables that a server works on are brought to a newer version by that server alone, with the rows they have")
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
        let hold = try await DatabaseHold.take(address)
        let refusal = await expectError(.databaseInUse) { try await PostgreSQLEngine.open(address) }
        #expect(refusal?.remedy.contains("Stop serve first") == true)
        let version = try connection.run(text: "SELECT version FROM schema_version")
        #expect(version == [StorageRow([.integer(8)])])
        await (try PostgreSQLEngine.open(address, clock: nil, hold: hold)).close()
        #expect(
            try connection.run(text: "SELECT hour, since, count FROM report_count ORDER BY hour")
                == (1...3).map { StorageRow([.integer(3_600 * $0), .integer(3_600 * $0), .integer($0)]) })
        await hold.release()
    }

    @Test("One server at a time has a database, and it is free when that server is gone", arguments: StorageKind.remote)
    func hold(_ kind: StorageKind) async throws {
        let server = try #require(PostgresServer.current)
        let address = try #require(try await kind.address())
        let hold = try await DatabaseHold.take(address)
        let refusal = await expectError(.databaseInUse) { try await DatabaseHold.take(address) }
        #expect(refusal?.remedy.contains("Stop the other server") == true)
        // Commands work meanwhile.
        try await withEngine(address) { try await add("bank", to: $0) }
        try await hold.renew()
        // After the connection broke it is taken anew.
        let name = try #require(address.parameters["dbname"])
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)';"
        try await server.run(end)
        try await hold.renew()
        await expectError(.databaseInUse) { try await DatabaseHold.take(address) }
        await hold.release()
        let next = try await DatabaseHold.take(address)
        // Whoever lost it to another learns of it.
        await next.release()
        await expectError(.database) { try await next.renew() }
    }
}
