import AsyncHTTPClient
import Holdfast
import HoldfastNIO
import NIOCore

/// A request's hold on the client of its origin, until its response is read. May be ended more than once.
final class OriginLease: Sendable {
    let client: OriginClient
    private let clients: OriginClients
    private let isOver = Lock(false)

    init(client: OriginClient, clients: OriginClients) {
        self.client = client
        self.clients = clients
    }

    deinit { end() }

    func end() {
        let isFirst = isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
        if isFirst { clients.end(client) }
    }
}

/// The clients of all origins: at most so many, those that are not used shut down. A client that is to be no longer
/// used is retired: it gets no further requests and is shut down, with its pooled connections, after its last
/// response.
final class OriginClients: Sendable {
    fileprivate struct Entry {
        let client: OriginClient
        var requests = 0
        var lastUse = 0
        var isShuttingDown = false
        /// When the last request came to its end, as long as there is no other.
        var idleSince = NIODeadline.distantPast
        /// One for many requests: to set or to cancel it wakes an event loop, which takes longer than all of Holdfast's
        /// part of a request.
        var idleTimer: Scheduled<Void>?
        /// Runs as long as requests wait for a first connection.
        var startTimer: Scheduled<Void>?
    }

    fileprivate struct State {
        var current: [OriginKey: OriginClient] = [:]
        /// Current ones, and retired ones until they are gone.
        var entries: [ObjectIdentifier: Entry] = [:]
        var uses = 0
        var isClosed = false
        var idleWaiters: [EventLoopPromise<Void>] = []
        var goneWaiters: [EventLoopPromise<Void>] = []

        /// Marks a retired client without requests; nil when there is nothing to do.
        mutating func shutdownIfIdle(_ client: OriginClient, isForced: Bool = false) -> OriginClient? {
            let id = ObjectIdentifier(client)
            guard var entry = entries[id], !entry.isShuttingDown, current[client.key] !== client,
                entry.requests == 0 || isForced
            else { return nil }
            entry.isShuttingDown = true
            entry.idleTimer?.cancel()
            entry.idleTimer = nil
            entry.startTimer?.cancel()
            entry.startTimer = nil
            entries[id] = entry
            return client
        }
    }

    private let state = Lock(State())
    let maker: OriginClientMaker
    private let capacity: Int
    private let idleTimeout: TimeAmount
    private let closingTimeout: TimeAmount

    /// - Parameter closingTimeout: how long a client that is shut down is waited for. AsyncHTTPClient waits for ever for
    ///   a connection whose server sends nothing after the handshake.
    init(maker: OriginClientMaker, capacity: Int, idleTimeout: TimeAmount, closingTimeout: TimeAmount) {
        self.maker = maker
        self.capacity = capacity
        self.idleTimeout = idleTimeout
        self.closingTimeout = closingTimeout
    }

    /// The clients there are, retired ones that are not gone yet included.
    var all: [OriginClient] { state.withLock { $0.entries.values.map(\.client) } }

    /// Requests whose responses are not read to their end.
    var requestsInFlight: Int { state.withLock { $0.entries.values.reduce(0) { $0 + $1.requests } } }

    // MARK: Requests

