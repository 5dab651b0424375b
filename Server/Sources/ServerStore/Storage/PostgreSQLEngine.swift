import Foundation
package import Holdfast
package import ServerFoundation
import Synchronization

/// ``StorageEngine`` on PostgreSQL, 13 or newer, directly or through a pooler in transaction mode.
///
/// One connection writes, and a few read, each on a separate thread: they wait for the database, and must not block
/// threads that answer clients. A broken connection is dropped, and its next user gets a new one.
package final class PostgreSQLEngine: StorageEngine {
    private let writer: PostgreSQLSlot
    private let readers: PostgreSQLPool
    /// A commit holds this lock until all observers are notified. A read acquires it briefly when it starts.
    private let publication = Mutex(())

    /// Opens a database, and migrates it to the newest version of its tables.
    /// - Parameter address: its address.
    /// - Returns: the engine.
    /// - Throws: ``ServerError`` such as `unreachableDatabase`, `newerDatabase`, `damagedDatabase` and
    ///   `readOnlyDatabase`.
    package static func open(_ address: PostgreSQLAddress) async throws(ServerError) -> PostgreSQLEngine {
        try await open(address, access: .writing, clock: nil)
    }

    /// Opens a database.
    /// - Parameters:
    ///   - address: its address.
    ///   - access: whether to migrate the tables to the newest version, or to require it.
    ///   - clock: the clock behind `{now}`; nil for the database's own time.
    ///   - limits: the time limits.
    ///   - hold: the lock of a server, without which it writes nothing; nil for a command.
    ///   - migrations: the steps that this program knows.
    package static func open(
        _ address: PostgreSQLAddress, access: SQLiteConnection.Access = .writing, clock: (any WallClock)?,
        limits: PostgreSQLLimits = .usual, hold: DatabaseLock? = nil, migrations: PostgreSQLMigrations = .newest
    ) async throws(ServerError) -> PostgreSQLEngine {
        let engine = PostgreSQLEngine(address, clock, limits, hold)
        do throws(ServerError) {
            let missing = try await engine.writer.use { slot throws(ServerError) in
                let connection = try slot.connected()
                if case .reading = access { try migrations.requireNewest(on: connection) }
                return try migrations.missing(on: connection)
            }
            guard !missing.isEmpty else { return engine }
            // A new database needs no exclusive lock, because no server uses its tables yet, nor do additive steps:
            // servers that know fewer steps continue to work.
            let isNew = missing.count == migrations.known.count
            let isAlone = hold != nil && !isNew && missing.contains { !$0.isAdditive }
            if isAlone { try await hold?.takeAlone() }
            do throws(ServerError) {
                try await engine.writer.use { _ throws(ServerError) in
                    let own = try PostgreSQLConnection(address, limits: limits.forSteps, clock: clock, hold: hold)
                    try migrations.run(on: own, hold == nil ? .none : isAlone ? .alone : .beside)
                }
            } catch {
                if isAlone { try? await hold?.share() }
                throw error
            }
            if isAlone { try await hold?.share() }
        } catch {
            await engine.close()
            throw error
        }
        return engine
    }

    private init(
        _ address: PostgreSQLAddress, _ clock: (any WallClock)?, _ limits: PostgreSQLLimits, _ hold: DatabaseLock?
    ) {
        func slot(_ name: String) -> PostgreSQLSlot {
            PostgreSQLSlot(name, limits) { () throws(ServerError) in
                try PostgreSQLConnection(address, limits: limits, clock: clock, hold: hold)
            }
        }
        writer = slot("holdfast.postgresql.write")
        readers = PostgreSQLPool((1...limits.readers).map { slot("holdfast.postgresql.read-\($0)") }, limits)
    }

    /// Always false: a server for many machines cannot be limited to one.
    package var isOfOneMachine: Bool { false }

    /// Runs a closure in a transaction that sees one snapshot and writes nothing.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageSession) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value {
        try await readers.use { [self] slot throws(ServerError) in
            publication.withLock { _ in }
            let (connection, _) = try slot.begun(.reading)
            defer { slot.settle() }
            do throws(ServerError) {
                let value = try body(connection)
                connection.rollback()
                return value
            } catch {
                connection.rollback()
                throw error
            }
        }
    }

    /// Runs a closure in the only transaction of the database that writes. Its result is on disk when this returns.
    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageSession) throws(ServerError) -> Value,
        onCommit: @escaping @Sendable (Value) -> Void
    ) async throws(ServerError) -> Value {
        try await transact(body, onCommit: onCommit)
    }

    /// As ``write(_:onCommit:)``, for features that other engines do not have.
    package func transact<Value: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLConnection) throws(ServerError) -> Value,
        onCommit: @escaping @Sendable (Value) -> Void = { _ in }
    ) async throws(ServerError) -> Value {
        try await writer.use { [self] slot throws(ServerError) in
            let (connection, ticket) = try slot.begun(.writing)
            defer { slot.settle() }
            let value: Value
            do throws(ServerError) {
                guard ticket?.isHeld ?? true else { throw DatabaseLock.lost }
                value = try body(connection)
            } catch {
                connection.rollback()
                throw error
            }
            try publication.withLock { _ throws(ServerError) in
                switch connection.commit() {
                case .done: break
                case .refused(let error):
                    connection.rollback()
                    throw error
                case .unknown: try slot.requireCommitted(ticket)
                }
                onCommit(value)
            }
            return value
        }
    }

    /// Closes the connections once their transactions have ended.
    package func close() async {
        await readers.close()
        await writer.close()
    }
}
