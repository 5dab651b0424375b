public import Holdfast
public import HoldfastProbe
public import Logging
public import ServiceLifecycle
import Synchronization

/// Looks at the hosts that are due, again and again, and writes down what they show. A key that nobody announced raises an
/// alarm in the audit, once; nothing is proposed, and what was not seen changes nothing.
public struct Watcher: Service {
    /// How to look.
    public struct Settings: Sendable {
        /// From where, such as the name of the machine.
        public var vantage: String
        /// The blocks of addresses that may be asked although they are not of the public Internet.
        public var allowed: [AddressBlock] = []
        /// When to look again.
        public var schedule = WatchSchedule.usual
        /// How many hosts one round takes and looks at at the same time.
        public var hostsAtOnce = 32
        /// How many rounds there are at the same time: hosts that answer nothing hold up one, until their time is over.
        public var roundsAtOnce = 4
        /// The time of each decision.
        public var clock: any WallClock = SystemWallClock()
        /// Finds the addresses of names.
        public var resolver = AddressResolver.system
        /// How long a host may take; all together less than a lease.
        public var deadlines = ProbeDeadlines()

        /// The usual way, from a vantage.
        public init(vantage: String = Vantage.usual) { self.vantage = vantage }
    }

    /// What a look found.
    public struct Report: Sendable {
        /// The app.
        public let app: AppName
        /// `NAME:PORT`.
        public let host: String
        /// What each address showed; empty if the host is gone, or was taken by another process meanwhile.
        public let findings: [WatchFinding]
        /// The alarms that are new, in words.
        public let alarms: [String]
    }

    /// Seconds; longer than any host takes, with all deadlines.
    private static let lease: Int64 = 180
    /// A name may resolve to thousands of addresses: these are all that are asked, with both kinds of key, and one more that
    /// says so.
    private static let maximumFindings = 2 * HostProbe.maximumAddresses + 1
    /// Between two questions for hosts that are due.
    private static let rest: Duration = .seconds(5)

    private let catalog: Catalog
    private let leases: HostLeases
    private let settings: Settings
    private let memory = WatchMemory()
    private let logger: Logger

    /// Watches the hosts of a catalog.
    public init(_ catalog: Catalog, _ settings: Settings, logger: Logger) {
        self.catalog = catalog
        leases = HostLeases(catalog.engine)
        self.settings = settings
        self.logger = logger
    }

