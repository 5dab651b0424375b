import Synchronization

/// The open connections of a listener: their number, the number per network, and which one to close if a new one finds
/// no room. It also counts the handshakes that each source starts.
///
/// A connection beyond the limit replaces the oldest one of the network that has the most, comparing the largest
/// networks first, so clients with many connections lose theirs first. Connections younger than
/// ``ListenerLimits/evictionAge`` are kept, since a slow phone may still be in its handshake, and so are those of
/// proxies.
final class ConnectionTable: Sendable {
    /// Identifies an open connection; later ones have larger numbers.
    struct Ticket: Sendable, Hashable {
        fileprivate let number: UInt64
    }

    private struct Entry {
        let source: SourcePrefix
        let opened: UInt64
        let isProxy: Bool
        let evict: @Sendable () -> Void
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        /// The evictable connections of each source, oldest first.
        var bySource: [SourcePrefix: [UInt64]] = [:]
        var shares: SourceShares
        var next: UInt64 = 0
        /// Before this time, no connection is old enough, so a search is unnecessary.
        var nextEviction: UInt64 = 0
        var handshakes: SourceBuckets
    }

    /// The outcome for a new connection.
    private enum Answer {
        case taken(Ticket, total: Int, evicted: (@Sendable () -> Void)?)
        case tooManyConnections, tooManyHandshakes
    }

    private let limits: ListenerLimits
    private let speaksTLS: Bool
    private let state: Mutex<State>

    private let counters: ListenerCounters

    /// - Parameters:
    ///   - limits: the limits per source and in total.
    ///   - speaksTLS: whether each connection starts with a handshake, and so costs a signature.
    ///   - counters: counts refused connections.
    init(_ limits: ListenerLimits, speaksTLS: Bool, _ counters: ListenerCounters) {
        self.limits = limits
        self.speaksTLS = speaksTLS
        self.counters = counters
        state = Mutex(
            State(
                shares: SourceShares(limits.connectionShares),
                handshakes: SourceBuckets(
                    rate: limits.handshakesPerSecond, burst: Double(max(1, limits.handshakesAtOnce)))))
    }

    /// Admits a connection if there is room, or if another one can be closed for it.
    /// - Parameters:
    ///   - source: the source of the connection.
    ///   - isProxy: whether it carries the requests of many clients.
    ///   - now: a monotonic time in nanoseconds.
    ///   - evict: closes the connection. It is called from any thread, at most once.
    /// - Returns: the ticket for ``close(_:)``; nil if there is no room.
    func open(
        _ source: SourcePrefix, isProxy: Bool, at now: UInt64, evict: @escaping @Sendable () -> Void = {}
    ) -> Ticket? {
        let answer: Answer = state.withLock { state in
            guard isProxy || state.shares.hasRoom(for: 1, of: source) else { return .tooManyConnections }
            // A connection that finds no room must not count against its source's rate.
            var victim: UInt64?
            if state.entries.count >= limits.connections {
                victim = Self.victim(&state, at: now, minimumAge: limits.evictionAge)
                guard victim != nil else { return .tooManyConnections }
            }
            guard !speaksTLS || isProxy || state.handshakes.take(source, at: now) == nil else {
                return .tooManyHandshakes
            }
            let evicted = victim.flatMap { Self.remove($0, &state)?.evict }
            let number = state.next
            state.next += 1
            state.entries[number] = Entry(source: source, opened: now, isProxy: isProxy, evict: evict)
            if !isProxy {
                state.bySource[source, default: []].append(number)
                state.shares.add(1, of: source)
            }
            return .taken(Ticket(number: number), total: state.entries.count, evicted: evicted)
        }
        switch answer {
        case .taken(let ticket, let total, let evicted):
            counters.set(connections: total)
            if speaksTLS { counters.countHandshake() }
            if let evicted {
                counters.countEvictedConnection()
                evicted()
            }
            return ticket
        case .tooManyConnections: counters.countRefusedConnection()
        case .tooManyHandshakes: counters.countRefusedHandshake()
        }
        return nil
    }

    /// Removes a connection from the count, unless it was evicted before.
    func close(_ ticket: Ticket) {
        let total = state.withLock { state in
            _ = Self.remove(ticket.number, &state)
            return state.entries.count
        }
        counters.set(connections: total)
    }

    private static func remove(_ number: UInt64, _ state: inout State) -> Entry? {
        guard let entry = state.entries.removeValue(forKey: number) else { return nil }
        guard !entry.isProxy else { return entry }
        state.shares.remove(1, of: entry.source)
        var numbers = state.bySource[entry.source] ?? []
        // The numbers of a source are in ascending order.
        if let index = numbers.firstIndex(of: number) { numbers.remove(at: index) }
        state.bySource[entry.source] = numbers.isEmpty ? nil : numbers
        return entry
    }

    /// The connection to evict: among those that are old enough, the oldest of the fullest network.
    private static func victim(_ state: inout State, at now: UInt64, minimumAge: UInt64) -> UInt64? {
        guard now >= state.nextEviction else { return nil }
        var best: (rank: (Int, Int, Int), opened: UInt64, number: UInt64)?
        var oldest = UInt64.max
        for (source, numbers) in state.bySource {
            guard let number = numbers.first, let opened = state.entries[number]?.opened else { continue }
            oldest = min(oldest, opened)
            guard now >= opened, now - opened >= minimumAge else { continue }
            // From the largest network to the smallest; for IPv4 one size represents all.
            let rank = state.shares.counts(of: source)
            if let best, best.rank > rank || best.rank == rank && best.opened <= opened { continue }
            best = (rank, opened, number)
        }
        if best == nil {
            // Without any evictable connection, the next one to be counted is the oldest.
            state.nextEviction = oldest == .max ? now + minimumAge : oldest + minimumAge
        }
        return best?.number
    }
}
