package import Foundation
package import Holdfast
package import ServerFoundation

/// ``StorageEngine`` on SQLite: one file, write-ahead log, every transaction on disk when it returns.
///
/// One connection, used by one dedicated thread: transactions wait for the disk, and must not block threads that answer
/// clients.
package final class SQLiteEngine: StorageEngine {
    private let queue = DispatchQueue(label: "holdfast.sqlite")
    private let connection: SharedConnection
    /// The space reserved next to the file.
    package let reserve: DiskReserve?

    /// Opens a database, and migrates it to the newest version of its tables.
    /// - Parameters:
    ///   - file: the file; created with mode 0600 if it does not exist.
    ///   - clock: the time that queries see.
    ///   - patience: the time to wait for another program's lock.
    /// - Throws: ``ServerError`` `newerDatabase`, `damagedDatabase`, `readOnlyDatabase`, `lockedDatabase`,
    ///   `fullDatabase` or `file`.
    package init(_ file: URL, clock: any WallClock, patience: Duration = .seconds(5)) throws(ServerError) {
        let reserve = DiskReserve(in: file.deletingLastPathComponent())
        do throws(ServerError) {
            connection = SharedConnection(try Self.opened(file, clock: clock, patience: patience))
        } catch {
            guard reserve.isGivenUp(because: error) else { throw error }
            connection = SharedConnection(try Self.opened(file, clock: clock, patience: patience))
        }
        self.reserve = reserve
    }

    private static func opened(
        _ file: URL, clock: any WallClock, patience: Duration
    ) throws(ServerError) -> SQLiteConnection {
        // SQLite gives the log the mode of the database.
        let descriptor = unsafe open(file.path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600 as mode_t)
        guard descriptor >= 0 else {
            let isReadOnly = [EACCES, EPERM, EROFS].contains(errno)
            throw ServerError(
                isReadOnly ? .readOnlyDatabase : .file, of: file.path,
                expected: "a file that can be written and is no link", found: SystemText.of(errno))
        }
        Foundation.close(descriptor)
        let milliseconds = Int32(clamping: patience.components.seconds * 1_000)
        let connection = try SQLiteConnection(file.path, clock: clock, patience: milliseconds)
        try connection.prepare()
        try SQLiteMigrations.run(on: connection)
        return connection
    }

    /// Opens a database that cannot be written, such as one on a disk that is full or read-only. Writing transactions
    /// fail.
    /// - Parameters:
    ///   - file: the file.
    ///   - clock: the time that queries see.
    ///   - patience: the time to wait for another program's lock.
    /// - Throws: ``ServerError`` as ``init(_:clock:patience:)``; `readOnlyDatabase` also for one that needs a
    ///   migration.
    package init(
        reading file: URL, clock: any WallClock, patience: Duration = .seconds(5)
    ) throws(ServerError) {
        let milliseconds = Int32(clamping: patience.components.seconds * 1_000)
        let connection = try SQLiteConnection(
            file.path, access: .reading, clock: clock, patience: milliseconds)
        try connection.prepareReading()
        try SQLiteMigrations.requireNewest(on: connection)
        self.connection = SharedConnection(connection)
        reserve = DiskReserve(in: file.deletingLastPathComponent())
    }

    /// Runs a closure in a transaction that sees one snapshot and writes nothing.
    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageSession) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value {
        try await transaction("BEGIN DEFERRED", "PRAGMA query_only = ON", body, { _ in })
    }

    /// Runs a closure in a transaction that takes the lock at once, and is on disk when this returns. If the disk is
    /// full, it frees the reserved space and runs again.
    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageSession) throws(ServerError) -> Value,
        onCommit: @escaping @Sendable (Value) -> Void
    ) async throws(ServerError) -> Value {
        // Takes the lock at once: a transaction that reads first and writes later would fail in the middle.
        do throws(ServerError) {
            return try await transaction("BEGIN IMMEDIATE", "PRAGMA query_only = OFF", body, onCommit)
        } catch {
            guard reserve?.isGivenUp(because: error) == true else { throw error }
            return try await transaction("BEGIN IMMEDIATE", "PRAGMA query_only = OFF", body, onCommit)
        }
    }

    /// Closes the database once its transactions have ended.
    package func close() async {
        await withCheckedContinuation { continuation in
            queue.async { [connection] in
                unsafe connection.value = nil
                continuation.resume()
            }
        }
    }

    private func transaction<Value: Sendable>(
        _ begin: String, _ mode: String,
        _ body: @escaping @Sendable (any StorageSession) throws(ServerError) -> Value,
        _ onCommit: @escaping @Sendable (Value) -> Void
    ) async throws(ServerError) -> Value {
        let result: Result<Value, ServerError> = await withCheckedContinuation { continuation in
            queue.async { [connection] in
                let result = connection.transaction(begin, mode, body)
                if case .success(let value) = result { onCommit(value) }
                continuation.resume(returning: result)
            }
        }
        return try result.get()
    }
}

/// The connection, accessed only by the queue of its engine.
private final class SharedConnection: Sendable {
    nonisolated(unsafe) var value: SQLiteConnection?

    init(_ connection: SQLiteConnection) { unsafe value = connection }

    func transaction<Value>(
        _ begin: String, _ mode: String, _ body: (any StorageSession) throws(ServerError) -> Value
    ) -> Result<Value, ServerError> {
        guard let connection = unsafe value else {
            return .failure(ServerError(.database, expected: "an open database", found: "a closed one"))
        }
        do throws(ServerError) {
            try connection.execute(mode)
            try connection.execute(begin)
            let value = try body(connection)
            try connection.execute("COMMIT")
            return .success(value)
        } catch {
            // After some errors SQLite has rolled back already, and this statement fails.
            try? connection.execute("ROLLBACK")
            return .failure(error)
        }
    }
}