    /// Watches until the task is canceled or asked to stop. Without the database it goes on trying.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                var rounds = 0
                while !Task.isCancelled {
                    if rounds >= max(1, settings.roundsAtOnce) {
                        _ = await group.next()
                        rounds -= 1
                    }
                    let taken = await take()
                    if !taken.isEmpty {
                        rounds += 1
                        group.addTask { await watch(taken) }
                    }
                    // Fewer than a round takes: nothing else is due.
                    if taken.count < hostsAtOnce { try? await Task.sleep(for: Self.rest) }
                }
            }
        }
    }

    private func take() async -> [HostLeases.Lease] {
        // By a wrong clock every certificate is expired, or none.
        guard catalog.clockProblem == nil else { return [] }
        var generator = SystemRandomNumberGenerator()
        do throws(ServerError) {
            return try await leases.take(hostsAtOnce, for: Self.lease, token: RandomID(using: &generator))
        } catch {
            logger.error("the hosts could not be looked at", metadata: ["error": "\(error)"])
            return []
        }
    }

    private func watch(_ taken: [HostLeases.Lease]) async {
        var generator = SystemRandomNumberGenerator()
        do throws(ServerError) {
            for report in try await look(at: taken, using: &generator) {
                for alarm in report.alarms {
                    logger.warning(
                        "alarm", metadata: ["app": "\(report.app)", "host": "\(report.host)", "why": "\(alarm)"])
                }
            }
        } catch {
            logger.error("the hosts could not be looked at", metadata: ["error": "\(error)"])
        }
    }

    /// Looks at the hosts that are due, once.
    /// - Parameter generator: where chance comes from.
    /// - Returns: a report for each; none while the clock cannot be believed.
    /// - Throws: ``ServerError`` of the database, after all looks have ended, if none could be written down.
    public func round(using generator: inout some RandomNumberGenerator) async throws(ServerError) -> [Report] {
        // By a wrong clock every certificate is expired, or none.
        guard catalog.clockProblem == nil else { return [] }
        let token = RandomID(using: &generator)
        return try await look(
            at: try await leases.take(hostsAtOnce, for: Self.lease, token: token), using: &generator)
    }

    /// Looks at all hosts of an app now, due or not.
    /// - Parameters:
    ///   - app: the app.
    ///   - generator: where chance comes from.
    /// - Returns: a report for each host that no other process looks at right now.
    /// - Throws: ``ServerError`` `notFound` for an app that does not exist; `clock`; of the database.
    public func look(
        at app: AppName, using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> [Report] {
        _ = try await catalog.app(app)
        if let problem = catalog.clockProblem { throw problem }
        var reports: [Report] = []
        var last: Int64 = 0
        while true {
            let token = RandomID(using: &generator)
            let taken = try await leases.take(
                of: app, after: last, hostsAtOnce, for: Self.lease, token: token)
            guard let end = taken.map(\.id).max() else { return reports }
            last = end
            reports += try await look(at: taken, using: &generator)
        }
    }

    private var hostsAtOnce: Int64 { Int64(max(1, settings.hostsAtOnce)) }

    /// A look that has ended.
    private struct Look: Sendable {
        let target: WatchTargets.Target
        let delay: Int64
        let findings: [WatchFinding]
    }

    private func look(
        at taken: [HostLeases.Lease], using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> [Report] {
        guard !taken.isEmpty else { return [] }
        let scene = try await catalog.watchScene(of: taken, remembering: memory)
        var reports: [Report] = []
        var failures: [ServerError] = []
        var due: [(target: WatchTargets.Target, delay: Int64)] = []
        var unread: [HostLeases.Return] = []
        for (lease, result) in zip(taken, scene.targets) {
            do throws(ServerError) {
                if let target = try result.get() {
                    due.append((target, settings.schedule.next(after: 0, using: &generator)))
                } else {
                    reports.append(Self.nothing(lease))
                }
            } catch {
                failures.append(error)
                // It is due again as if it had been looked at: a lease that nobody gives back would keep its host from everybody.
                let delay = settings.schedule.next(after: 0, using: &generator)
                unread.append(HostLeases.Return(lease: lease, delay: delay) { _ in })
            }
        }
        if !unread.isEmpty { _ = try await leases.giveBack(unread) }
        let looks = await withTaskGroup(of: Look.self) { group in
            for (target, delay) in due {
                group.addTask { Look(target: target, delay: delay, findings: await findings(target)) }
            }
            return await group.reduce(into: [Look]()) { $0.append($1) }
        }
        reports += try await write(looks)
        // What was found of other hosts is not lost with one.
        if reports.isEmpty, let first = failures.first { throw first }
        for failure in failures {
            logger.error("a host could not be looked at", metadata: ["error": "\(failure)"])
        }
        return reports
    }

    private static func nothing(_ lease: HostLeases.Lease) -> Report {
        Report(app: lease.app, host: "\(lease.name):\(lease.port)", findings: [], alarms: [])
    }

    private func findings(_ target: WatchTargets.Target) async -> [WatchFinding] {
        let findings = await HostWatch(
            validator: target.validator, allowing: settings.allowed, clock: settings.clock,
            resolver: settings.resolver, deadlines: settings.deadlines
        ).look(at: target.watched)
        return Array(findings.prefix(Self.maximumFindings))
    }

    /// Writes down what was seen, in one transaction, then what the audit has to know of it.
    private func write(_ looks: [Look]) async throws(ServerError) -> [Report] {
        let seen = looks.map { observations($0.findings) }
        let vantage = settings.vantage
        // A chain that is not kept says nothing, also not in the audit.
        let stored = Mutex<[Int64: [CertificateChain]]>([:])
        let returns = zip(looks, seen).map { look, seen in
            HostLeases.Return(lease: look.target.lease, delay: look.delay) { session throws(ServerError) in
                let now = try session.now()
                let observations = seen.map { seen in
                    Observation(
                        vantage: vantage, address: seen.address, chain: seen.chain, failure: seen.failure,
                        firstSeen: now, lastSeen: now)
                }
                let chains = try Catalog.note(
                    observations, at: look.target.lease.id, standings: Self.standings(look), session)
                stored.withLock { $0[look.target.lease.id] = chains }
            }
        }
        let written = try await leases.giveBack(returns)
        let chains = stored.withLock { $0 }
        try await say(looks, looks.map { chains[$0.target.lease.id] ?? [] }, written)
        var reports: [Report] = []
        for look in looks {
            let (target, lease) = (look.target, look.target.lease)
            guard written.contains(lease.id) else {
                reports.append(Self.nothing(lease))
                continue
            }
            reports.append(
                Report(
                    app: lease.app, host: target.host.label, findings: look.findings, alarms: try await alarms(look)))
        }
        return reports
    }

    /// How much each chain of a look says. A verdict of ``WatchFinding/Verdict/known`` means that the handshake was completed.
    private static func standings(_ look: Look) -> [Digest: SightingStanding] {
        var standings: [Digest: SightingStanding] = [:]
        for finding in look.findings {
            let isApproved = finding.key.map(look.target.approvedKeys.contains) ?? false
            let standing: SightingStanding = finding.verdict == .known ? .accepted : isApproved ? .approvedKey : .other
            guard standing != .other else { continue }
            let digest = Digest(of: Array(finding.chain.joined()))
            if standing.rawValue > standings[digest]?.rawValue ?? 0 { standings[digest] = standing }
        }
        return standings
    }

    private func say(
        _ looks: [Look], _ chains: [[CertificateChain]], _ written: Set<Int64>
    ) async throws(ServerError) {
        let now = try await catalog.now()
        var strangers: [Catalog.Stranger] = []
        for (look, chains) in zip(looks, chains) where written.contains(look.target.lease.id) {
            let (target, app) = (look.target, look.target.lease.app)
            let standings = Self.standings(look)
            let said = Catalog.sayable(chains, unlike: target.known, standings)
            guard !said.isEmpty, !catalog.hasSaid(said, from: settings.vantage, on: target.host, of: app, at: now)
            else { continue }
            strangers.append(
                Catalog.Stranger(
                    id: target.lease.id, host: target.host, app: app, chains: chains, standings: standings))
        }
        try await catalog.say(strangers, from: settings.vantage)
    }

    private func alarms(_ look: Look) async throws(ServerError) -> [String] {
        let (host, app) = (look.target.host, look.target.lease.app)
        var alarms: [String] = []
        let unannounced = look.findings.filter { $0.verdict == .unannounced }
        guard !unannounced.isEmpty else { return [] }
        let now = try await catalog.now()
        for finding in unannounced {
            // What is in the audit already needs no transaction.
            guard let key = finding.key, !catalog.hasAlarm(about: key, on: host, of: app, at: now) else { continue }
            let words = "\(finding.place) showed the key \(key), which nobody announced"
            if let raised = try await catalog.alarm(about: key, on: host, of: app, words: words) {
                alarms.append(raised)
            }
        }
        return alarms
    }

    /// One for each address and chain: what an address shows with its second kind of key has a place of its own.
    private func observations(
        _ findings: [WatchFinding]
    ) -> [(address: String, chain: CertificateChain?, failure: String?)] {
        var counts: [String: Int] = [:]
        return findings.map { finding in
            let count = (counts[finding.place] ?? 0) + 1
            counts[finding.place] = count
            let place = count == 1 ? finding.place : "\(finding.place) #\(count)"
            let chain = finding.chain.isEmpty ? nil : try? CertificateChain(finding.chain)
            return (place, chain, chain == nil ? finding.words : nil)
        }
    }
}
