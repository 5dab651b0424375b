import HoldfastProbe
import NIOCore
import Synchronization

/// What clients report and nobody has read yet: a queue of its own, bounded in number and octets, so that a flood of reports
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
        var sources: TokenBuckets<SourcePrefix>
        var apps: TokenBuckets<AppName>
        var items = CircularBuffer<Item>()
        /// Those of what waits, and of what is on its way.
        var octets = 0

        func hasRoom(for octets: Int) -> Bool {
            items.count < ReportIntake.greatestCount && self.octets + octets <= ReportIntake.greatestOctets
        }
    }

    /// How many reports may wait, and how many octets they may have together with those that are on their way.
    static let greatestCount = 2_048
    static let greatestOctets = 16 << 20
    /// Bodies in a second from one source. A carrier's customers share an address, and each has one report a day.
    private static let sourceRate = 50.0
    private static let sourceBurst = 200.0
    /// Bodies in a second for one app, as many as one core reads.
    private static let appRate = 2_000.0
    private static let appBurst = 4_000.0

    private let state: Mutex<State>
    /// Kept nowhere else.
    private let salt = UInt64.random(in: .min ... .max)
    /// Yields when something waits.
    let arrivals: AsyncStream<Void>
    private let arrived: AsyncStream<Void>.Continuation

    /// Takes nothing before ``replace(with:)``.
    init() {
        state = Mutex(
            State(
                sources: TokenBuckets(rate: Self.sourceRate, burst: Self.sourceBurst),
                apps: TokenBuckets(rate: Self.appRate, burst: Self.appBurst, greatestCount: 4_096)))
        (arrivals, arrived) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Takes reports for these apps and their canaries from now on, and for no others.
    func replace(with apps: [AppName: ReportHosts]) {
        var names: [AppName: Target] = [:]
        for app in apps.keys { names[app] = Target(app: app, audience: .everybody) }
        // A canary that is an app as well is the canary first: that is what is compared.
        for app in apps.keys {
            guard let canary = AppName(octets: "\(app)-canary".utf8) else { continue }
            names[canary] = Target(app: app, audience: .canary)
        }
        state.withLock { state in
            state.names = names
            state.hosts = apps
        }
    }

    /// The hosts about which reports of an app are counted.
    func hosts(of app: AppName) -> ReportHosts { state.withLock { $0.hosts[app] ?? .none } }

    /// How many reports wait.
    var count: Int { state.withLock { $0.items.count } }

    /// Decides whether a body may be sent.
    /// - Parameters:
    ///   - name: the name of the app or of its canary; nil if none was given.
    ///   - octets: how long the body is, or may be.
    ///   - source: where it comes from.
    ///   - now: nanoseconds that never go back.
    /// - Returns: a permit to hold while the body is read.
    /// - Throws: why it is not read.
    func admit(
        _ name: AppName?, octets: Int, from source: SourcePrefix, at now: UInt64
    ) throws(Refusal) -> BodyPermit {
        let refusal = state.withLock { state -> Refusal? in
            guard let names = state.names else { return .full }
            guard let name, let target = names[name] else { return .unknown }
            guard state.hasRoom(for: octets) else { return .full }
            if let wait = state.sources.take(source, at: now) { return .rate(seconds: max(1, Int(wait.rounded(.up)))) }
            // What a source may not send takes nothing of what its app may get.
            if let wait = state.apps.take(target.app, at: now) {
                return .rate(seconds: max(1, Int(wait.rounded(.up))))
            }
            state.octets += octets
            return nil
        }
        if let refusal { throw refusal }
        return BodyPermit { [weak self] in self?.state.withLock { $0.octets -= octets } }
    }

    /// Takes a body.
    /// - Returns: whether there was room.
    func take(_ body: ByteBuffer, for name: AppName, from source: SourcePrefix) -> Bool {
        var hasher = Hasher()
        hasher.combine(salt)
        hasher.combine(source)
        let tag = UInt64(truncatingIfNeeded: hasher.finalize())
        let isTaken = state.withLock { state in
            guard let target = state.names?[name], state.hasRoom(for: body.readableBytes) else { return false }
            state.items.append(Item(app: target.app, audience: target.audience, source: tag, body: body))
            state.octets += body.readableBytes
            return true
        }
        if isTaken { arrived.yield() }
        return isTaken
    }

    /// The body that has waited for the longest time; nil if none does.
    func next() -> Item? {
        state.withLock { state in
            guard let item = state.items.popFirst() else { return nil }
            state.octets -= item.body.readableBytes
            return item
        }
    }
}
