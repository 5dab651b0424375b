public import Foundation

/// A database. Engines differ only in this: everything above runs as it is on each.
///
/// A transaction is one closure that does not wait for anything else, so no lock is ever held across an upload, a
/// signature program or a peer.
public protocol StorageEngine: Sendable {
    /// Whether only this machine can write to the database.
    var isOfOneMachine: Bool { get }

    /// The space that is held back for a full disk; nil for a database that is on no disk of this machine.
    var reserve: DiskReserve? { get }

    /// Runs a closure in a transaction that sees one state and writes nothing.
    /// - Throws: what the closure throws, or a ``ServerError`` of the database.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageSession) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value

    /// Runs a closure in a transaction that writes: everything it did is on the disk when this returns, or nothing of it
    /// is anywhere if it throws.
    /// - Parameters:
    ///   - body: what to do.
    ///   - onCommit: gets the result once it is on the disk, before any later transaction of this engine begins.
    /// - Throws: what the closure throws, or a ``ServerError`` of the database.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageSession) throws(ServerError) -> Value,
        onCommit: @escaping @Sendable (Value) -> Void
    ) async throws(ServerError) -> Value

    /// Ends all work with the database; later transactions fail.
    func close() async
}

/// A database inside one transaction. It must not leave the closure.
public protocol StorageSession {
    /// Runs one statement.
    /// - Parameters:
    ///   - query: the statement.
    ///   - values: for its parameters, from `$1` on.
    /// - Returns: the rows, empty for a statement that returns none.
    /// - Throws: ``ServerError``.
    @discardableResult
    func run(_ query: Query, _ values: [StorageValue]) throws(ServerError) -> [StorageRow]

    /// Writes all that this transaction sees into a new file, from which ``SQLiteEngine`` opens it.
    /// - Throws: ``ServerError``; there may be a part of the file then.
    func copy(to file: URL) throws(ServerError)
}

extension StorageEngine {
    /// Whether every role of the cluster may connect to the database, as PostgreSQL grants it to new ones; false for a file.
    /// - Throws: ``ServerError`` of the database.
    func isOpenToPublic() async throws(ServerError) -> Bool {
        guard !isOfOneMachine else { return false }
        return try await read { session throws(ServerError) in
            let row = try session.run(
                "SELECT CASE WHEN has_database_privilege('public', current_database(), 'CONNECT') THEN 1 ELSE 0 END"
            ).first
            return try row?.integer(0) == 1
        }
    }

    /// Whether only this machine can write to the database, as with a file.
    public var isOfOneMachine: Bool { true }

    /// None, unless it is on a disk of this machine.
    public var reserve: DiskReserve? { nil }

    /// Runs a closure in a transaction that writes.
    /// - Throws: what the closure throws, or a ``ServerError`` of the database.
    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageSession) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value {
        try await write(body, onCommit: { _ in })
    }
}

extension StorageSession {
    /// Runs one statement without parameters.
    @discardableResult
    func run(_ query: Query) throws(ServerError) -> [StorageRow] { try run(query, []) }

    /// The database's time, in seconds since 1970.
    public func now() throws(ServerError) -> Int64 {
        guard let row = try run("SELECT {now}").first else {
            throw ServerError(.database, expected: "the time", found: "no row")
        }
        return try row.integer(0)
    }
}
