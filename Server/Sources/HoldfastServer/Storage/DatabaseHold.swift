import CLibPQ
import Foundation
import Holdfast
import Synchronization

/// The right to serve from a database of PostgreSQL, which one server has at a time: its folder has the head of the audit,
/// and documents wait for that folder.
///
/// It is a lock in a transaction that stays open, so it is gone when the process is, however that ends, and it works
/// through a pooler in transaction mode. Commands need none.
public final class DatabaseHold: Sendable {
    private let slot: PostgreSQLSlot

    /// Another one than that of writers.
    private static let serving = PostgreSQLConnection.writing + 1

    private init(_ slot: PostgreSQLSlot) { self.slot = slot }

    /// Takes a database.
    /// - Throws: ``ServerError`` `databaseInUse` if another server has it, `unreachableDatabase`.
    public static func take(_ address: PostgreSQLAddress) async throws(ServerError) -> DatabaseHold {
        let limits = PostgreSQLLimits.usual
        let hold = DatabaseHold(
            PostgreSQLSlot("holdfast.postgresql.hold", limits) { () throws(ServerError) in
                let connection = try PostgreSQLConnection(address, limits: limits, clock: nil)
                try take(connection)
                return connection
            })
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
                slot.settle()
                guard error.code != .databaseInUse else { throw error }
                try slot.connected().execute("SELECT 1")
            }
        }
    }

    /// Gives it back.
    public func release() async { await slot.close() }

    private static func take(_ connection: PostgreSQLConnection) throws(ServerError) {
        // Between its statements such a transaction sees no state, so nothing is kept for it. A server that vanished is
        // noticed within a minute.
        let rows = try connection.execute(
            """
            BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0; \
            SET LOCAL tcp_keepalives_idle = 15; SET LOCAL tcp_keepalives_interval = 5; \
            SET LOCAL tcp_keepalives_count = 3; \
            SELECT CASE WHEN pg_try_advisory_xact_lock(\(serving)) THEN 'held' ELSE 'taken' END
            """)
        guard let row = rows.first, try row.text(0) == "held" else {
            throw ServerError(
                .databaseInUse, of: "database", expected: "a database that no other server works on",
                found: "one that another server has")
        }
    }
}
