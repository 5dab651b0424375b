import Foundation
import Holdfast
import HoldfastTesting
import Synchronization
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerStore

/// Faults that only a database on another machine can have.
@Suite(
    "PostgreSQL that fails", .besidePostgres,
    .needs(.postgreSQL))
struct PostgreSQLFaultTests: PostgreSQLCases {
    @Test(
        "A connection that the database ends in a transaction leaves nothing of it; the next one has another",
        arguments: StorageKind.remote)
    func dropped(_ kind: StorageKind) async throws {
        let address = try #require(try await kind.address())
        try await withEngine(address) { engine in
            let error = await expectError(.unreachableDatabase) {
                try await engine.write { session throws(ServerError) in
                    _ = try session.run(StorageSuite.insert, [.text("bank"), .text("Bank")])
                    _ = try session.run("SELECT pg_terminate_backend(pg_backend_pid())")
                }
            }
            #expect(error?.found.contains("nothing of the transaction was written") == true)
            #expect(try await names(in: engine) == [])
            try await add("shop", to: engine)
            #expect(try await names(in: engine) == ["shop"])
        }
    }

    @Test(
        "Connections that were ended between transactions are replaced without anybody noticing",
        arguments: StorageKind.remote)
    func endedBetween(_ kind: StorageKind) async throws {
        let server = try #require(PostgresServer.current)
        let address = try #require(try await kind.address())
        try await withEngine(address) { engine in
            try await add("bank", to: engine)
            #expect(try await names(in: engine) == ["bank"])
            let name = try #require(address.parameters["dbname"])
            try await server.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)';")
            #expect(try await names(in: engine) == ["bank"])
            try await add("shop", to: engine)
            #expect(try await names(in: engine) == ["bank", "shop"])
        }
    }

    @Test("A transaction that stops in its middle is ended by the database, and others go on")
    func idle() async throws {
        let address = try #require(try await StorageKind.postgresql.address())
        var limits = PostgreSQLLimits.usual
        limits.idle = .milliseconds(100)
        try await withEngine(address, limits: limits) { engine in
            // Only the closure below uses it.
            nonisolated(unsafe) let other = try PostgreSQLConnection(address, limits: .usual, clock: nil)
            await expectError(.unreachableDatabase) {
                try await engine.write { session throws(ServerError) in
                    _ = try session.run(StorageSuite.insert, [.text("bank"), .text("Bank")])
                    let id = try session.run("SELECT pg_backend_pid()")[0]
                    let number = try id.integer(0)
                    while unsafe try !other.run(
                        text: "SELECT pid FROM pg_stat_activity WHERE pid = $1", [.integer(number)]
                    ).isEmpty {}
                    _ = try session.run("SELECT 1")
                }
            }
            #expect(try await names(in: engine) == [])
        }
    }

    @Test("A commit that never reached the database was not written, and the error says so")
    func lostCommit() async throws {
        let server = try #require(PostgresServer.current)
        let name = try await server.database()
        try await PostgresProxy.run(before: server.port) { proxy in
            try await withEngine(try server.address(name, port: proxy.port)) { engine in
                try await add("bank", to: engine)
                proxy.set(.losesCommit)
                let told = Mutex(false)
                let error = await expectError(.unreachableDatabase) {
                    try await engine.write(
                        { session throws(ServerError) in
                            _ = try session.run(StorageSuite.insert, [.text("shop"), .text("Shop")])
                        }, onCommit: { told.withLock { $0 = true } })
                }
                #expect(error?.found.contains("nothing of the transaction was written") == true)
                #expect(!told.withLock { $0 })
                #expect(try await names(in: engine) == ["bank"])
                try await add("shop", to: engine)
            }
        }
    }

    @Test("A commit whose answer was lost is found again: it was written, once, and everybody is told")
    func lostAnswer() async throws {
        let server = try #require(PostgresServer.current)
        let name = try await server.database()
        try await PostgresProxy.run(before: server.port) { proxy in
            try await withEngine(try server.address(name, port: proxy.port)) { engine in
                proxy.set(.losesAnswer)
                let told = Mutex(0)
                try await engine.write(
                    { session throws(ServerError) in
                        _ = try session.run(StorageSuite.insert, [.text("shop"), .text("Shop")])
                    }, onCommit: { told.withLock { $0 += 1 } })
                #expect(told.withLock { $0 } == 1)
                #expect(try await names(in: engine) == ["shop"])
            }
        }
    }

    @Test("A commit that nobody can ask about is in doubt, and the error says that it may have been written")
    func doubt() async throws {
        let server = try #require(PostgresServer.current)
        let name = try await server.database()
        try await PostgresProxy.run(before: server.port) { proxy in
            try await withEngine(try server.address(name, port: proxy.port)) { engine in
                proxy.set(.losesAnswerAndCloses)
                let error = await expectError(.commitInDoubt) { try await add("shop", to: engine) }
                #expect(error?.found.contains("may have been written") == true)
                await expectError(.unreachableDatabase) { try await names(in: engine) }
                try await withEngine(try server.address(name)) { direct in
                    let names = try await names(in: direct)
                    #expect(names == ["shop"])
                }
                proxy.set(.nothing)
                #expect(try await names(in: engine) == ["shop"])
            }
        }
    }

    @Test("A statement that runs too long is ended, and so is one of which nothing is heard; both have written nothing")
    func slow() async throws {
        let server = try #require(PostgresServer.current)
        let name = try await server.database()
        var limits = PostgreSQLLimits.usual
        limits.statement = .milliseconds(200)
        try await PostgresProxy.run(before: server.port) { proxy in
            try await withEngine(try server.address(name, port: proxy.port)) { _ in }
            try await withEngine(try server.address(name, port: proxy.port), limits: limits) { engine in
                await expectError(.lockedDatabase) {
                    try await engine.write { session throws(ServerError) in
                        _ = try session.run(StorageSuite.insert, [.text("bank"), .text("Bank")])
                        _ = try session.run("SELECT pg_sleep(600)")
                    }
                }
                #expect(try await names(in: engine) == [])
                proxy.set(.silent)
                await expectError(.unreachableDatabase) { try await add("bank", to: engine) }
                proxy.set(.nothing)
                try await add("shop", to: engine)
                #expect(try await names(in: engine) == ["shop"])
            }
        }
    }

    @Test("A database that takes nothing of a long statement is given up in time, and nothing of it was written")
    func stalled() async throws {
        let server = try #require(PostgresServer.current)
        let name = try await server.database()
        var limits = PostgreSQLLimits.usual
        (limits.statement, limits.grace) = (.milliseconds(400), .milliseconds(100))
        try await withEngine(try server.address(name)) { _ in }
        try await PostgresProxy.run(before: server.port) { proxy in
            try await withEngine(try server.address(name, port: proxy.port), limits: limits) { engine in
                await expectError(.unreachableDatabase) {
                    try await engine.write { session throws(ServerError) in
                        _ = try session.run(StorageSuite.insert, [.text("bank"), .text("Bank")])
                        proxy.set(.stalled)
                        let long = [UInt8](repeating: 1, count: 48 << 20)
                        _ = try session.run("SELECT length($1)", [.bytes(long)])
                    }
                }
                proxy.set(.nothing)
                let names = try await names(in: engine)
                #expect(names == [])
            }
        }
    }

    @Test("A database that crashed since, or only wrote a checkpoint, is not asked what became of a number")
    func ticket() async throws {
        let server = try #require(PostgresServer.current)
        let address = try server.address(try await server.database())
        let connection = try PostgreSQLConnection(address, limits: .usual, clock: nil)
        func ticket() throws -> PostgreSQLConnection.Ticket {
            defer { connection.rollback() }
            return try #require(try connection.begin(.writing))
        }
        // One of its own: the database may write one at any time.
        try await server.run("CHECKPOINT;")
        let first = try ticket()
        #expect(try ticket().isOfSameRun(as: first))
        try await server.run("CREATE TABLE something (a int); CHECKPOINT;", in: address.parameters["dbname"] ?? "")
        #expect(try !ticket().isOfSameRun(as: first))
    }

    @Test("A commit that a crash took with it is in doubt, although its number is that of another transaction by now")
    func crashed() async throws {
        try await PostgresServer.run { server in
            let (name, other) = (try await server.database(), try await server.database())
            try await PostgresProxy.run(before: server.port) { proxy in
                try await withEngine(try server.address(name, port: proxy.port)) { engine in
                    try await add("bank", to: engine)
                    let connection = try PostgreSQLConnection(try server.address(name), limits: .usual, clock: nil)
                    let before = try #require(try connection.begin(.writing))
                    connection.rollback()

                    proxy.set(.losesCommitAndHolds)
                    async let lost: Void = add("lost", to: engine)
                    await proxy.holds()
                    try await server.crash()
                    // More transactions than were lost: their numbers are given again.
                    let tables = (0..<9).map { "CREATE TABLE t\($0) (a int);" }
                    try await server.run(tables.joined(), in: other)
                    proxy.set(.nothing)
                    let result: Result<Void, any Error>
                    do { result = .success(try await lost) } catch { result = .failure(error) }
                    expectError(.commitInDoubt) { try result.get() }
                    #expect(try await names(in: engine) == ["bank"])

                    let another = try PostgreSQLConnection(try server.address(name), limits: .usual, clock: nil)
                    let after = try #require(try another.begin(.writing))
                    another.rollback()
                    // The server says that it runs since the same time.
                    #expect(after.server == before.server && after.checkpoint != before.checkpoint)
                    #expect(!after.isOfSameRun(as: before))
                }
            }
        }
    }

    @Test("After the database was stopped at once and started again, the same engine goes on with what it had")
    func restarted() async throws {
        try await PostgresServer.run { server in
            try await withEngine(try server.address(try await server.database())) { engine in
                try await add("bank", to: engine)
                #expect(try await names(in: engine) == ["bank"])
                await server.stop(SIGQUIT)
                await expectError(.unreachableDatabase) { try await add("shop", to: engine) }
                await expectError(.unreachableDatabase) { try await names(in: engine) }
                try await server.start()
                #expect(try await names(in: engine) == ["bank"])
                try await add("shop", to: engine)
                // Stopped in the middle of a transaction: nothing of it is there.
                let (begun, stopped) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
                async let half: Void = engine.write { session throws(ServerError) in
                    _ = try session.run(StorageSuite.insert, [.text("half"), .text("Half")])
                    begun.continuation.finish()
                    stopped.wait()
                    _ = try session.run(StorageSuite.insert, [.text("more"), .text("More")])
                }
                for await _ in begun.stream {}
                await server.stop(SIGQUIT)
                stopped.signal()
                let result: Result<Void, any Error>
                do { result = .success(try await half) } catch { result = .failure(error) }
                expectError(.unreachableDatabase) { try result.get() }
                try await server.start()
                #expect(try await names(in: engine) == ["bank", "shop"])
            }
        }
    }
}
