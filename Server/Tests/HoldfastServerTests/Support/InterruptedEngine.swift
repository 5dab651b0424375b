import Synchronization
import Testing

@testable import ServerFoundation
@testable import ServerStore

/// A database to which another process writes first: once, right before a transaction that writes, and after everything
/// that was read for it.
final class InterruptedEngine: StorageEngine {
    private let engine: any StorageEngine
    private let interruption = Mutex<(@Sendable () async throws -> Void)?>(nil)

    init(_ engine: any StorageEngine) { self.engine = engine }

    var isOfOneMachine: Bool { engine.isOfOneMachine }
    var reserve: DiskReserve? { engine.reserve }

    /// Whether nothing is to be done anymore before the next transaction that writes.
    var wasInterrupted: Bool { interruption.withLock { $0 == nil } }

    /// Does something before the next transaction that writes.
    func interrupt(_ body: @escaping @Sendable () async throws -> Void) {
        interruption.withLock { $0 = body }
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageSession) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value {
        try await engine.read(body)
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StorageSession) throws(ServerError) -> Value,
        onCommit: @escaping @Sendable (Value) -> Void
    ) async throws(ServerError) -> Value {
        let interruption = interruption.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        do {
            try await interruption?()
        } catch {
            Issue.record(error)
        }
        return try await engine.write(body, onCommit: onCommit)
    }

    func close() async { await engine.close() }
}
