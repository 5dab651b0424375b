import AsyncHTTPClient
import Holdfast
import HoldfastNIO
import NIOCore

/// The clients of all origins. Their number is limited, and unused ones are shut down. A retired client gets no further
/// requests, and is shut down with its pooled connections after its last response.
final class OriginClients: Sendable {
    /// The result for a request that needs a client.
    enum Admission {
        case lease(OriginLease)
        /// The request must try again after this future.
        case wait(EventLoopFuture<Void>, stop: @Sendable (any Error) -> Void)
    }

    let state: Lock<OriginClientsState>
    let maker: OriginClientMaker
    /// The event loops of timers, because those of connections end.
    let loops: any EventLoopGroup
    private let idleTimeout: TimeAmount
    private let closingTimeout: TimeAmount

    /// - Parameters:
    ///   - unansweredCapacity: maximum number of clients that wait for their server's first bytes, over all origins.
    ///   - closingTimeout: how long to wait for a client that is shut down.
    init(
        maker: OriginClientMaker, loops: any EventLoopGroup, capacity: Int, unansweredCapacity: Int,
        idleTimeout: TimeAmount, closingTimeout: TimeAmount
    ) {
        self.maker = maker
        self.loops = loops
        self.idleTimeout = idleTimeout
        self.closingTimeout = closingTimeout
        state = Lock(OriginClientsState(capacity: capacity, unansweredCapacity: unansweredCapacity))
    }