    /// The client for a request; the one there is, if it still does, or a new one.
    ///
    /// - Throws: ``PinnedHTTPClientError``, AsyncHTTPClient's `alreadyShutdown`.
    func lease(
        _ key: OriginKey, verification: ConnectionVerification, anchors: TrustAnchors
    ) throws -> OriginLease {
        if let lease = try existing(key, verification: verification, anchors: anchors) { return lease }
        // Outside the lock: it reads certificates and makes contexts.
        let made = try maker.make(key, verification: verification, anchors: anchors) { [weak self] gate in
            self?.retire { $0.gate === gate }
        }
        do {
            let (lease, replaced) = try state.withLock { state in
                guard !state.isClosed else { throw HTTPClientError.alreadyShutdown }
                var replaced = state.current.removeValue(forKey: key).map { [$0] } ?? []
                if state.current.count >= capacity {
                    guard
                        let unused = state.current.values.filter({ state.requests(of: $0) == 0 })
                            .min(by: { state.lastUse(of: $0) < state.lastUse(of: $1) })
                    else { throw tooManyOrigins(for: key.origin) }
                    state.current[unused.key] = nil
                    replaced.append(unused)
                }
                state.current[key] = made
                state.entries[ObjectIdentifier(made)] = Entry(client: made)
                begin(made, &state)
                return (OriginLease(client: made, clients: self), replaced)
            }
            replaced.forEach(finish)
            return lease
        } catch {
            // It has no connections, so there is nothing to wait for.
            made.http.shutdown { _ in }
            throw error
        }
    }

    private func existing(
        _ key: OriginKey, verification: ConnectionVerification, anchors: TrustAnchors
    ) throws -> OriginLease? {
        let (lease, replaced) = try state.withLock { state -> (OriginLease?, OriginClient?) in
            guard !state.isClosed else { throw HTTPClientError.alreadyShutdown }
            guard let client = state.current[key] else { return (nil, nil) }
            guard client.verification == verification, client.anchors == anchors else {
                return (nil, state.current.removeValue(forKey: key))
            }
            begin(client, &state)
            return (OriginLease(client: client, clients: self), nil)
        }
        replaced.map(finish)
        return lease
    }

    private func begin(_ client: OriginClient, _ state: inout State) {
        state.begin(client)
        let id = ObjectIdentifier(client)
        if !client.gate.isConnected, state.entries[id]?.startTimer == nil {
            state.entries[id]?.startTimer = startTimer(for: client)
        }
    }

    private func tooManyOrigins(for origin: HTTPOrigin) -> PinnedHTTPClientError {
        PinnedHTTPClientError(
            .tooManyOrigins, expected: "at most \(capacity) origins with requests in flight",
            found: "one more, \(origin.scheme.rawValue)://\(origin.host)",
            remedy: "Read responses to their end, or raise limits.origins.")
    }

    func end(_ client: OriginClient) {
        let (idle, waiters) = state.withLock { state -> (OriginClient?, [EventLoopPromise<Void>]) in
            let id = ObjectIdentifier(client)
            guard var entry = state.entries[id] else { return (nil, []) }
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
            return (state.shutdownIfIdle(client), waiters)
        }
        if let idle { shutDown(idle) }
        for waiter in waiters { waiter.succeed() }
    }

    // MARK: Retirement

    private func idleTimer(for client: OriginClient, due: NIODeadline) -> Scheduled<Void> {
        client.http.eventLoopGroup.any().scheduleTask(deadline: due) { [weak self] in self?.retireIfUnused(client) }
    }

    private func retireIfUnused(_ client: OriginClient) {
        let isDue = state.withLock { state in
            let id = ObjectIdentifier(client)
            guard var entry = state.entries[id], !entry.isShuttingDown else { return false }
            let due = entry.idleSince + idleTimeout
            let isDue = entry.requests == 0 && due <= .now()
            // With a request in flight, its end sets the next timer.
            entry.idleTimer = entry.requests > 0 || isDue ? nil : idleTimer(for: client, due: due)
            state.entries[id] = entry
            if isDue { state.remove(client) }
            return isDue
        }
        if isDue { finish(client) }
    }

    private func startTimer(for client: OriginClient) -> Scheduled<Void> {
        let admissions = client.gate.admissions
        let due = NIODeadline.now() + client.connectTimeout
        return client.http.eventLoopGroup.any().scheduleTask(deadline: due) { [weak self, weak client] in
            guard let self, let client else { return }
            self.retireIfSilent(client, since: admissions, due: due)
        }
    }

