import HoldfastProbe
import NIOCore
import Synchronization

/// What clients report and nobody has read yet: a queue of its own, bounded in number and bytes, so that a flood of reports
/// takes nothing from what clients ask for.
///
/// Rates are kept for each source and each app. A source is forgotten with its rate: nothing behind this knows where a report
/// came from, only whether two came from one place.
final class ReportIntake: Sendable {
    /// Why a report is not taken.
    enum Refusal: Error, Hashable {
        /// No app of this name takes reports.
        case unknown
        /// The source or the app has to wait for so many whole seconds.
        case rate(seconds: Int)
        /// The queue is full, or nobody reads it yet.
        case full
    }

    /// A body that was taken.
    struct Item: Sendable {
        let app: AppName
        let audience: ReportAudience
        /// What tells its source from others while the process runs; without ``salt`` it says nothing about an address.
        let source: UInt64
        /// The same for the networks that count as one when a canary is at stake.
        let voter: CanaryVotes.Voter
        /// Whose share of the queue it takes.
        fileprivate let prefix: SourcePrefix
        let body: ByteBuffer
    }

    private struct Target: Sendable {
        let app: AppName
        let audience: ReportAudience
    }

    private struct State {
        /// Nil before anybody reads.
        var names: [AppName: Target]?
        var hosts: [AppName: ReportHosts] = [:]
        var sources: SourceBuckets
        var apps: TokenBuckets<AppName>
        var items = CircularBuffer<Item>()
        /// Those of what waits, and of what has come of bodies that are on their way.
        var bytes = 0
        /// The share of each source in these, and in the queue.
        var byteShares = SourceShares(Self.share(of: ReportIntake.maximumBytes))
        var itemShares = SourceShares(Self.share(of: ReportIntake.maximumCount))

        /// A source has an eighth, a /48 a quarter, and a /32 half: nobody keeps all others out.
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

        /// Which report gives way to one of a source that has less of what is short: of the source that has most of that, so
        /// that many sources together keep out no others, the one that came last.
        private func displaceable(for bytes: Int, of source: SourcePrefix) -> CircularBuffer<Item>.Index? {
            let isCount = items.count >= ReportIntake.maximumCount
            let (shares, more) = isCount ? (itemShares, 1) : (byteShares, bytes)
            // Whoever displaces has no more afterwards than whoever gave way.
            guard let most = shares.fullestSource, most.count > shares.count(of: source.network) + more else {
                return nil
            }
            return items.lastIndex { $0.prefix.network == most.network }
        }

        /// Makes room for bytes that have come from a source.
        /// - Returns: how many reports gave way; nil if there is no room.
        mutating func makeRoom(for bytes: Int, of source: SourcePrefix) -> Int? {
            guard shareHasRoom(for: bytes, of: source) else { return nil }
            var displaced = 0
            while !hasRoom(for: bytes) {
                // Each costs a look at all of the queue.
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

    /// How many reports may wait, and how many bytes they may have together with those that are on their way.
    static let maximumCount = 2_048
    static let maximumBytes = 16 << 20
    /// How many reports give way to one at most.
    private static let maximumDisplaced = 16
    /// Bodies in a second from one source. A carrier's customers share an address, and each has one report a day.
    private static let sourceRate = 50.0
    private static let sourceBurst = 200.0
    /// Bodies in a second for one app, as many as one core reads.
    private static let appRate = 2_000.0
    private static let appBurst = 4_000.0

    private let state: Mutex<State>
    /// Counts what gave way.
    private let counters: ReportCounters?
    /// Kept nowhere else.
    private let salt = UInt64.random(in: .min ... .max)
    /// Yields when something waits.
    let arrivals: AsyncStream<Void>
    private let arrived: AsyncStream<Void>.Continuation

    /// Takes nothing before ``replace(with:)``.
    init(counters: ReportCounters? = nil) {
        self.counters = counters
        state = Mutex(
            State(
                sources: SourceBuckets(rate: Self.sourceRate, burst: Self.sourceBurst),
                apps: TokenBuckets(rate: Self.appRate, burst: Self.appBurst, maximumCount: 4_096)))
        (arrivals, arrived) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Takes reports for these apps and their canaries from now on, and for no others.
    func replace(with apps: [AppName: ReportHosts]) {
        var names: [AppName: Target] = [:]
        for app in apps.keys { names[app] = Target(app: app, audience: .everybody) }
        // A canary that is an app as well is the canary first: that is what is compared.
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

    /// The hosts about which reports of an app are counted.
    func hosts(of app: AppName) -> ReportHosts { state.withLock { $0.hosts[app] ?? .none } }

    /// How many reports wait.
    var count: Int { state.withLock { $0.items.count } }

    /// Decides whether a body may be sent. What a head says about the length of its body takes no room: only what comes does.
    /// - Parameters:
    ///   - name: the name of the app or of its canary; nil if none was given.
    ///   - source: where it comes from.
    ///   - now: nanoseconds that never go back.
    /// - Returns: a permit that counts the body while it is read.
    /// - Throws: why it is not read.
    func admit(_ name: AppName?, from source: SourcePrefix, at now: UInt64) throws(Refusal) -> BodyPermit {
        let refusal = state.withLock { state -> Refusal? in
            guard let names = state.names else { return .full }
            guard let name, let target = names[name] else { return .unknown }
            guard state.mayTake(1, of: source) else { return .full }
            if let wait = state.sources.take(source, at: now) { return .rate(seconds: max(1, Int(wait.rounded(.up)))) }
            // What a source may not send takes nothing of what its app may get.
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

    /// Takes a body. If the queue is full, what came last of the source that has most in it gives way.
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

    /// The body that has waited for the longest time; nil if none does.
    func next() -> Item? {
        state.withLock { state in
            guard let item = state.items.popFirst() else { return nil }
            state.giveBack(item.body.readableBytes, of: item.prefix)
            state.itemShares.remove(1, of: item.prefix)
            return item
        }
    }
}
