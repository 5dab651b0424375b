public import Holdfast
public import HoldfastProbe
public import Logging
public import ServiceLifecycle

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
        /// How many hosts are looked at at the same time.
        public var hostsAtOnce = 8
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
    private static let greatestFindings = 2 * HostProbe.maximumAddresses + 1
    /// Between two questions for hosts that are due.
    private static let rest: Duration = .seconds(5)

    private let catalog: Catalog
    private let leases: HostLeases
    private let settings: Settings
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
            var generator = SystemRandomNumberGenerator()
            while !Task.isCancelled {
                do throws(ServerError) {
                    for report in try await round(using: &generator) {
                        for alarm in report.alarms {
                            logger.warning(
                                "alarm",
                                metadata: ["app": "\(report.app)", "host": "\(report.host)", "why": "\(alarm)"])
                        }
                    }
                } catch {
                    logger.error("the hosts could not be looked at", metadata: ["error": "\(error)"])
                }
                try? await Task.sleep(for: Self.rest)
            }
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

    private func look(
        at taken: [HostLeases.Lease], using generator: inout some RandomNumberGenerator
    ) async throws(ServerError) -> [Report] {
        let due = taken.map { ($0, settings.schedule.next(after: 0, using: &generator)) }
        let results = await withTaskGroup(of: Result<Report, ServerError>.self) { group in
            for (lease, delay) in due {
                group.addTask {
                    do throws(ServerError) {
                        return .success(try await look(lease, dueIn: delay))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            return await group.reduce(into: [Result<Report, ServerError>]()) { $0.append($1) }
        }
        var reports: [Report] = []
        var failures: [ServerError] = []
        for result in results {
            do throws(ServerError) { reports.append(try result.get()) } catch { failures.append(error) }
        }
        // What was found of other hosts is not lost with one.
        if reports.isEmpty, let first = failures.first { throw first }
        for failure in failures {
            logger.error("a host could not be looked at", metadata: ["error": "\(failure)"])
        }
        return reports
    }

    private func look(_ lease: HostLeases.Lease, dueIn delay: Int64) async throws(ServerError) -> Report {
        let scene = try await catalog.scene(of: lease.app)
        let label = "\(lease.name):\(lease.port)"
        guard let host = scene.hosts.first(where: { $0.host.label == label }) else {
            return Report(app: lease.app, host: label, findings: [], alarms: [])
        }
        let findings = Array(
            await watch(scene).look(at: try watched(host, in: scene)).prefix(Self.greatestFindings))
        let seen = observations(findings)
        let isWritten = try await leases.giveBack(lease, dueIn: delay) { session throws(ServerError) in
            let now = try session.now()
            for (address, chain, failure) in seen {
                let observation = Observation(
                    vantage: settings.vantage, address: address, chain: chain, failure: failure, firstSeen: now,
                    lastSeen: now)
                try Catalog.note(observation, at: lease.id, session)
            }
        }
        guard isWritten else { return Report(app: lease.app, host: label, findings: [], alarms: []) }
        try await catalog.say(seen.compactMap(\.chain), from: settings.vantage, on: host.host, of: lease.app)
        var alarms: [String] = []
        for finding in findings where finding.verdict == .unannounced {
            guard let key = finding.key else { continue }
            let words = "\(finding.place) showed the key \(key), which nobody announced"
            if try await catalog.alarm(about: key, on: host.host, of: lease.app, words: words) { alarms.append(words) }
        }
        return Report(app: lease.app, host: label, findings: findings, alarms: alarms)
    }

    private func watch(_ scene: AppScene) -> HostWatch {
        // The settings were checked when they were written; without anchors nothing would be valid.
        let anchors = (try? TrustAnchors(der: scene.app.settings.anchors)) ?? TrustAnchors([])
        return HostWatch(
            validator: PathValidator(anchors: anchors), allowing: settings.allowed, clock: settings.clock,
            resolver: settings.resolver, deadlines: settings.deadlines)
    }

    private func watched(_ host: AppScene.Host, in scene: AppScene) throws(ServerError) -> WatchedHost {
        let dialed = try Self.dialed(host.host.name, port: host.host.port)
        let published = scene.published?.hosts.first {
            $0.port == host.host.port && ((try? HostPattern($0.name))?.matches(dialed) ?? false)
        }
        return try WatchedHost(
            dialed,
            dial: try host.host.dial.map { name throws(ServerError) in
                try Self.dialed(name, port: host.host.port)
            }, published: published,
            announcedCertificates: host.next.chains.compactMap(\.chain.certificates.first),
            announcedKeys: host.next.keys)
    }

    private static func dialed(_ name: String, port: Int64) throws(ServerError) -> DialedHost {
        do {
            return try DialedHost(name, port: Int(port))
        } catch {
            throw ServerError(.invalidValue, of: "host", expected: "a name or an address", found: "\(error)")
        }
    }

    /// One for each address and chain: what an address shows with its second kind of key has a place of its own.
    private func observations(
        _ findings: [WatchFinding]
    ) -> [(address: String, chain: HostChain?, failure: String?)] {
        var counts: [String: Int] = [:]
        return findings.map { finding in
            let count = (counts[finding.place] ?? 0) + 1
            counts[finding.place] = count
            let place = count == 1 ? finding.place : "\(finding.place) #\(count)"
            let chain = finding.chain.isEmpty ? nil : try? HostChain(finding.chain)
            return (place, chain, chain == nil ? finding.words : nil)
        }
    }
}
