package import Foundation
package import ServerFoundation

/// A database. The engine is the only part that differs: all code above runs unchanged on each.
///
/// A transaction is one closure that waits for nothing else, so no lock is ever held during an upload, a signer program
/// or a request to a peer.
package protocol StorageEngine: Sendable {
    /// Whether only this machine can write to the database.
    var isOfOneMachine: Bool { get }

    /// The space reserved for a full disk; nil for a database that is not on a disk of this machine.
    var reserve: DiskReserve? { get }

    /// Runs a closure in a transaction that sees one snapshot and writes nothing.
    /// - Throws: the error of the closure, or a ``ServerError`` of the database.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageSession) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value

    /// Runs a closure in a transaction that writes: all its changes are on disk when this returns, or none if it
    /// throws.
    /// - Parameters:
    ///   - body: the closure.
    ///   - onCommit: gets the result once it is on disk, before any later transaction of this engine begins.
    /// - Throws: the error of the closure, or a ``ServerError`` of the database.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageSession) throws(ServerError) -> Value,
        onCommit: @escaping @Sendable (Value) -> Void
    ) async throws(ServerError) -> Value

    /// Closes the database; later transactions fail.
    func close() async
}

/// A database inside one transaction. It must not leave the closure.
package protocol StorageSession {
    /// Runs one statement.
    /// - Parameters:
    ///   - query: the statement.
    ///   - values: for its parameters, from `$1` on.
    /// - Returns: the rows, empty for a statement that returns none.
    /// - Throws: ``ServerError``.
    @discardableResult
    func run(_ query: Query, _ values: [StorageValue]) throws(ServerError) -> [StorageRow]

    /// Writes everything that this transaction sees into a new file, which ``SQLiteEngine`` can open.
    /// - Throws: ``ServerError``; the file may be incomplete then.
    func copy(to file: URL) throws(ServerError)
}

extension StorageEngine {
    /// Whether every role of the cluster may connect to the database, which is PostgreSQL's default; false for a file.
    /// - Throws: ``ServerError`` of the database.
    package func isOpenToPublic() async throws(ServerError) -> Bool {
        guard !isOfOneMachine else { return false }
        return try await read { session throws(ServerError) in
            let row = try session.run(
                "SELECT CASE WHEN has_database_privilege('public', current_database(), 'CONNECT') THEN 1 ELSE 0 END"
            ).first
            return try row?.integer(0) == 1
        }
    }

    /// Whether only this machine can write to the database, as with a file.
    package var isOfOneMachine: Bool { true }

    /// Nil by default.
    package var reserve: DiskReserve? { nil }

    /// Runs a closure in a transaction that writes.
    /// - Throws: the error of the closure, or a ``ServerError`` of the database.
    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageSession) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value {
        try await write(body, onCommit: { _ in })
    }
}

extension StorageSession {
    /// Runs one statement without parameters.
    @discardableResult
    package func run(_ query: Query) throws(ServerError) -> [StorageRow] { try run(query, []) }

    /// The database's time, in seconds since 1970.
    package func now() throws(ServerError) -> Int64 {
        guard let row = try run("SELECT {now}").first else {
            throw ServerError(.database, expected: "the time", found: "no row")
        }
        return try row.integer(0)
    }
}
