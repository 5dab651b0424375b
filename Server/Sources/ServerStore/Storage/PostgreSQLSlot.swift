import Dispatch
import ServerFoundation
import Synchronization

/// A thread with a connection that is opened when it is needed, and opened again after it broke.
final class PostgreSQLSlot: Sendable {
    private let queue: DispatchQueue
    private let limits: PostgreSQLLimits
    private let connect: @Sendable () throws(ServerError) -> PostgreSQLConnection
    // Only the queue accesses them.
    nonisolated(unsafe) private var connection: PostgreSQLConnection?
    nonisolated(unsafe) private var isClosed = false

    init(
        _ name: String, _ limits: PostgreSQLLimits,
        connect: @escaping @Sendable () throws(ServerError) -> PostgreSQLConnection
    ) {
        queue = DispatchQueue(label: name)
        self.limits = limits
        self.connect = connect
    }

    /// Runs a closure on its thread, after those requested before.
    func use<Value: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLSlot) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value {
        let result: Result<Value, ServerError> = await withCheckedContinuation { continuation in
            run(since: .now) { continuation.resume(returning: $0.flatMap { slot in Self.result(slot, body) }) }
        }
        return try result.get()
    }

    /// Runs a closure on its thread.
    /// - Parameters:
    ///   - start: the time since which it waits.
    ///   - body: gets the slot, or the error that prevents its use.
    func run(
        since start: ContinuousClock.Instant, _ body: @escaping @Sendable (Result<PostgreSQLSlot, ServerError>) -> Void
    ) {
        queue.async { [self] in
            if unsafe isClosed {
                body(.failure(ServerError(.database, expected: "an open database", found: "a closed one")))
            } else if ContinuousClock.now - start > limits.connection {
                body(.failure(Self.late))
            } else {
                body(.success(self))
            }
        }
    }

    static func result<Value>(
        _ slot: PostgreSQLSlot, _ body: (PostgreSQLSlot) throws(ServerError) -> Value
    ) -> Result<Value, ServerError> {
        do throws(ServerError) { return .success(try body(slot)) } catch { return .failure(error) }
    }

    /// Closes it after the closures requested before.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                unsafe connection = nil
                unsafe isClosed = true
                continuation.resume()
            }
        }
    }

    private static let late = ServerError(
        .lockedDatabase, of: "database", expected: "a connection that is free in time", found: "none",
        remedy: "Look at what holds up the database; what waits is asked again later.")

    // MARK: On its thread

    /// A connection.
    func connected() throws(ServerError) -> PostgreSQLConnection {
        if let connection = unsafe connection { return connection }
        let made = try connect()
        unsafe connection = made
        return made
    }

    /// A connection in a new transaction.
    func begun(
        _ mode: PostgreSQLConnection.Mode
    ) throws(ServerError) -> (PostgreSQLConnection, PostgreSQLConnection.Ticket?) {
        let isKept = unsafe connection != nil
        do throws(ServerError) {
            return try begin(mode)
        } catch {
            // The database or the pooler was restarted since the last transaction. Nothing of this one has happened
            // yet, so retry.
            guard isKept, unsafe connection == nil else { throw error }
            return try begin(mode)
        }
    }

    private func begin(
        _ mode: PostgreSQLConnection.Mode
    ) throws(ServerError) -> (PostgreSQLConnection, PostgreSQLConnection.Ticket?) {
        let connection = try connected()
        do throws(ServerError) {
            return (connection, try connection.begin(mode))
        } catch {
            connection.rollback()
            settle()
            throw error
        }
    }

    /// Drops a broken connection.
    func settle() {
        if unsafe connection?.isBroken ?? false { unsafe connection = nil }
    }

    /// Drops a connection, with its transaction.
    func discard() { unsafe connection = nil }

    /// Determines the outcome of a commit without a response.
    ///
    /// It acquires the lock of the transaction again, which proves that the transaction has ended.
    /// - Throws: ``ServerError`` `commitInDoubt` if the outcome is unknown, `unreachableDatabase` if nothing was
    ///   written.
    func requireCommitted(_ ticket: PostgreSQLConnection.Ticket?) throws(ServerError) {
        unsafe connection = nil
        let status: StorageRow?
        do throws(ServerError) {
            guard let ticket else { throw PostgreSQLFailure.inDoubt }
            let (connection, now) = try begin(.writing)
            defer { connection.rollback() }
            guard let now, now.isOfSameRun(as: ticket) else { throw PostgreSQLFailure.inDoubt }
            status = try connection.run(
                text: "SELECT pg_xact_status(CAST($1 AS xid8))", [.text(ticket.transaction)]
            ).first
        } catch {
            throw PostgreSQLFailure.inDoubt
        }
        switch status?[0] {
        case .text("committed"): return
        case .text("aborted"): throw PostgreSQLFailure.unreachable("a connection that broke while it committed")
        default: throw PostgreSQLFailure.inDoubt
        }
    }
}
