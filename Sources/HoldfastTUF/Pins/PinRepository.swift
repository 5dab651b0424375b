import Dispatch
public import Foundation
public import Holdfast
public import Logging

#if ServiceLifecycle
public import ServiceLifecycle

extension PinRepository: Service {}
#endif

/// Keeps pins up to date from a repository that nobody can roll back. It downloads the repository's pin file, verifies
/// it by The Update Framework, stores it and renews it, and gives the pins to policies.
///
/// ```swift
/// let floor = PinFloor(covering: [try HostPattern("api.example.com")])
/// var configuration = PinRepositoryConfiguration(source: .bundle(url), root: root, floor: floor)
/// configuration.buildDate = buildDate
/// configuration.shipped = .init(bundle: bundleOfThisBuild, grace: .seconds(2 * 365 * 86_400))
/// let repository = try await PinRepository.load(configuration: configuration)
/// manager.add(policy: try repository.policy(for: "api.example.com"))
/// ```
/// A new pin file replaces the old one as a whole. One that falls short of the ``PinFloor``, or is older than the
/// current one, does not change the pins. When metadata expires, pins are no longer refreshed but still enforced: they
/// end at the pin file's `notAfter` plus its grace period. Policies read a snapshot, and wait for neither storage nor
/// network.
public final class PinRepository: Sendable {
    /// How current the pins are.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// There are no pins: every connection is refused.
        case absent
        /// The pins are valid, and no metadata has expired: newer pins cannot have been withheld for longer than the
        /// repository's expirations allow.
        case fresh
        /// The pins are valid. Metadata has expired and no newer metadata has arrived: somebody may be withholding it.
        case stale
        /// The pin file is past its `notAfter`. Its pins are valid until the grace period ends, and each use is
        /// reported.
        case grace
        /// The grace period has ended. Each host's entry says what happens then; by default every connection is
        /// refused.
        case expired
    }

    /// Something that happens in a repository.
    public enum Event: Sendable {
        /// An update begins.
        case updateStarted(StoreUpdateKind)
        /// An update has ended.
        case updateFinished(StoreUpdateReport)
        /// A new pin file is in use. The values are its issue time and its number of entries.
        case pinsReplaced(issuedAt: Date, hosts: Int)
        /// A pin file has an issue time that is this far ahead of the clock. The pin file is used all the same. It
        /// moves ``PinRepository/trustedTime`` ahead, but by a day at most.
        case issuedAheadOfClock(Duration)
        /// A host was evaluated with pins that are this long past their `notAfter`.
        case usedInGrace(host: DialledHost, age: Duration)
        /// Everything that was stored has been deleted.
        case reset
    }

    /// How the repository was configured.
    public let configuration: PinRepositoryConfiguration
    /// The clock that was given. Decisions use ``trustedTime``, which may be later.
    public let clock: any WallClock

    let documents: DocumentStore<PinRepositoryFormat>
    let log: PolicyLog
    private let observers: Subscribers<@Sendable (Event) -> Void>
    /// The beginning of the grace period that was last logged: each one is logged once.
    private let loggedGrace = Lock<Date?>(nil)

    /// Makes a repository if the configuration is valid. It reads and verifies the stored and the shipped state before
    /// it returns. ``load(configuration:clock:logger:)`` does the same off the caller's thread.
    /// - Parameters:
    ///   - configuration: where the pins come from and what they must fulfill.
    ///   - clock: tells the time.
    ///   - logger: logs failed updates, pins in their grace period and hosts without a backup pin; nil for a logger
    ///     labelled `holdfast.store`.
    /// - Throws: `StoreError` `invalidConfiguration`.
    public convenience init(
        checking configuration: PinRepositoryConfiguration, clock: any WallClock = SystemWallClock(),
        logger: Logger? = nil
    ) throws(StoreError) {
        try self.init(configuration, clock, Self.log(logger))
    }

    private static func log(_ logger: Logger?) -> PolicyLog { logger.map { PolicyLog($0) } ?? .shared }

    private init(
        _ configuration: PinRepositoryConfiguration, _ clock: any WallClock, _ log: PolicyLog
    ) throws(StoreError) {
        if let error = configuration.error { throw error }
        self.configuration = configuration
        self.clock = clock
        self.log = log
        let observers = Subscribers<@Sendable (Event) -> Void>()
        self.observers = observers
        documents = DocumentStore(
            format: PinRepositoryFormat(configuration: configuration, shipped: try Self.shipped(configuration)),
            clock: clock, crypto: SwiftCryptoProvider(), dataStore: configuration.secureDataStore,
            provider: configuration.remoteDataProvider, logger: log.storeLogger,
            tell: { event in
                guard let event = Self.event(event) else { return }
                for observer in observers.all { observer(event) }
            })
    }

    /// Makes a repository if the configuration is valid, reading and verifying off the caller's thread.
    /// - Throws: `StoreError` `invalidConfiguration`.
    public static func load(
        configuration: PinRepositoryConfiguration, clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) async throws(StoreError) -> PinRepository {
        // The task-local log of this task is not visible on the queue.
        let log = log(logger)
        return try await DispatchQueue.global().run { () throws(StoreError) in
            try PinRepository(configuration, clock, log)
        }
    }

    /// Verifies the shipped bundle: it must have been current when the app was built.
    private static func shipped(
        _ configuration: PinRepositoryConfiguration
    ) throws(StoreError) -> VerifiedPins? {
        guard let shipped = configuration.shipped, let buildDate = configuration.buildDate else { return nil }
        do throws(StoreError) {
            let bundle: RepositoryBundle
            do throws(TUFError) {
                bundle = try RepositoryBundle(
                    [UInt8](shipped.bundle), maximumBytes: configuration.maximumBundleBytes)
            } catch {
                throw StoreError(error)
            }
            return try VerifiedPins(
                proving: bundle, configuration, at: UpdateStart(buildDate),
                issuedUpTo: buildDate.addingTimeInterval(TrustedTime.longestLead), grace: shipped.grace)
        } catch {
            throw StoreError(
                .invalidConfiguration, expected: "a bundle that was current at the build's date: \(error.expected)",
                found: error.found, remedy: "Ship the bundle that the repository serves when the app is built.",
                underlying: error.underlying)
        }
    }

    // MARK: State

    /// The time that decisions use: the latest of the clock, the build date, and the newest pin file's `issuedAt`. The
    /// last can move it at most one day past the others.
    public var trustedTime: Date { documents.trustedTime }

    /// How current the pins are now.
    public var state: State {
        let snapshot = documents.snapshot
        return snapshot.content?.pins?.state(at: snapshot.trustedTime.time(clock: clock.now)) ?? .absent
    }

    /// The current pin file; nil while there is none.
    public var pinFile: PinFile? { documents.snapshot.content?.pins?.file }

    /// When the next update is due, or the next attempt if the last one failed.
    public var nextUpdate: Date { documents.nextUpdate }

    /// The outcome of the last update, including silent ones; nil before the first.
    public var lastUpdate: StoreUpdateReport? { documents.lastUpdate }

    /// What was wrong with the stored state when the repository was made; nil if it was fine or absent.
    public var storageError: StoreError? { documents.storageError }

    // MARK: Updates

    /// Brings the pins up to date. If there are no pins, or if `mode` forces an update, it waits for the download. If a
    /// renewal is due, it starts the download in the background and returns at once. Otherwise it does nothing.
    /// - Returns: the outcome, or that the update continues in the background.
    /// - Throws: `StoreError` if there are no usable pins afterwards, or if a forced update failed. Its `underlying`
    ///   error is a ``TUFError``, a ``PinFloorError`` or a `PinFileError` if one of them is the reason.
    @discardableResult
    public func update(mode: StoreUpdateMode = .default) async throws(StoreError) -> StoreUpdateReport {
        try await documents.update(mode: mode)
    }

    /// Keeps the pins up to date until the task is cancelled, or until the service group that runs the repository shuts
    /// down. Without it, updates start only when a policy is evaluated while one is due.
    public func run() async throws {
        try await untilShutdown { try await self.run(sleepingOn: ContinuousClock()) }
    }

    /// Keeps the pins up to date until the task is cancelled, sleeping on the given clock.
    public func run(sleepingOn sleeper: some Clock<Duration>) async throws {
        await documents.run(sleepingOn: sleeper)
    }

    /// Deletes everything that was stored, and returns to the shipped pins. It blocks on storage.
    public func reset() { documents.reset() }

    // MARK: Watching

    /// Calls an observer for every event from now on, on the thread where the event happens, with no lock held.
    @discardableResult
    public func addObserver(_ observer: @escaping @Sendable (Event) -> Void) -> ObserverToken {
        observers.add(observer)
    }

    /// Ends an observation.
    public func removeObserver(_ token: ObserverToken) { observers.remove(token) }

    /// Every event from now on; any number of listeners may each ask for a stream. If a listener falls behind, it gets
    /// the latest 256 events.
    public func events() -> AsyncStream<Event> { observers.stream() }

    /// Reports a decision by pins in their grace period: to observers each time, to the log once per document.
    func reportGrace(_ pins: VerifiedPins, for host: DialledHost, age: TimeInterval) {
        for observer in observers.all {
            observer(.usedInGrace(host: host, age: Duration(exactSeconds: age) ?? .seconds(Int64.max)))
        }
        let isFirst = loggedGrace.withLock { logged in
            defer { logged = pins.graceBegins }
            return logged != pins.graceBegins
        }
        guard isFirst else { return }
        documents.warn(
            "the pin file is past its notAfter and still counts",
            ["end": pins.end.formatted(.iso8601), "lastUpdate": lastUpdate?.error?.description ?? "none"])
    }

    private static func event(_ event: DocumentStoreEvent<RepositoryState>) -> Event? {
        switch event {
        case .updateStarted(let kind): return .updateStarted(kind)
        case .updateFinished(let report): return .updateFinished(report)
        case .issuedAhead(let duration): return .issuedAheadOfClock(duration)
        case .reset: return .reset
        case .loaded: return nil
        case .replaced(let content):
            guard content.bringsNewPins, let file = content.pins?.file, let issued = file.issuedAt else { return nil }
            return .pinsReplaced(issuedAt: issued, hosts: file.hosts.count)
        }
    }
}
