import Foundation
import Testing

@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerStore

/// Runs a suite beside one PostgreSQL, with a pooler before it.
struct PostgresSuite: SuiteTrait, TestScoping {
    @concurrent
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard PostgresServer.isTested else { return try await function() }
        try await PostgresServer.run { server in
            try await PostgresServer.$current.withValue(server) {
                guard PgBouncer.isTested else { return try await function() }
                try await PgBouncer.run(before: server) { bouncer in
                    try await PgBouncer.$current.withValue(bouncer) { try await function() }
                }
            }
        }
    }
}

extension Trait where Self == PostgresSuite {
    /// Beside one PostgreSQL for the whole suite.
    static var besidePostgres: PostgresSuite { PostgresSuite() }
}

/// pgbouncer in transaction mode, as operators run it: each transaction may get another session of the database.
struct PgBouncer: Sendable {
    static let isTested = PostgresServer.isTested && ForeignProgram.isTested("pgbouncer")

    /// The pooler of the suite that runs.
    @TaskLocal static var current: PgBouncer?

    let port: Int

    /// Runs it, and ends it afterwards.
    static func run(before server: PostgresServer, _ body: (PgBouncer) async throws -> Void) async throws {
        try await withFolder { folder in
            let port = try await CachingNginx.freePort()
            try Data("\"holdfast\" \"\"\n".utf8).write(to: folder.appending(path: "users"))
            let file = folder.appending(path: "pgbouncer.ini")
            try Data(
                """
                [databases]
                * = host=127.0.0.1 port=\(server.port)
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = \(port)
                unix_socket_dir =
                auth_type = trust
                auth_file = \(folder.path)/users
                pool_mode = transaction
                max_client_conn = 300
                default_pool_size = 8

                """.utf8
            ).write(to: file)
            let program = try ForeignProgram.required("pgbouncer")
            let process = try ServingProcess(
                ["/usr/bin/env"] + PostgresServer.asNobody([program.path, file.path]), in: folder)
            let result: Result<Void, any Error>
            do {
                try await process.says("process up")
                result = .success(try await body(PgBouncer(port: port)))
            } catch {
                result = .failure(error)
            }
            process.signal(SIGKILL)
            _ = await process.status()
            try result.get()
        }
    }
}

/// The database that stores the data of a test.
enum StorageKind: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case sqlite, postgresql, pgbouncer

    var testDescription: String { rawValue }

    /// Those that this machine has.
    static let tested = allCases.filter { kind in
        let need: Need? =
            switch kind {
            case .sqlite: nil
            case .postgresql: .postgreSQL
            case .pgbouncer: .pgBouncer
            }
        guard let need, !need.isMet else { return true }
        SkippedTests.note("the cases on \(kind.rawValue) of tests that are run on each database", missing: need)
        return false
    }

    /// Those that are reached over a connection.
    static let remote = tested.filter { $0 != .sqlite }

    /// The address of a new database; nil for a file.
    func address() async throws -> PostgreSQLAddress? {
        switch self {
        case .sqlite: return nil
        case .postgresql:
            let server = try #require(PostgresServer.current)
            return try server.address(try await server.database())
        case .pgbouncer:
            let server = try #require(PostgresServer.current)
            return try server.address(try await server.database(), port: try #require(PgBouncer.current).port)
        }
    }
}
