package import Holdfast
package import HoldfastProbe
package import Logging
package import ServerFoundation
import ServerModel
package import ServerStore
import ServiceLifecycle
import Synchronization

/// Probes the hosts that are due, again and again, and records the presented chains. An unannounced key raises an alert
/// in the audit, once; nothing is proposed, and a failed probe changes nothing.
package struct Watcher: Service {
    /// The settings of a watcher.
    package struct Settings: Sendable {
        /// The name of the vantage, such as that of the machine.
        package var vantage: String
        /// The blocks of addresses that are permitted although they are not public.
        package var allowed: [AddressBlock] = []
        /// The schedule of probes.
        package var schedule = WatchSchedule.usual
        /// The number of hosts that one round leases and probes concurrently.
        var hostsAtOnce = 32
        /// The number of concurrent rounds: hosts that do not respond block one until their deadline.
        var roundsAtOnce = 4
        /// The time of each decision.
        package var clock: any WallClock = SystemWallClock()
        /// Resolves names to addresses.
        package var resolver = AddressResolver.system
        /// The time limits of a host; their sum is less than a lease.
        var deadlines = ProbeDeadlines()

        /// The default settings, for a vantage.
        package init(vantage: String = Vantage.usual) { self.vantage = vantage }
    }

    /// The result of a probe.
    package struct Report: Sendable {
        /// The app.
        package let app: AppName
        /// `NAME:PORT`.
        package let host: String
        /// The finding of each address; empty if the host was removed, or leased by another process since.
        package let findings: [WatchFinding]
        /// The new alerts, as messages.
        package let alarms: [String]
    }

    /// The duration of a lease in seconds; longer than a host takes, with all deadlines.
    private static let lease: Int64 = 180
    /// Maximum number of findings of a host, whose name may resolve to thousands of addresses: both kinds of key for
    /// each probed address, and one finding about the omitted ones.
    private static let maximumFindings = 2 * HostProbe.maximumAddresses + 1
    /// The pause between two queries for hosts that are due.
    private static let rest: Duration = .seconds(5)

    private let catalog: Catalog
    private let leases: HostLeases
    private let settings: Settings
    private let memory = WatchMemory()
    private let logger: Logger

    /// Watches the hosts of a catalog.
    package init(_ catalog: Catalog, _ settings: Settings, logger: Logger) {
        self.catalog = catalog
        leases = HostLeases(catalog.engine)
        self.settings = settings
        self.logger = logger
    }

    /// Watches until the task is canceled or asked to stop. If the database is unavailable, it keeps trying.
    package func run() async throws {
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
                    // No more hosts are due.
                    if taken.count < hostsAtOnce { try? await Task.sleep(for: Self.rest) }
                }
            }
        }
    }

    private func take() async -> [HostLeases.Lease] {
        // With a wrong clock, every certificate looks expired, or none does.
        guard catalog.clockProblem == nil else { return [] }
        var generator = SystemRandomNumberGenerator()
        do throws(ServerError) {
            return try await leases.take(hostsAtOnce, for: Self.lease, token: RandomID(using: &generator))
        } catch {
            logger.error("hosts could not be probed", metadata: ["error": "\(error)"])
            return []
        }
    }

    private func watch(_ taken: [HostLeases.Lease]) async {
        var generator = SystemRandomNumberGenerator()
        do throws(ServerError) {
            for report in try await look(at: taken, using: &generator) {
                for alarm in report.alarms {
                    logger.warning(
                        "alert", metadata: ["app": "\(report.app)", "host": "\(report.host)", "why": "\(alarm)"])
                }
            }
        } catch {
            logger.error("hosts could not be probed", metadata: ["error": "\(error)"])
        }
    }

    /// Probes the hosts that are due, once.
    /// - Parameter generator: the source of randomness.
    /// - Returns: a report for each; none while the clock is not trusted.
    /// - Throws: ``ServerError`` of the database, after all probes have ended, if no result could be written.
    package func round(using generator: inout some RandomNumberGenerator) async throws(ServerError) -> [Report] {
        // With a wrong clock, every certificate looks expired, or none does.
        guard catalog.clockProblem == nil else { return [] }
        let token = RandomID(using: &generator)
        return try await look(
            at: try await leases.take(hostsAtOnce, for: Self.lease, token: token), using: &generator)
    }

    /// Probes all hosts of an app now, due or not.
    /// - Parameters:
    ///   - app: the app.
    ///   - generator: the source of randomness.
    /// - Returns: a report for each host that no other process is probing.
    /// - Throws: ``ServerError`` `notFound` for an app that does not exist; `clock`; of the database.
    package func look(
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

    /// A completed probe.
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
                // Schedule it as after a probe: a lease that is not returned would block the host for every process.
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
        // An error for one host must not discard the findings of others.
        if reports.isEmpty, let first = failures.first { throw first }
        for failure in failures {
            logger.error("a host could not be probed", metadata: ["error": "\(failure)"])
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

    /// Writes the observations in one transaction, then the resulting entries of the audit.
    private func write(_ looks: [Look]) async throws(ServerError) -> [Report] {
        let seen = looks.map { observations($0.findings) }
        let vantage = settings.vantage
        // A chain that is not stored is not used, not even in the audit.
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

    /// The standing of each chain of a probe. The verdict ``WatchFinding/Verdict/known`` means that the handshake was
    /// completed.
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
            // An alert that the audit contains already needs no transaction.
            guard let key = finding.key, !catalog.hasAlarm(about: key, on: host, of: app, at: now) else { continue }
            let words = "\(finding.place) showed the key \(key), which nobody announced"
            if let raised = try await catalog.alarm(about: key, on: host, of: app, words: words) {
                alarms.append(raised)
            }
        }
        return alarms
    }

    /// One observation for each address and chain: a chain with the second kind of key counts as a separate address.
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
