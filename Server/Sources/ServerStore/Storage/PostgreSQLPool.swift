import ServerFoundation
import Synchronization

/// A pool of connections, each with one user at a time; further users wait for the next free one.
final class PostgreSQLPool: Sendable {
    private struct State {
        var free: [PostgreSQLSlot]
        var waiting: [@Sendable (PostgreSQLSlot) -> Void] = []
    }

    private let slots: [PostgreSQLSlot]
    private let state: Mutex<State>

    init(_ slots: [PostgreSQLSlot], _ limits: PostgreSQLLimits) {
        self.slots = slots
        // The connection that was used last is used again, so that unneeded ones stay closed.
        state = Mutex(State(free: slots.reversed()))
    }

    /// Runs a closure with a connection.
    func use<Value: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLSlot) throws(ServerError) -> Value
    ) async throws(ServerError) -> Value {
        let start = ContinuousClock.now
        let result: Result<Value, ServerError> = await withCheckedContinuation { continuation in
            take { [self] slot in
                slot.run(since: start) { [self] usable in
                    let result = usable.flatMap { PostgreSQLSlot.result($0, body) }
                    give(slot)
                    continuation.resume(returning: result)
                }
            }
        }
        return try result.get()
    }

    /// Closes all connections after the pending closures.
    func close() async { for slot in slots { await slot.close() } }

    private func take(_ body: @escaping @Sendable (PostgreSQLSlot) -> Void) {
        let slot = state.withLock { state -> PostgreSQLSlot? in
            if let slot = state.free.popLast() { return slot }
            state.waiting.append(body)
            return nil
        }
        if let slot { body(slot) }
    }

    private func give(_ slot: PostgreSQLSlot) {
        let next = state.withLock { state -> (@Sendable (PostgreSQLSlot) -> Void)? in
            guard !state.waiting.isEmpty else {
                state.free.append(slot)
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?(slot)
    }
}
