package import Holdfast
import HostMonitoring
package import Logging
import NIOCore
import NIOPosix
import PinChanges
package import PinPublication
package import PublicAPI
import ServerApprovals
package import ServerFoundation
import ServerHTTP
package import ServerStore
import ServerWeb
import ServiceLifecycle
import UnixSignals

/// A running server: both listeners, the watcher, and the regular work.
///
/// It ends on SIGTERM and SIGINT, within ten seconds. Commands may use the same folder in the meantime.
package struct ServerProcess: Sendable {
    /// The purpose of a listener.
    package enum ReleaseChannel: String, Sendable, Hashable {
        /// Apps, and their users' phones.
        case apps
        /// Administrators and their tools.
        case administration
    }

    private let services: [any Service]
    /// Ends the process when the database is usable again; nil if it is usable.
    private let mending: FolderRepair?
    private let logger: Logger

    /// Maximum time for a shutdown, longer than listeners take to finish responses.
    package static let stopping: Duration = .seconds(9)

    /// Creates a server. Nothing runs yet.
    /// - Parameters:
    ///   - open: the server's opened folder.
    ///   - settings: the settings of listeners, monitoring and notices.
    ///   - clock: the time.
    ///   - ceiling: signatures per second for all clients together; nil to measure what this machine can sign.
    ///   - connections: maximum number of connections from apps.
    ///   - mending: ends the process when the database is writable again; nil if it is writable.
    ///   - hold: the right to serve from a PostgreSQL database; nil for a file.
    ///   - logger: receives failures, alerts, and each round.
    ///   - onListening: receives each address, such as `127.0.0.1:8080`.
    /// - Throws: ``ServerError`` `invalidValue` for invalid settings.
    package init(
        _ open: ServerFolder.Open, _ settings: ServeSettings, clock: any WallClock, ceiling: Double? = nil,
        connections: Int, mending: FolderRepair? = nil, hold: DatabaseLock? = nil, logger: Logger,
        onListening: @escaping @Sendable (ReleaseChannel, String) -> Void
    ) throws(ServerError) {
        self.logger = logger
        self.mending = mending
        let publisher = open.publisher
        let group = MultiThreadedEventLoopGroup.singleton
        let catalog = open.catalog
        let counters = ListenerCounters()
        let notices = NoticeCounters()
        let reports = ReportInbox()
        let listenerLogger = Self.quieter(logger)
        var apps = settings.listen
        apps.limits.connections = min(apps.limits.connections, connections)
        let problem = open.secretProblem
        let isReading = mending != nil
        catalog.serve()
        let leaf = settings.listen.identity.map { identity in { @Sendable in identity.leaf } }
        let health: @Sendable () -> ServerHealth = {
            Self.health(of: publisher, secretProblem: problem, isReading: isReading)
        }
        let listener = PublicListener(
            apps, serving: publisher.live,
            budget: SigningBudget(ceiling: ceiling ?? SigningBudget.measuredCeiling(threads: System.coreCount)),
            time: { catalog.signingTime }, counters: counters,
            health: health, reports: reports, on: group, logger: listenerLogger, requests: logger,
            onListening: {
                publisher.listener.listens(on: $0?.ipAddress, port: $0?.port ?? 0, showing: leaf)
                onListening(.apps, Self.text($0))
            })
        let browsers = try Self.browsers(publisher, settings.adminOrigin)
        let administration = try AdministrationListener(
            settings.adminListen, for: publisher, counters: counters, beside: browsers.responders,
            health: health, on: group, logger: listenerLogger, requests: logger, notices: notices, reports: reports,
            onListening: { onListening(.administration, Self.text($0)) })
        let loop = PublishingLoop(
            publisher, renewing: [settings.listen, settings.adminListen].compactMap(\.identity),
            logger: logger)
        var services: [any Service] = [administration] + browsers.services
        var generator = SystemRandomNumberGenerator()
        let lease: ServiceLease? =
            if mending == nil, !catalog.engine.isOfOneMachine {
                ServiceLease("people", in: catalog.engine, machine: publisher.name, using: &generator)
            } else {
                nil
            }
        if let lease { services.append(lease) }
        // An upload records its progress in the database.
        if mending == nil {
            services += [
                PlacesLoop(publisher, logger: logger),
                DeadlineWatch(publisher, lease: lease, logger: logger),
                CanaryWatch(publisher, lease: lease, logger: logger), ReportService(catalog, reports, logger: logger),
            ]
        }
        // A probe records its result in the database.
        if settings.watches, mending == nil {
            var watch = Watcher.Settings(vantage: settings.vantage)
            watch.allowed = settings.allowed
            watch.clock = clock
            services.append(Watcher(open.catalog, watch, logger: logger))
        }
        if !settings.notices.names.isEmpty {
            services.append(
                NoticeService(
                    publisher, settings.notices, folder: open.folder, lease: lease, counters: notices,
                    logger: logger))
        }
        // Renew the lock from the start on: the database ends idle connections.
        let holding: [any Service] = hold.map { [DatabaseLockService(hold: $0, logger: logger)] } ?? []
        self.services =
            [listener, loop] + holding + services.map { DeferredService(service: $0, live: publisher.live) }
    }

    /// Creates a server that has only the documents in its folder: it serves them, and signs nothing.
    /// - Parameters:
    ///   - folder: the server's folder.
    ///   - problem: the reason why its database is unusable.
    ///   - settings: the settings of the apps' listener; no other listener runs.
    ///   - clock: the time.
    ///   - connections: maximum number of connections from apps.
    ///   - mending: ends the process when the database is usable again.
    ///   - logger: receives failures.
    ///   - onListening: receives the address.
    package init(
        documentsOf folder: ServerFolder, because problem: ServerError, _ settings: ServeSettings,
        clock: any WallClock, connections: Int, mending: FolderRepair, logger: Logger,
        onListening: @escaping @Sendable (ReleaseChannel, String) -> Void
    ) {
        self.logger = logger
        self.mending = mending
        let listenerLogger = Self.quieter(logger)
        var apps = settings.listen
        apps.limits.connections = min(apps.limits.connections, connections)
        let refresh = FolderRefresh(folder: folder.publicFolder, live: LiveSnapshot(), clock: clock)
        refresh.refresh()
        let listener = PublicListener(
            apps, serving: refresh.live, budget: SigningBudget(ceiling: 1), time: { nil },
            health: { ServerHealth(unwritable: ["Only documents are served: \(problem.code.rawValue)."]) },
            on: MultiThreadedEventLoopGroup.singleton,
            logger: listenerLogger, requests: logger, onListening: { onListening(.apps, Self.text($0)) })
        services = [listener, refresh]
    }

    /// The responders and services for browsers; none if passkeys are disabled.
    static func browsers(
        _ publisher: Publisher, _ origin: RelyingParty?
    ) throws(ServerError) -> (responders: [AddressResponder], services: [any Service]) {
        guard let origin else { return ([], []) }
        let signIn = SignInResponder(publisher, at: origin)
        let viewer: ViewerFinder = { [sessions = signIn.sessions] request async throws(ServerError) in
            try await sessions.find(request)?.viewer
        }
        let pages = try PageResponder(
            publisher,
            session: { [sessions = signIn.sessions] in sessions.known($0) }, viewer: viewer)
        let forms = FormResponder(signIn, pages)
        return (
            [{ await signIn.answer($0) }, { await forms.answer($0) }, { await pages.answer($0) }],
            [OverviewLoop(pages)]
        )
    }

    /// Runs until a shutdown is requested, or until the database is usable again.
    /// - Throws: errors of services, such as ``ServerError`` `invalidValue` for an address in use.
    package func run() async throws {
        var all = services.map { ServiceGroupConfiguration.ServiceConfiguration(service: $0) }
        if let mending {
            all.append(.init(service: mending, successTerminationBehavior: .gracefullyShutdownGroup))
        }
        var configuration = ServiceGroupConfiguration(
            services: all, gracefulShutdownSignals: [.sigterm, .sigint], logger: Self.quieter(logger))
        configuration.maximumGracefulShutdownDuration = Self.stopping
        try await ServiceGroup(configuration: configuration).run()
    }

    /// Library messages below warning are logged only at verbose levels.
    private static func quieter(_ logger: Logger) -> Logger {
        guard logger.logLevel >= .info else { return logger }
        var quieter = logger
        quieter.logLevel = max(.warning, logger.logLevel)
        return quieter
    }

    private static func text(_ address: SocketAddress?) -> String {
        guard let host = address?.ipAddress, let port = address?.port else { return "an unknown address" }
        return host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// The state of a server.
    /// - Parameters:
    ///   - publisher: the publisher, with the catalog.
    ///   - problem: the reason why nothing can be signed; nil if signing works.
    ///   - isReading: whether the database is not writable.
    ///   - now: the time.
    package static func health(
        of publisher: Publisher, secretProblem problem: ServerError?, isReading: Bool,
        at now: ContinuousClock.Instant = .now
    ) -> ServerHealth {
        let (catalog, snapshot) = (publisher.catalog, publisher.live.current)
        let unready = snapshot.starting == nil ? [] : ["What is served is still read."]
        return ServerHealth(
            unready: unready,
            unwritable: [
                problem.map { "Nothing can be signed: \($0)" }, catalog.clockProblem.map { "\($0)" },
                isReading || catalog.writeProblem != nil ? "The database cannot be written." : nil,
                catalog.isOutOfReach(at: now) ? "The database was not read for a minute." : nil,
                snapshot.isOfDocuments ? "The database cannot be read." : nil,
            ].compactMap(\.self) + unready)
    }
}
