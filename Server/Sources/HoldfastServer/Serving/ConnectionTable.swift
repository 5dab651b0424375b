import Synchronization

/// The open connections of a listener: how many there are, how many each network has, and which of them ends if another one
/// finds no room. It also counts the handshakes that a source begins.
///
/// A connection beyond the limit takes the place of the oldest one of the network that has the most, from the largest size of
/// network to the smallest: whoever holds many connections loses them first. A connection younger than
/// ``ListenerLimits/evictionAge`` keeps its place, since a slow phone may be in its handshake, and those of proxies keep theirs.
final class ConnectionTable: Sendable {
    /// Names an open connection; later ones have greater numbers.
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
        /// The connections of each source that can be evicted, the oldest first.
        var bySource: [SourcePrefix: [UInt64]] = [:]
        var shares: SourceShares
        var next: UInt64 = 0
        /// Before this time no connection is old enough, so nobody looks for one.
        var nextEviction: UInt64 = 0
        var handshakes: SourceBuckets
    }

    /// What becomes of a connection.
    private enum Answer {
        case taken(Ticket, total: Int, evicted: (@Sendable () -> Void)?)
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
                shares: SourceShares(limits.connectionShares),
                handshakes: SourceBuckets(
                    rate: limits.handshakesPerSecond, burst: Double(max(1, limits.handshakesAtOnce)))))
    }

    /// Counts a connection, if there may be one more, or if another one ends in its place.
    /// - Parameters:
    ///   - source: where it comes from.
    ///   - isProxy: whether it carries the requests of many clients.
    ///   - now: nanoseconds that never go back.
    ///   - evict: ends the connection. It is called from any thread, at most once.
    /// - Returns: what to close it with; nil if there is no room.
    func open(
        _ source: SourcePrefix, isProxy: Bool, at now: UInt64, evict: @escaping @Sendable () -> Void = {}
    ) -> Ticket? {
        let answer: Answer = state.withLock { state in
            guard isProxy || state.shares.hasRoom(for: 1, of: source) else { return .tooManyConnections }
            // A connection that gets no room costs its source nothing.
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

    /// Counts a connection no longer. One that was evicted is not counted already.
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
        // The numbers of a source rise.
        if let index = numbers.firstIndex(of: number) { numbers.remove(at: index) }
        state.bySource[entry.source] = numbers.isEmpty ? nil : numbers
        return entry
    }

    /// The connection that ends for another one: of those that are old enough, the oldest of the fullest network.
    private static func victim(_ state: inout State, at now: UInt64, minimumAge: UInt64) -> UInt64? {
        guard now >= state.nextEviction else { return nil }
        var best: (rank: (Int, Int, Int), opened: UInt64, number: UInt64)?
        var oldest = UInt64.max
        for (source, numbers) in state.bySource {
            guard let number = numbers.first, let opened = state.entries[number]?.opened else { continue }
            oldest = min(oldest, opened)
            guard now >= opened, now - opened >= minimumAge else { continue }
            // From the largest network to the smallest; IPv4 has one size, which stands for all of them.
            let rank = state.shares.counts(of: source)
            if let best, best.rank > rank || best.rank == rank && best.opened <= opened { continue }
            best = (rank, opened, number)
        }
        if best == nil {
            // With none at all the next connection that is counted is the oldest.
            state.nextEviction = oldest == .max ? now + minimumAge : oldest + minimumAge
        }
        return best?.number
    }
}
