public import Holdfast
public import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import UnixSignals

/// A server that runs: both listeners, the watcher, and what has to be done again and again.
///
/// It ends on SIGTERM and SIGINT, within ten seconds. Commands may work on the same folder meanwhile.
public struct ServerProcess: Sendable {
    /// Whom a listener speaks to.
    public enum ReleaseChannel: String, Sendable, Hashable {
        /// Apps, and their users' phones.
        case apps
        /// People and their tools.
        case administration
    }

    private let services: [any Service]
    /// Ends the process when it is done; nil for a server that is whole.
    private let mending: FolderRepair?
    private let logger: Logger

    /// Longer than listeners take to finish answers.
    static let stopping: Duration = .seconds(9)

    /// Puts a server together. Nothing runs yet.
    /// - Parameters:
    ///   - open: the server's folder, open.
    ///   - settings: where to listen, and what to watch.
    ///   - clock: the time.
    ///   - ceiling: signatures in a second for all clients together; nil to measure what this machine can sign.
    ///   - connections: how many connections apps may have.
    ///   - mending: ends the process when the database can be written again; nil for one that can be.
    ///   - hold: the right to serve from a database of PostgreSQL; nil for a file.
    ///   - logger: for what fails, alarms, and each round.
    ///   - onListening: gets each address, such as `127.0.0.1:8080`.
    /// - Throws: ``ServerError`` `invalidValue` for settings that cannot be.
    public init(
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
        // Whoever uploads writes down how far it is.
        if mending == nil {
            services += [
                PlacesLoop(publisher, logger: logger),
                DeadlineWatch(publisher, lease: lease, logger: logger),
                CanaryWatch(publisher, lease: lease, logger: logger), ReportService(catalog, reports, logger: logger),
            ]
        }
        // Who looks at a host writes that down first.
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
        // Renewed from the start on: the database ends what is idle.
        let holding: [any Service] = hold.map { [DatabaseLockService(hold: $0, logger: logger)] } ?? []
        self.services =
            [listener, loop] + holding + services.map { DeferredService(service: $0, live: publisher.live) }
    }

    /// Puts a server together that has nothing but the documents in its folder: it serves them, and signs nothing.
    /// - Parameters:
    ///   - folder: the server's folder.
    ///   - problem: why its database cannot be used.
    ///   - settings: where to listen. Only apps are answered.
    ///   - clock: the time.
    ///   - connections: how many connections apps may have.
    ///   - mending: ends the process when the database can be used again.
    ///   - logger: for what fails.
    ///   - onListening: gets the address.
    public init(
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

    /// Who answers people's browsers, and works for that: nobody if no passkey can be used.
    static func browsers(
        _ publisher: Publisher, _ origin: RelyingParty?
    ) throws(ServerError) -> (responders: [AddressResponder], services: [any Service]) {
        guard let origin else { return ([], []) }
        let signIn = SignInResponder(publisher, at: origin)
        let viewer: ViewerFinder = { [sessions = signIn.sessions] request async throws(ServerError) in
            try await sessions.find(request)?.viewer
        }
        let pages = try PageResponder(
            publisher, script: PackageResources.passkeys_js,
            session: { [sessions = signIn.sessions] in sessions.known($0) }, viewer: viewer)
        let forms = FormResponder(signIn, pages)
        return (
            [{ await signIn.answer($0) }, { await forms.answer($0) }, { await pages.answer($0) }],
            [OverviewLoop(pages)]
        )
    }

    /// Runs until it is told to stop, or until what is missing is mended.
    /// - Throws: what a service throws, such as ``ServerError`` `invalidValue` for an address that is taken.
    public func run() async throws {
        var all = services.map { ServiceGroupConfiguration.ServiceConfiguration(service: $0) }
        if let mending {
            all.append(.init(service: mending, successTerminationBehavior: .gracefullyShutdownGroup))
        }
        var configuration = ServiceGroupConfiguration(
            services: all, gracefulShutdownSignals: [.sigterm, .sigint], logger: Self.quieter(logger))
        configuration.maximumGracefulShutdownDuration = Self.stopping
        try await ServiceGroup(configuration: configuration).run()
    }

    /// What libraries say is for whoever asks for more than the usual.
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

    /// How a server is.
    /// - Parameters:
    ///   - publisher: what it works with.
    ///   - problem: why nothing can be signed; nil if it can.
    ///   - isReading: whether the database cannot be written.
    ///   - now: the time.
    static func health(
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
