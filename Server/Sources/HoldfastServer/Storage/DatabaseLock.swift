import CLibPQ
import Foundation
import Holdfast
import Synchronization

/// The right to serve from a database of PostgreSQL, which any number of servers have together, each of a folder of its own.
/// Whoever changes tables in a way that these servers cannot live with has it alone.
///
/// It is a lock in a transaction that stays open, so it is gone when the process is, however that ends, and it works
/// through a pooler in transaction mode. Commands need none.
public final class DatabaseLock: Sendable {
    private let slot: PostgreSQLSlot
    /// The process of the database that has the lock; nil while there is none.
    private let backend: Backend

    /// Shared with what connects.
    private final class Backend: Sendable {
        let process = Mutex<Int64?>(nil)
    }

    /// Another one than that of writers.
    private static let serving = PostgreSQLConnection.writing + 1

    private init(_ slot: PostgreSQLSlot, _ backend: Backend) {
        self.slot = slot
        self.backend = backend
    }

    /// Takes a database, beside the other servers that have it.
    /// - Throws: ``ServerError`` `databaseInUse` if a server of before has it alone, or somebody changes its tables;
    ///   `newerDatabase` for tables that this program cannot work on; `readOnlyDatabase` for a copy that follows another
    ///   database; `unreachableDatabase`.
    public static func take(_ address: PostgreSQLAddress) async throws(ServerError) -> DatabaseLock {
        try await take(address, migrations: .newest)
    }

    /// - Parameter migrations: the steps that this program knows.
    static func take(
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

    /// Makes sure that it is still held, or takes it anew after the connection broke.
    /// - Throws: as ``take(_:)``.
    public func renew() async throws(ServerError) {
        try await slot.use { slot throws(ServerError) in
            do throws(ServerError) {
                try slot.connected().execute("SELECT 1")
            } catch {
                // An error ends the transaction and with it the lock, even where the connection is whole.
                slot.discard()
                guard error.code != .databaseInUse, error.code != .newerDatabase else { throw error }
                try slot.connected().execute("SELECT 1")
            }
        }
    }

    /// Takes it alone, to change tables in a way that other servers cannot live with, until ``share()``.
    /// - Throws: ``ServerError`` `databaseInUse` if another server has it as well.
    func takeAlone() async throws(ServerError) {
        try await slot.use { slot throws(ServerError) in try Self.requireFree(on: slot.connected()) }
    }

    /// Lets other servers have it as well.
    /// - Throws: as ``take(_:)``.
    func share() async throws(ServerError) {
        try await slot.use { slot throws(ServerError) in
            // The database lets go of it before it answers, and not some time after the connection is gone.
            try slot.connected().rollback()
            slot.discard()
            try slot.connected().execute("SELECT 1")
        }
    }

    /// Does something that may take long, and keeps the hold meanwhile.
    /// - Parameter body: what is done.
    /// - Returns: what it returns.
    /// - Throws: what it throws.
    public func keeping<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        let renewing = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.pause)
                guard !Task.isCancelled else { return }
                // Whoever serves afterwards learns of what fails here.
                try? await renew()
            }
        }
        defer { renewing.cancel() }
        return try await body()
    }

    /// Gives it back.
    public func release() async { await slot.close() }

    /// How often it is renewed: far more often than the database ends what is idle.
    static let pause: Duration = .seconds(5)

    /// What says in a statement whether it is held.
    var state: String {
        let process = backend.process.withLock { $0 } ?? 0
        return """
            CASE WHEN EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = \(process) \
            AND classid = \(Self.serving >> 32) AND objid = \(Self.serving & 0xFFFF_FFFF) AND objsubid = 1 \
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) \
            THEN 'held' ELSE 'lost' END
            """
    }

    /// What a server is told that writes and may not.
    static let lost = ServerError(
        .unreachableDatabase, of: "database", expected: "the right to serve from this database",
        found: "none at this moment; nothing of the transaction was written")

    /// Requires in a transaction that no other server works on its database; none can begin to before it ends.
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

    /// - Returns: the process of the database that has it.
    private static func take(
        _ connection: PostgreSQLConnection, _ migrations: PostgreSQLMigrations
    ) throws(ServerError) -> Int64 {
        // Between its statements such a transaction sees no state, so nothing is kept for it. A server that vanished is
        // noticed within a minute, also behind a pooler, whose own connection is well.
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
                .databaseInUse, of: "database", expected: "a database that nobody has alone",
                found: "one that a server of an older version works on, or whose tables are being changed")
        }
        // Whoever changed them had it alone, so from here on they stay as they are. A lock on the table would be kept for as
        // long as this transaction, and hold up whoever restores a dump.
        try connection.execute("SAVEPOINT before")
        try migrations.requireLivable(on: connection)
        try connection.execute("ROLLBACK TO SAVEPOINT before; RELEASE SAVEPOINT before")
        return process
    }
}
