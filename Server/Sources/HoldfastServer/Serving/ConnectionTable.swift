import Synchronization

/// Counts the open connections, all of them and those of each source, and the handshakes that a source begins.
final class ConnectionTable: Sendable {
    private struct State {
        var total = 0
        var bySource: [SourcePrefix: Int] = [:]
        var handshakes: TokenBuckets<SourcePrefix>
    }

    /// What becomes of a connection.
    private enum Answer {
        case taken(total: Int)
        case tooManyConnections, tooManyHandshakes
    }

    private let limits: ListenerLimits
    private let speaksTLS: Bool
    private let state: Mutex<State>

    private let counters: ListenerCounters

    /// - Parameters:
    ///   - limits: what a source may have.
    ///   - speaksTLS: whether each connection begins with a handshake, and so with a signature.
    ///   - counters: counts what is refused.
    init(_ limits: ListenerLimits, speaksTLS: Bool, _ counters: ListenerCounters) {
        self.limits = limits
        self.speaksTLS = speaksTLS
        self.counters = counters
        state = Mutex(
            State(
                handshakes: TokenBuckets(
                    rate: limits.handshakesPerSecond, burst: Double(max(1, limits.handshakesAtOnce)))))
    }

    /// Counts a connection, if there may be one more.
    /// - Parameters:
    ///   - source: where it comes from.
    ///   - isProxy: whether it carries the requests of many clients.
    ///   - now: nanoseconds that never go back.
    func open(_ source: SourcePrefix, isProxy: Bool, at now: UInt64) -> Bool {
        let answer: Answer = state.withLock { state in
            let ofSource = state.bySource[source] ?? 0
            guard state.total < limits.connections, isProxy || ofSource < limits.connectionsPerSource else {
                return .tooManyConnections
            }
            guard !speaksTLS || isProxy || state.handshakes.take(source, at: now) == nil else {
                return .tooManyHandshakes
            }
            state.total += 1
            state.bySource[source] = ofSource + 1
            return .taken(total: state.total)
        }
        switch answer {
        case .taken(let total):
            counters.set(connections: total)
            if speaksTLS { counters.countHandshake() }
            return true
        case .tooManyConnections: counters.countRefusedConnection()
        case .tooManyHandshakes: counters.countRefusedHandshake()
        }
        return false
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
