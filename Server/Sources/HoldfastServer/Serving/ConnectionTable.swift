import Synchronization

/// Counts the open connections, all of them and those of each source.
final class ConnectionTable: Sendable {
    private struct State {
        var total = 0
        var bySource: [SourcePrefix: Int] = [:]
    }

    private let limits: ListenerLimits
    private let state = Mutex(State())

    private let counters: ListenerCounters

    init(_ limits: ListenerLimits, _ counters: ListenerCounters) {
        self.limits = limits
        self.counters = counters
    }

    /// Counts a connection, if there may be one more.
    /// - Parameters:
    ///   - source: where it comes from.
    ///   - isProxy: whether it carries the requests of many clients.
    func open(_ source: SourcePrefix, isProxy: Bool) -> Bool {
        let total: Int? = state.withLock { state in
            let ofSource = state.bySource[source] ?? 0
            guard state.total < limits.connections, isProxy || ofSource < limits.connectionsPerSource else {
                return nil
            }
            state.total += 1
            state.bySource[source] = ofSource + 1
            return state.total
        }
        guard let total else {
            counters.countRefusedConnection()
            return false
        }
        counters.set(connections: total)
        return true
    }

    /// Counts a connection no longer.
    func close(_ source: SourcePrefix) {
        let total = state.withLock { state in
            state.total -= 1
            let left = (state.bySource[source] ?? 1) - 1
            state.bySource[source] = left > 0 ? left : nil
            return state.total
        }
        counters.set(connections: total)
    }
}
