import HoldfastProbe
package import HostMonitoring
import NIOCore
package import ServerFoundation
import ServerHTTP
import Synchronization

/// The queue of unread client reports. It is separate, and bounded in number and bytes, so that a flood of reports does
/// not affect other requests.
///
/// Rates are limited per source and per app. Sources are stored only for their rate: later stages do not know the
/// source of a report, only whether two reports have the same source.
package final class ReportIntake: Sendable {
    /// The reason why a report is not taken.
    enum Refusal: Error, Hashable {
        /// No app of this name takes reports.
        case unknown
        /// The source or the app must wait for so many whole seconds.
        case rate(seconds: Int)
        /// The queue is full, or has no reader yet.
        case full
    }

    /// A queued body.
    struct Item: Sendable {
        let app: AppName
        let audience: ReportAudience
        /// A tag of its source, valid while the process runs; without ``salt`` it reveals nothing about an address.
        let source: UInt64
        /// The same for the networks that count as one vote about a canary.
        let voter: CanaryVotes.Voter
        /// The source whose share of the queue it takes.
        fileprivate let prefix: SourcePrefix
        let body: ByteBuffer
    }

    private struct Target: Sendable {
        let app: AppName
        let audience: ReportAudience
    }

    private struct State {
        /// Nil until there is a reader.
        var names: [AppName: Target]?
        var hosts: [AppName: ReportHosts] = [:]
        var sources: SourceBuckets
        var apps: TokenBuckets<AppName>
        var items = CircularBuffer<Item>()
        /// The bytes of queued bodies and of those that are arriving.
        var bytes = 0
        /// The share of each source in ``bytes`` and in the queue.
        var byteShares = SourceShares(Self.share(of: ReportIntake.maximumBytes))
        var itemShares = SourceShares(Self.share(of: ReportIntake.maximumCount))

        /// A source may have an eighth, a /48 a quarter, and a /32 half, so that none can exclude all others.
        private static func share(of count: Int) -> SourceShares.Limits {
            SourceShares.Limits(source: count / 8, site: count / 4, provider: count / 2)
        }

        func hasRoom(for bytes: Int) -> Bool {
            items.count < ReportIntake.maximumCount && self.bytes + bytes <= ReportIntake.maximumBytes
        }

        private func shareHasRoom(for bytes: Int, of source: SourcePrefix) -> Bool {
            byteShares.hasRoom(for: bytes, of: source) && itemShares.hasRoom(for: 1, of: source)
        }

        /// Whether the source's share has room, and the queue has or can make some.
        func mayTake(_ bytes: Int, of source: SourcePrefix) -> Bool {
            shareHasRoom(for: bytes, of: source)
                && (hasRoom(for: bytes) || displaceable(for: bytes, of: source) != nil)
        }

        /// The report to displace for a source that has less of the scarce resource: the latest one of the source that
        /// has the most, so that many sources together cannot exclude others.
        private func displaceable(for bytes: Int, of source: SourcePrefix) -> CircularBuffer<Item>.Index? {
            let isCount = items.count >= ReportIntake.maximumCount
            let (shares, more) = isCount ? (itemShares, 1) : (byteShares, bytes)
            // After the exchange, the new source must not have more than the displaced one.
            guard let most = shares.fullestSource, most.count > shares.count(of: source.network) + more else {
                return nil
            }
            return items.lastIndex { $0.prefix.network == most.network }
        }

        /// Makes room for bytes that have arrived from a source.
        /// - Returns: the number of displaced reports; nil if there is no room.
        mutating func makeRoom(for bytes: Int, of source: SourcePrefix) -> Int? {
            guard shareHasRoom(for: bytes, of: source) else { return nil }
            var displaced = 0
            while !hasRoom(for: bytes) {
                // Each displacement scans the whole queue.
                guard displaced < ReportIntake.maximumDisplaced, let place = displaceable(for: bytes, of: source)
                else { return nil }
                let item = items.remove(at: place)
                giveBack(item.body.readableBytes, of: item.prefix)
                itemShares.remove(1, of: item.prefix)
                displaced += 1
            }
            return displaced
        }

        mutating func take(_ bytes: Int, of source: SourcePrefix) {
            self.bytes += bytes
            byteShares.add(bytes, of: source)
        }

        mutating func giveBack(_ bytes: Int, of source: SourcePrefix) {
            self.bytes -= bytes
            byteShares.remove(bytes, of: source)
        }
    }

    /// Maximum number of queued reports, and of their bytes together with those of bodies that are arriving.
    static let maximumCount = 2_048
    static let maximumBytes = 16 << 20
    /// Maximum number of reports that one report displaces.
    private static let maximumDisplaced = 16
    /// Bodies per second from one source. A carrier's customers share an address, and each sends one report per day.
    private static let sourceRate = 50.0
    private static let sourceBurst = 200.0
    /// Bodies per second for one app, as many as one core can read.
    private static let appRate = 2_000.0
    private static let appBurst = 4_000.0

    private let state: Mutex<State>
    /// Counts displaced reports.
    private let counters: ReportCounters?
    /// Stored nowhere else.
    private let salt = UInt64.random(in: .min ... .max)
    /// Yields when a report arrives.
    package let arrivals: AsyncStream<Void>
    private let arrived: AsyncStream<Void>.Continuation

    /// Creates a queue that takes nothing before ``replace(with:)``.
    init(counters: ReportCounters? = nil) {
        self.counters = counters
        state = Mutex(
            State(
                sources: SourceBuckets(rate: Self.sourceRate, burst: Self.sourceBurst),
                apps: TokenBuckets(rate: Self.appRate, burst: Self.appBurst, maximumCount: 4_096)))
        (arrivals, arrived) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Takes reports only for these apps and their canaries from now on.
    package func replace(with apps: [AppName: ReportHosts]) {
        var names: [AppName: Target] = [:]
        for app in apps.keys { names[app] = Target(app: app, audience: .everybody) }
        // If the name of a canary is also an app, the canary takes precedence, because its reports are compared.
        for app in apps.keys {
            guard let canary = AppName(bytes: "\(app)-canary".utf8) else { continue }
            names[canary] = Target(app: app, audience: .canary)
        }
        state.withLock { state in
            state.names = names
            var apps = apps
            for (app, hosts) in apps {
                apps[app]?.canary = hosts.canary?.remembering(state.hosts[app]?.canary)
            }
            state.hosts = apps
        }
    }

    /// The hosts of an app whose reports are counted.
    func hosts(of app: AppName) -> ReportHosts { state.withLock { $0.hosts[app] ?? .none } }

    /// The number of queued reports.
    var count: Int { state.withLock { $0.items.count } }

    /// Decides whether a body may be sent. The announced length reserves no room; only bytes that arrive do.
    /// - Parameters:
    ///   - name: the name of the app or of its canary; nil if it is missing.
    ///   - source: the source of the request.
    ///   - now: a monotonic time in nanoseconds.
    /// - Returns: a permit that counts the body while it is read.
    /// - Throws: the reason why it is not read.
    func admit(_ name: AppName?, from source: SourcePrefix, at now: UInt64) throws(Refusal) -> BodyPermit {
        let refusal = state.withLock { state -> Refusal? in
            guard let names = state.names else { return .full }
            guard let name, let target = names[name] else { return .unknown }
            guard state.mayTake(1, of: source) else { return .full }
            if let wait = state.sources.take(source, at: now) { return .rate(seconds: max(1, Int(wait.rounded(.up)))) }
            // Reports over the limit of their source must not count against the limit of the app.
            if let wait = state.apps.take(target.app, at: now) {
                return .rate(seconds: max(1, Int(wait.rounded(.up))))
            }
            return nil
        }
        if let refusal { throw refusal }
        return BodyPermit { [weak self] bytes in
            self?.take(bytes, of: source) ?? false
        } _: { [weak self] bytes in
            self?.state.withLock { $0.giveBack(bytes, of: source) }
        }
    }

    private func take(_ bytes: Int, of source: SourcePrefix) -> Bool {
        let displaced = state.withLock { state -> Int? in
            guard let displaced = state.makeRoom(for: bytes, of: source) else { return nil }
            state.take(bytes, of: source)
            return displaced
        }
        if let displaced { note(displaced) }
        return displaced != nil
    }

    private func note(_ displaced: Int) {
        if displaced > 0 { counters?.count(.shed, times: displaced) }
    }

    /// Queues a body. If the queue is full, it displaces the latest report of the source that has the most.
    /// - Returns: whether there was room.
    func take(_ body: ByteBuffer, for name: AppName, from source: SourcePrefix) -> Bool {
        let networks = source.largerNetworks
        let voter = CanaryVotes.Voter(
            site: networks.first.map { tag($0) } ?? tag(source), provider: networks.last.map { tag($0) })
        let own = tag(source)
        let displaced = state.withLock { state -> Int? in
            guard let target = state.names?[name],
                let displaced = state.makeRoom(for: body.readableBytes, of: source)
            else { return nil }
            state.items.append(
                Item(app: target.app, audience: target.audience, source: own, voter: voter, prefix: source, body: body))
            state.take(body.readableBytes, of: source)
            state.itemShares.add(1, of: source)
            return displaced
        }
        guard let displaced else { return false }
        note(displaced)
        arrived.yield()
        return true
    }

    /// A tag that distinguishes values while the process runs.
    private func tag(_ value: some Hashable) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(salt)
        hasher.combine(value)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }

    /// Removes and returns the oldest body; nil if the queue is empty.
    func next() -> Item? {
        state.withLock { state in
            guard let item = state.items.popFirst() else { return nil }
            state.giveBack(item.body.readableBytes, of: item.prefix)
            state.itemShares.remove(1, of: item.prefix)
            return item
        }
    }
}