    /// AsyncHTTPClient lets every request wait for a connection that was opened, even when its server never says what
    /// HTTP/2 begins with. Requests that have waited for less than the connect timeout, and later ones, get a client of
    /// their own, and with it a new connection.
    private func retireIfSilent(_ client: OriginClient, since admissions: Int, due: NIODeadline) {
        let wait = state.withLock { state in
            let id = ObjectIdentifier(client)
            state.entries[id]?.startTimer = nil
            guard state.current[client.key] === client else { return ConnectionGate.Wait.connected }
            let wait = client.gate.giveUp(since: admissions, at: due)
            if wait != .connected {
                state.current[client.key] = nil
            } else if state.requests(of: client) > 0, !client.gate.isConnected {
                // A connection came and is about to go: the next one may be silent.
                state.entries[id]?.startTimer = startTimer(for: client)
            }
            return wait
        }
        switch wait {
        case .connected: break
        // What waits is given up by AsyncHTTPClient, after the connect timeout of each.
        case .draining: finish(client)
        case .silent:
            client.gate.retire()
            // With its requests: none of them has a connection.
            if let client = state.withLock({ $0.shutdownIfIdle(client, isForced: true) }) { shutDown(client) }
        }
    }

    /// Takes clients out of use: no request starts on their connections any more, and they end with those under way.
    func retire(where condition: (OriginClient) -> Bool) {
        let retired = state.withLock { state in
            let retired = state.current.values.filter(condition)
            for client in retired { state.current[client.key] = nil }
            return retired
        }
        retired.forEach(finish)
    }

    /// Ends a client that is no longer in use, as soon as it has no requests.
    private func finish(_ client: OriginClient) {
        client.gate.retire()
        if let idle = state.withLock({ $0.shutdownIfIdle(client) }) { shutDown(idle) }
    }

    private func shutDown(_ client: OriginClient) {
        let timer = client.http.eventLoopGroup.any().scheduleTask(in: closingTimeout) { [weak self] in
            self?.forget(client)
        }
        client.http.shutdown { [weak self] _ in
            timer.cancel()
            self?.forget(client)
        }
        client.gate.endAll()
    }

    private func forget(_ client: OriginClient) {
        let waiters = state.withLock { state in
            state.entries[ObjectIdentifier(client)] = nil
            var waiters: [EventLoopPromise<Void>] = []
            if state.entries.isEmpty { swap(&waiters, &state.goneWaiters) }
            return waiters
        }
        for waiter in waiters { waiter.succeed() }
    }

    // MARK: The end

    /// Takes no further requests and waits, as long as is allowed, for those in flight; then ends what is left.
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
        let (clients, isEmpty) = endAll(gone)
        clients.forEach(shutDown)
        if isEmpty { gone.succeed() }
        try await gone.futureResult.get()
    }

    /// Ends everything without waiting, for a client that is let go of.
    func abandon() {
        endAll(nil).clients.forEach(shutDown)
    }

    private func endAll(_ gone: EventLoopPromise<Void>?) -> (clients: [OriginClient], isEmpty: Bool) {
        state.withLock { state in
            state.isClosed = true
            state.current = [:]
            if let gone, !state.entries.isEmpty { state.goneWaiters.append(gone) }
            let clients = state.entries.values.map(\.client)
            return (clients.compactMap { state.shutdownIfIdle($0, isForced: true) }, clients.isEmpty)
        }
    }
}

extension OriginClients.State {
    fileprivate func requests(of client: OriginClient) -> Int { entries[ObjectIdentifier(client)]?.requests ?? 0 }

    fileprivate func lastUse(of client: OriginClient) -> Int { entries[ObjectIdentifier(client)]?.lastUse ?? 0 }

    fileprivate mutating func remove(_ client: OriginClient) {
        if current[client.key] === client { current[client.key] = nil }
    }

    fileprivate mutating func begin(_ client: OriginClient) {
        uses += 1
        let id = ObjectIdentifier(client)
        entries[id]?.requests += 1
        entries[id]?.lastUse = uses
    }
}
