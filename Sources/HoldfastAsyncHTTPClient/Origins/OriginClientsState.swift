import AsyncHTTPClient
import Holdfast
import NIOCore

/// The state of ``OriginClients``: the clients, and the capacity for more.
struct OriginClientsState {
    struct Entry {
        let client: OriginClient
        var requests = 0
        var lastUse = 0
        var isShuttingDown = false
        /// Whether AsyncHTTPClient has released all its connections.
        var hasEnded = false
        /// Whether the release takes so long that one of them must be silent; it ends with its thread.
        var isStuck = false
        /// When the last request ended, if no other is in flight.
        var idleSince = NIODeadline.distantPast
        /// One timer for many requests, because setting or canceling one wakes an event loop, which takes longer than
        /// the rest of Holdfast's work for a request.
        var idleTimer: Scheduled<Void>?
        /// Runs while requests wait for a first connection.
        var startTimer: Scheduled<Void>?

        /// Whether it may have a connection on which the server has sent nothing yet.
        var isUnanswered: Bool { !hasEnded && (isStuck || client.gate.admissions == 0) }

        var isIdle: Bool { requests == 0 && !isShuttingDown }
    }

    /// Maximum number of unanswered clients per host, on all its ports together.
    static let unansweredPerHost = 4
    /// Maximum number of origins per host, whatever the capacity.
    static let originsPerHost = 16

    let capacity: Int
    let unansweredCapacity: Int
    var current: [OriginKey: OriginClient] = [:]
    /// Current ones, and retired ones until they are gone.
    var entries: [ObjectIdentifier: Entry] = [:]
    /// Clients that are being made.
    var making: Set<OriginKey> = []
    var uses = 0
    var isClosed = false
    var idleWaiters: [EventLoopPromise<Void>] = []
    var goneWaiters: [EventLoopPromise<Void>] = []

    var isWaiting: Bool { !waitingKeys.isEmpty }

    /// Requests that wait for a client, or for permission to make one, with their keys in order of arrival.
    private var waiting: [OriginKey: [Int: EventLoopPromise<Void>]] = [:]
    private var waitingKeys: [OriginKey] = []
    private var lastWaiter = 0

    /// Origins that have answered before, and were not silent since.
    private var answered: Set<HTTPOrigin> = []
    /// The threads for new clients. Known origins have a separate one, so that unknown origins cannot end it.
    private var lanes: [Bool: ConnectionLane] = [:]
    /// Threads that get no further clients, and end with their last request.
    private var condemned: [ObjectIdentifier: ConnectionLane] = [:]
    /// Uses of threads that are not among the entries.
    private var holds: [ObjectIdentifier: Int] = [:]

    init(capacity: Int, unansweredCapacity: Int) {
        self.capacity = capacity
        self.unansweredCapacity = unansweredCapacity
    }

    // MARK: Requests

    func requests(of client: OriginClient) -> Int { entries[ObjectIdentifier(client)]?.requests ?? 0 }

    mutating func begin(_ client: OriginClient) {
        uses += 1
        let id = ObjectIdentifier(client)
        entries[id]?.requests += 1
        entries[id]?.lastUse = uses
    }

    mutating func remove(_ client: OriginClient) {
        if current[client.key] === client { current[client.key] = nil }
    }