    /// The existing clients, including retired ones that have not ended.
    var all: [OriginClient] {
        state.withLock { $0.entries.values.filter { !$0.hasEnded && !$0.isStuck }.map(\.client) }
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    // MARK: Requests

    /// The client for a request: the existing one if it is still usable, or a new one.
    ///
    /// - Throws: ``PinnedHTTPClientError``, AsyncHTTPClient's `alreadyShutdown`.
    func lease(_ key: OriginKey, until deadline: NIODeadline) throws -> Admission {
        var replaced: [OriginClient] = []
        let turn = Result {
            try state.withLock { state -> Turn in
                guard !state.isClosed else { throw HTTPClientError.alreadyShutdown }
                if let client = state.current[key] {
                    begin(client, &state)
                    return .lease(OriginLease(client: client, clients: self))
                }
                let isBeingMade = state.making.contains(key)
                guard !isBeingMade, state.hasRoomForUnanswered(key.origin) else {
                    if !isBeingMade { replaced += state.retireUnanswered(for: key.origin).map { [$0] } ?? [] }
                    let promise = loops.any().makePromise(of: Void.self)
                    return .wait(promise, number: state.wait(for: key, promise), isForRoom: !isBeingMade)
                }
                replaced += try state.makeRoom(for: key).map { [$0] } ?? []
                state.making.insert(key)
                return .make
            }
        }
        replaced.forEach(finish)
        switch try turn.get() {
        case .lease(let lease): return .lease(lease)
        case .make: return .lease(try make(key))
        case .wait(let promise, let number, let isForRoom):
            let error: any Error = isForRoom ? silentPeer(key.origin) : HTTPClientError.deadlineExceeded
            promise.complete(with: .failure(error), at: deadline)
            promise.futureResult.whenFailure { _ in self.wakeWaiters { $0.stopWaiting(for: key, number) } }
            return .wait(promise.futureResult, stop: promise.fail)
        }
    }

    /// The next step of a request.
    private enum Turn {
        case lease(OriginLease)
        case make
        /// Wait until another request has made the client, or until there is capacity for one.
        case wait(EventLoopPromise<Void>, number: Int, isForRoom: Bool)
    }

    private func make(_ key: OriginKey) throws -> OriginLease {
        var lane: ConnectionLane?
        var made: OriginClient?
        do {
            // Outside the lock, because it starts a thread, reads certificates and makes contexts.
            let held = try holdLane(for: key.origin)
            lane = held
            let client = try maker.make(key, on: held) { [weak self] in
                self?.wakeWaiters { $0.noteAnswer(of: key.origin) }
            } expired: { [weak self] gate in
                self?.retire { $0.gate === gate }
            }
            made = client
            let (lease, woken) = try state.withLock { state in
                guard !state.isClosed else { throw HTTPClientError.alreadyShutdown }
                guard !state.isCondemned(held) else { throw ConnectionRetired() }
                state.making.remove(key)
                state.current[key] = client
                state.entries[ObjectIdentifier(client)] = OriginClientsState.Entry(client: client)
                state.release(held)
                begin(client, &state)
                return (OriginLease(client: client, clients: self), state.wake(key))
            }
            for promise in woken { promise.succeed() }
            return lease
        } catch {
            let release = { @Sendable [lane] in
                self.wakeWaiters { state in
                    state.making.remove(key)
                    if let lane { state.release(lane) }
                }
                self.endUnusedLanes()
            }
            // The new client has no connections.
            if let made { made.http.shutdown { _ in release() } } else { release() }
            throw error
        }
    }

    private func holdLane(for origin: HTTPOrigin) throws -> ConnectionLane {
        if let lane = state.withLock({ $0.holdLane(for: origin) }) { return lane }
        return try ConnectionLane.making.withLock { _ in
            if let lane = state.withLock({ $0.holdLane(for: origin) }) { return lane }
            let lane = try ConnectionLane.take()
            state.withLock { $0.hold(lane, for: origin) }
            return lane
        }
    }

    /// Makes a change, and wakes the requests that waited for the capacity that it freed.
    func wakeWaiters(after change: @Sendable (inout OriginClientsState) -> Void) {
        let woken = state.withLock { state in
            change(&state)
            return state.wakeWhereThereIsRoom()
        }
        for promise in woken { promise.succeed() }
    }

    private func begin(_ client: OriginClient, _ state: inout OriginClientsState) {
        state.begin(client)
        let id = ObjectIdentifier(client)
        if !client.gate.isConnected, state.entries[id]?.startTimer == nil {
            state.entries[id]?.startTimer = startTimer(for: client)
        }
    }

    private func silentPeer(_ origin: HTTPOrigin) -> PinnedHTTPClientError {
        let capacity = state.withLock { $0.unansweredCapacity }
        return PinnedHTTPClientError(
            .silentPeer,
            expected: "fewer than \(OriginClientsState.unansweredPerHost) connections to \(origin.host.name), and than "
                + "\(capacity) to new origins, on which the server has said nothing yet",
            found: "that many until the request's deadline",
            remedy: "See why the servers accept connections and say nothing, or raise limits.unansweredConnections.")
    }

    func end(_ client: OriginClient) {
        let (idle, isOver, waiters) = state.withLock { state -> (OriginClient?, Bool, [EventLoopPromise<Void>]) in
            let id = ObjectIdentifier(client)
            guard var entry = state.entries[id] else { return (nil, false, []) }
            entry.requests -= 1
            if entry.requests == 0, state.current[client.key] === client {
                entry.idleSince = .now()
                if entry.idleTimer == nil {
                    entry.idleTimer = idleTimer(for: client, due: entry.idleSince + idleTimeout)
                }
            }
            state.entries[id] = entry
            var waiters: [EventLoopPromise<Void>] = []
            if !state.idleWaiters.isEmpty, state.entries.values.allSatisfy({ $0.requests == 0 }) {
                swap(&waiters, &state.idleWaiters)
            }
            if entry.isShuttingDown { state.forgetIfGone(id) }
            return (state.shutdownIfIdle(client), entry.isShuttingDown, waiters)
        }
        if let idle { shutDown(idle) }
        if isOver { endUnusedLanes() }
        for waiter in waiters { waiter.succeed() }
    }

    // MARK: Timers

    func idleTimer(for client: OriginClient, due: NIODeadline) -> Scheduled<Void> {
        loops.any().scheduleTask(deadline: due) { [weak self] in self?.retireIfUnused(client) }
    }

    private func retireIfUnused(_ client: OriginClient) {
        let isDue = state.withLock { state in
            let id = ObjectIdentifier(client)
            guard var entry = state.entries[id], !entry.isShuttingDown else { return false }
            let due = entry.idleSince + idleTimeout
            let isDue = entry.requests == 0 && due <= .now()
            // While a request is in flight, its end will set the next timer.
            entry.idleTimer = entry.requests > 0 || isDue ? nil : idleTimer(for: client, due: due)
            state.entries[id] = entry
            if isDue { state.remove(client) }
            return isDue
        }
        if isDue { finish(client) }
    }

    func startTimer(for client: OriginClient) -> Scheduled<Void> {
        let admissions = client.gate.admissions
        let due = NIODeadline.now() + client.connectTimeout
        return loops.any().scheduleTask(deadline: due) { [weak self, weak client] in
            guard let self, let client else { return }
            self.retireIfSilent(client, since: admissions, due: due)
        }
    }

    // MARK: The end

    /// Accepts no further requests and waits for those in flight, up to the limit; then ends the rest.
    ///
    /// - Throws: AsyncHTTPClient's `alreadyShutdown` the second time.
    func shutdown(waitingAtMost patience: TimeAmount, on loop: any EventLoop) async throws {
        let idle = loop.makePromise(of: Void.self)
        let isBusy = try state.withLock { state in
            guard !state.isClosed else {
                idle.succeed()
                throw HTTPClientError.alreadyShutdown
            }
            state.isClosed = true
            let isBusy = patience > .zero && state.entries.values.contains { $0.requests > 0 }
            if isBusy { state.idleWaiters.append(idle) }
            return isBusy
        }
        if isBusy {
            idle.complete(with: .success(()), at: .now() + patience)
            try await idle.futureResult.get()
        } else {
            idle.succeed()
        }
        let gone = loop.makePromise(of: Void.self)
        // AsyncHTTPClient waits forever for a connection whose server sends nothing after the handshake.
        gone.complete(with: .success(()), at: .now() + closingTimeout)
        endAll(gone)
        try await gone.futureResult.get()
        state.withLock { state in
            for (id, entry) in state.entries where !entry.hasEnded { state.markStuck(id) }
        }
        endUnusedLanes()
        // Unread responses keep them open.
        guard state.withLock({ $0.hasCondemnedLanes }) else { return }
        loops.any().scheduleTask(in: closingTimeout) { self.endUnusedLanes(isForced: true) }
    }

    /// Ends everything without waiting, for a client that is released.
    func abandon() { endAll(nil) }

    private func endAll(_ gone: EventLoopPromise<Void>?) {
        let (clients, woken) = state.withLock { state in
            state.isClosed = true
            state.current = [:]
            state.condemnAllLanes()
            if let gone { state.goneWaiters.append(gone) }
            let clients = state.entries.values.map(\.client)
            return (
                clients.compactMap { state.shutdownIfIdle($0, isForced: true) },
                state.wakeWhereThereIsRoom() + state.takeGoneWaiters()
            )
        }
        clients.forEach(shutDown)
        for promise in woken { promise.succeed() }
        endUnusedLanes()
    }
}
