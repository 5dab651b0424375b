import Dispatch
import Synchronization

/// A thread with a connection that is made when it is needed, and made anew after it broke.
final class PostgreSQLSlot: Sendable {
    private let queue: DispatchQueue
    private let limits: PostgreSQLLimits
    private let connect: @Sendable () throws(ServerError) -> PostgreSQLConnection
    // Only the queue touches them.
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

    /// Does something on its thread, after what was asked for before.
    func use<Value: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLSlot) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value {
        let result: Result<Value, ServerError> = await withCheckedContinuation { continuation in
            run(since: .now) { continuation.resume(returning: $0.flatMap { slot in Self.result(slot, body) }) }
        }
        return try result.get()
    }

    /// Does something on its thread.
    /// - Parameters:
    ///   - start: since when it waits.
    ///   - body: gets the slot, or why it cannot be used.
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

    /// Closes it after what was asked for before.
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
            // The database was started anew since the last transaction, or the pooler: nothing of this one has happened.
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

    /// Throws a connection away that broke.
    func settle() {
        if unsafe connection?.isBroken ?? false { unsafe connection = nil }
    }

    /// Throws a connection away, with all that its transaction has.
    func discard() { unsafe connection = nil }

    /// Finds out what became of a commit that was not answered.
    ///
    /// The lock of the transaction is taken anew: whoever gets it knows that the transaction has ended.
    /// - Throws: ``ServerError`` `commitInDoubt` if nobody can tell, `unreachableDatabase` if nothing was written.
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
