import Foundation
import Synchronization

@testable import ServerFoundation
@testable import ServerStore

/// A database that counts its queries, by their texts.
final class CountingEngine: StorageEngine {
    private let engine: any StorageEngine
    private let counts = Mutex<[String: Int]>([:])
    private let returned = Mutex(0)

    init(_ engine: any StorageEngine) { self.engine = engine }

    var isOfOneMachine: Bool { engine.isOfOneMachine }
    var reserve: DiskReserve? { engine.reserve }

    /// How often a query was run whose text has these words.
    func count(of words: String) -> Int {
        counts.withLock { counts in counts.reduce(0) { $1.key.contains(words) ? $0 + $1.value : $0 } }
    }

    /// How many queries were run.
    var queries: Int { counts.withLock { $0.values.reduce(0, +) } }
    /// How many rows they returned.
    var rows: Int { returned.withLock { $0 } }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageSession) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value {
        try await engine.read { [self] session throws(ServerError) in
            try body(Session(session: session, engine: self))
        }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageSession) throws(ServerError) -> Value,
        onCommit: @escaping @Sendable (Value) -> Void
    ) async throws(ServerError) -> Value {
        try await engine.write(
            { [self] session throws(ServerError) in try body(Session(session: session, engine: self)) },
            onCommit: onCommit)
    }

    func close() async { await engine.close() }

    private struct Session: StorageSession {
        let session: any StorageSession
        let engine: CountingEngine

        func run(_ query: Query, _ values: [StorageValue]) throws(ServerError) -> [StorageRow] {
            engine.counts.withLock { $0[query.text, default: 0] += 1 }
            let rows = try session.run(query, values)
            engine.returned.withLock { $0 += rows.count }
            return rows
        }

        func copy(to file: URL) throws(ServerError) { try session.copy(to: file) }
    }
}
