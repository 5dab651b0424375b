import CLibPQ
import Foundation
import Holdfast
package import ServerFoundation
import Synchronization

/// The right to serve from a database of PostgreSQL, shared by any number of servers with separate folders. A server
/// that changes tables in a way that the others do not support holds it exclusively.
///
/// It is a lock in a transaction that stays open, so it ends with the process in any case, and works through a pooler
/// in transaction mode. Commands do not need it.
package final class DatabaseLock: Sendable {
    private let slot: PostgreSQLSlot
    /// The backend process that has the lock; nil while none has it.
    private let backend: Backend

    /// The backend process, shared with the closure that connects.
    private final class Backend: Sendable {
        let process = Mutex<Int64?>(nil)
    }

    /// Another lock than that of writers.
    private static let serving = PostgreSQLConnection.writing + 1

    private init(_ slot: PostgreSQLSlot, _ backend: Backend) {
        self.slot = slot
        self.backend = backend
    }

    /// Acquires the lock, in addition to other servers that have it.
    /// - Throws: ``ServerError`` `databaseInUse` if a server of an older version holds it exclusively, or another
    ///   server changes the tables; `newerDatabase` for tables that this program cannot work on; `readOnlyDatabase` for
    ///   a standby; `unreachableDatabase`.
    package static func take(_ address: PostgreSQLAddress) async throws(ServerError) -> DatabaseLock {
        try await take(address, migrations: .newest)
    }

    /// - Parameter migrations: the steps that this program knows.
    package static func take(
        _ address: PostgreSQLAddress, migrations: PostgreSQLMigrations
    ) async throws(ServerError) -> DatabaseLock {
        let limits = PostgreSQLLimits.usual
        let backend = Backend()
        let hold = DatabaseLock(
            PostgreSQLSlot("holdfast.postgresql.hold", limits) { () throws(ServerError) in
                let connection = try PostgreSQLConnection(address, limits: limits, clock: nil)
                let process = try take(connection, migrations)
                backend.process.withLock { $0 = process }
                return connection
            }, backend)
        try await hold.renew()
        return hold
    }

    /// Verifies that the lock is still held, or acquires it again after the connection broke.
    /// - Throws: as ``take(_:)``.
    package func renew() async throws(ServerError) {
        try await slot.use { slot throws(ServerError) in
            do throws(ServerError) {
                try slot.connected().execute("SELECT 1")
            } catch {
                // An error ends the transaction and thereby the lock, even if the connection is still usable.
                slot.discard()
                guard error.code != .databaseInUse, error.code != .newerDatabase else { throw error }
                try slot.connected().execute("SELECT 1")
            }
        }
    }

    /// Acquires the lock exclusively until ``share()``, to change tables in a way that other servers do not support.
    /// - Throws: ``ServerError`` `databaseInUse` if another server has it as well.
    func takeAlone() async throws(ServerError) {
        try await slot.use { slot throws(ServerError) in try Self.requireFree(on: slot.connected()) }
    }

    /// Shares the lock with other servers again.
    /// - Throws: as ``take(_:)``.
    package func share() async throws(ServerError) {
        try await slot.use { slot throws(ServerError) in
            // The database releases the lock before it answers, not some time after the connection has closed.
            try slot.connected().rollback()
            slot.discard()
            try slot.connected().execute("SELECT 1")
        }
    }

    /// Keeps the lock during a long operation.
    /// - Parameter body: the operation.
    /// - Returns: its result.
    /// - Throws: its error.
    package func keeping<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        let renewing = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.pause)
                guard !Task.isCancelled else { return }
                // If this fails, the next user of the lock reports it.
                try? await renew()
            }
        }
        defer { renewing.cancel() }
        return try await body()
    }

    /// Releases the lock.
    package func release() async { await slot.close() }

    /// The interval of renewals: far shorter than the time after which the database ends an idle transaction.
    package static let pause: Duration = .seconds(5)

    /// An SQL expression for whether the lock is held.
    package var state: String {
        let process = backend.process.withLock { $0 } ?? 0
        return """
            CASE WHEN EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = \(process) \
            AND classid = \(Self.serving >> 32) AND objid = \(Self.serving & 0xFFFF_FFFF) AND objsubid = 1 \
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) \
            THEN 'held' ELSE 'lost' END
            """
    }

    /// The error for a server that writes without the lock.
    package static let lost = ServerError(
        .unreachableDatabase, of: "database", expected: "the right to serve from this database",
        found: "none at this moment; nothing of the transaction was written")

    /// Requires in a transaction that no other server works on its database; none can begin to before the transaction
    /// ends.
    static func requireFree(on connection: PostgreSQLConnection) throws(ServerError) {
        let rows = try connection.execute(
            "SELECT CASE WHEN pg_try_advisory_xact_lock(\(serving)) THEN 'free' ELSE 'taken' END")
        guard let row = rows.first, try row.text(0) == "free" else {
            throw ServerError(
                .databaseInUse, of: "database", expected: "newer tables, which are made while no server works on them",
                found: "older ones that a server works on",
                remedy:
                    "Stop serve first, on every machine, and start the newer program's serve; commands work again then."
            )
        }
    }

    /// - Returns: the backend process that has the lock.
    private static func take(
        _ connection: PostgreSQLConnection, _ migrations: PostgreSQLMigrations
    ) throws(ServerError) -> Int64 {
        // Between its statements such a transaction holds no snapshot, so the database keeps no old rows for it. A
        // server that vanished is noticed within a minute, also behind a pooler, whose own connection is intact.
        let rows = try connection.execute(
            """
            BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 60000; \
            SET LOCAL tcp_keepalives_idle = 15; SET LOCAL tcp_keepalives_interval = 5; \
            SET LOCAL tcp_keepalives_count = 3; \
            SELECT CASE WHEN pg_is_in_recovery() THEN 'standby' \
            WHEN pg_try_advisory_xact_lock_shared(\(serving)) THEN 'held' ELSE 'taken' END, \
            CAST(pg_backend_pid() AS text)
            """)
        let row = try rows.first.map { row throws(ServerError) in (try row.text(0), try row.text(1)) }
        if row?.0 == "standby" {
            throw ServerError(
                .readOnlyDatabase, of: "database", expected: "the primary", found: "a standby",
                remedy: "Name the primary, or add target_session_attrs=primary to an address with several hosts.")
        }
        guard let row, row.0 == "held", let process = Int64(row.1) else {
            throw ServerError(
                .databaseInUse, of: "database", expected: "a database that no server uses exclusively",
                found: "one that a server of an older version works on, or whose tables are being changed")
        }
        // Tables change only under the exclusive lock, so they stay the same from here on. Release the lock on the
        // table: it would last as long as this transaction, and block restoring a dump.
        try connection.execute("SAVEPOINT before")
        try migrations.requireLivable(on: connection)
        try connection.execute("ROLLBACK TO SAVEPOINT before; RELEASE SAVEPOINT before")
        return process
    }
}