    /// Marks a retired client without requests; nil if there is nothing to do.
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
        hold(client.lane)
        return client
    }

    // MARK: Room

    /// Frees capacity for another origin by removing one without requests.
    /// - Returns: the client that was taken out of use.
    /// - Throws: ``PinnedHTTPClientError``.
    mutating func makeRoom(for key: OriginKey) throws(PinnedHTTPClientError) -> OriginClient? {
        let isOfHost = { (other: OriginKey) in other.origin.host.hasSameName(as: key.origin.host) }
        let keys = Array(current.keys) + making
        let isHostFull = keys.count(where: isOfHost) >= Self.originsPerHost
        guard isHostFull || keys.count >= capacity else { return nil }
        let unused = leastRecentlyUsed { $0.isIdle && (!isHostFull || isOfHost($0.client.key)) }
        guard let unused else { throw tooManyOrigins(for: key.origin, isHostFull: isHostFull) }
        current[unused.key] = nil
        return unused
    }

    /// The least recently used client, of those in use.
    private func leastRecentlyUsed(where condition: (Entry) -> Bool) -> OriginClient? {
        current.values.compactMap { entries[ObjectIdentifier($0)] }.filter(condition)
            .min { $0.lastUse < $1.lastUse }?.client
    }

    private func tooManyOrigins(for origin: HTTPOrigin, isHostFull: Bool) -> PinnedHTTPClientError {
        let limit =
            isHostFull ? "\(Self.originsPerHost) origins of one host, on all its ports" : "\(capacity) origins"
        return PinnedHTTPClientError(
            .tooManyOrigins, expected: "at most \(limit), with requests in flight",
            found: "one more, \(origin.scheme.rawValue)://\(origin.host)",
            remedy: isHostFull
                ? "Read responses to their end; see why requests go to so many ports of the host."
                : "Read responses to their end, or raise limits.origins.")
    }

    /// Whether another unanswered client may be made. Origins that have answered before do not wait for unknown ones.
    func hasRoomForUnanswered(_ origin: HTTPOrigin) -> Bool { Unanswered(self).hasRoom(for: origin, self) }

    /// The number of clients that are unanswered, or about to be.
    private struct Unanswered {
        private var all = 0
        private var ofHost: [DialedHost.Kind: Int] = [:]

        init(_ state: OriginClientsState) {
            for entry in state.entries.values where entry.isUnanswered { add(entry.client.key.origin) }
            for key in state.making { add(key.origin) }
        }

        mutating func add(_ origin: HTTPOrigin) {
            all += 1
            ofHost[origin.host.kind, default: 0] += 1
        }

        func hasRoom(for origin: HTTPOrigin, _ state: OriginClientsState) -> Bool {
            ofHost[origin.host.kind, default: 0] < unansweredPerHost
                && (state.answered.contains(origin) || all < state.unansweredCapacity)
        }
    }

    /// Retires an unanswered client without requests if that may free capacity for an origin; its server may have
    /// refused, or been refused, long ago.
    mutating func retireUnanswered(for origin: HTTPOrigin) -> OriginClient? {
        let isHostFull =
            entries.values.count { $0.isUnanswered && $0.client.key.origin.host.hasSameName(as: origin.host) }
            >= Self.unansweredPerHost
        let unused = leastRecentlyUsed {
            $0.isIdle && $0.isUnanswered && (!isHostFull || $0.client.key.origin.host.hasSameName(as: origin.host))
        }
        if let unused { current[unused.key] = nil }
        return unused
    }

    // MARK: Waiting

    mutating func wait(for key: OriginKey, _ promise: EventLoopPromise<Void>) -> Int {
        if waiting[key] == nil { waitingKeys.append(key) }
        lastWaiter += 1
        waiting[key, default: [:]][lastWaiter] = promise
        return lastWaiter
    }

    mutating func stopWaiting(for key: OriginKey, _ waiter: Int) {
        waiting[key]?[waiter] = nil
        if waiting[key]?.isEmpty == true { _ = wake(key) }
    }

    /// The requests that wait for one kind of client, when it exists or cannot be made.
    mutating func wake(_ key: OriginKey) -> [EventLoopPromise<Void>] {
        guard let waiters = waiting.removeValue(forKey: key) else { return [] }
        waitingKeys.removeAll { $0 == key }
        return Array(waiters.values)
    }

    /// The requests whose clients have capacity now.
    mutating func wakeWhereThereIsRoom() -> [EventLoopPromise<Void>] {
        guard !waitingKeys.isEmpty else { return [] }
        var unanswered = Unanswered(self)
        var woken: [EventLoopPromise<Void>] = []
        for key in waitingKeys where !making.contains(key) {
            guard isClosed || current[key] != nil || unanswered.hasRoom(for: key.origin, self) else { continue }
            unanswered.add(key.origin)
            woken += wake(key)
        }
        return woken
    }

    mutating func noteAnswer(of origin: HTTPOrigin) {
        if answered.count >= capacity, !answered.contains(origin) { _ = answered.popFirst() }
        answered.insert(origin)
    }

    // MARK: Lanes

    /// The thread for the next client of an origin, held until ``release(_:)``; nil if it does not exist yet.
    mutating func holdLane(for origin: HTTPOrigin) -> ConnectionLane? {
        guard let lane = lanes[answered.contains(origin)] else { return nil }
        hold(lane)
        return lane
    }

    /// Uses a new thread for the next clients of origins like this one, and holds it until ``release(_:)``.
    mutating func hold(_ new: ConnectionLane, for origin: HTTPOrigin) {
        let replaced = lanes.updateValue(new, forKey: answered.contains(origin))
        if let replaced { condemned[ObjectIdentifier(replaced)] = replaced }
        hold(new)
        if isClosed { condemnAllLanes() }
    }

    private mutating func hold(_ lane: ConnectionLane) { holds[ObjectIdentifier(lane), default: 0] += 1 }

    mutating func release(_ lane: ConnectionLane) {
        let id = ObjectIdentifier(lane)
        let count = holds[id, default: 1] - 1
        holds[id] = count == 0 ? nil : count
    }

    var hasCondemnedLanes: Bool { !condemned.isEmpty }

    func isCondemned(_ lane: ConnectionLane) -> Bool { condemned[ObjectIdentifier(lane)] != nil }

    /// Stops assigning clients to a thread.
    /// - Returns: its clients that were in use.
    mutating func condemn(_ lane: ConnectionLane) -> [OriginClient] {
        for (isKnown, current) in lanes where current === lane {
            lanes[isKnown] = nil
            condemned[ObjectIdentifier(lane)] = lane
        }
        let retired = current.values.filter { $0.lane === lane }
        for client in retired { current[client.key] = nil }
        return retired
    }

    mutating func condemnAllLanes() {
        for lane in lanes.values { condemned[ObjectIdentifier(lane)] = lane }
        lanes = [:]
    }

    /// Records that a client has a silent connection.
    mutating func markStuck(_ id: ObjectIdentifier) {
        guard let entry = entries[id] else { return }
        entries[id]?.isStuck = true
        answered.remove(entry.client.key.origin)
    }

    /// The condemned threads that are no longer needed, or all of them; each once.
    /// - Returns: the threads, and whether the clients of each have ended with all their connections.
    mutating func takeUnusedLanes(isForced: Bool) -> [(lane: ConnectionLane, isEmpty: Bool)] {
        guard !condemned.isEmpty else { return [] }
        var (used, occupied) = (Set(holds.keys), Set(holds.keys))
        for entry in entries.values {
            let id = ObjectIdentifier(entry.client.lane)
            occupied.insert(id)
            if !(entry.isStuck && entry.requests == 0) { used.insert(id) }
        }
        let unused = condemned.filter { isForced || !used.contains($0.key) }
        for id in unused.keys { condemned[id] = nil }
        return unused.map { ($1, !occupied.contains($0)) }
    }

    /// Forgets a client that AsyncHTTPClient has released, once its requests have ended.
    mutating func forgetIfGone(_ id: ObjectIdentifier) {
        guard let entry = entries[id], entry.hasEnded, entry.requests == 0 else { return }
        entries[id] = nil
    }

    mutating func forget(_ lane: ConnectionLane) { entries = entries.filter { $0.value.client.lane !== lane } }

    /// The callers that wait for the end of all clients, if all have ended. Silent connections end with their threads.
    mutating func takeGoneWaiters() -> [EventLoopPromise<Void>] {
        guard !goneWaiters.isEmpty, entries.values.allSatisfy({ $0.hasEnded || $0.isStuck }) else { return [] }
        defer { goneWaiters = [] }
        return goneWaiters
    }
}
