import Dispatch
public import Foundation
public import Holdfast
public import Logging

#if ServiceLifecycle
public import ServiceLifecycle

extension PinRepository: Service {}
#endif

/// Keeps the pins of a repository that cannot be rolled back: downloads its pin file, verifies it by The Update
/// Framework, stores it and renews it, and gives its pins to policies.
///
/// ```swift
/// let floor = PinFloor(covering: [try HostPattern("api.example.com")])
/// var configuration = PinRepositoryConfiguration(source: .bundle(url), root: root, floor: floor)
/// configuration.buildDate = buildDate
/// configuration.shipped = .init(bundle: bundleOfThisBuild, grace: .seconds(2 * 365 * 86_400))
/// let repository = try await PinRepository.load(configuration: configuration)
/// manager.add(policy: try repository.policy(for: "api.example.com"))
/// ```
/// A new pin file replaces the old one as a whole. One that is below the ``PinFloor``, or is not the newest, does not
/// change the pins. Expired metadata ends refreshing, never pinning: pins end at the pin file's `notAfter` plus its
/// grace. Policies read a snapshot, and wait for neither storage nor network.
public final class PinRepository: Sendable {
    /// How current the pins are at a moment.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// There are no pins: nobody is trusted.
        case absent
        /// The pins count, and no newer ones can have stayed unseen for longer than the repository allows.
        case fresh
        /// The pins count. Metadata has expired and no newer metadata has arrived: somebody may be holding it back.
        case stale
        /// The pin file is past its `notAfter`. Its pins count until the grace ends, and each use is reported.
        case grace
        /// The grace has ended. Each host's entry says what happens then; by default nobody is trusted.
        case expired
    }

    /// Something that happens in a repository.
    public enum Event: Sendable {
        /// An update begins.
        case updateStarted(StoreUpdateKind)
        /// An update has ended.
        case updateFinished(StoreUpdateReport)
        /// A new pin file counts: when it was issued, and how many entries it has.
        case pinsReplaced(issuedAt: Date, hosts: Int)
        /// A pin file has an issue time that is this far ahead of the clock. It counts all the same, and moves
        /// ``PinRepository/trustedTime``, but by a day at most.
        case issuedAheadOfClock(Duration)
        /// A host was evaluated with pins that are this long past their `notAfter`.
        case usedInGrace(host: DialledHost, age: Duration)
        /// What was stored has been deleted.
        case reset
    }

    /// How the repository was configured.
    public let configuration: PinRepositoryConfiguration
    /// What the time is, before what is known better; see ``trustedTime``.
    public let clock: any WallClock

    let documents: DocumentStore<PinRepositoryFormat>
    private let observers: Subscribers<@Sendable (Event) -> Void>
    /// The document that was last said in the log to be in its grace.
    private let loggedGrace = Lock<Date?>(nil)
    /// The document of which a mismatch was last reported only.
    private let reported = Lock<UInt64?>(nil)

    /// Makes a repository if the configuration is valid. It reads and verifies what is stored, and what is shipped,
    /// before it returns; ``load(configuration:clock:logger:)`` does the same off the caller's thread.
    /// - Parameters:
    ///   - configuration: how it works.
    ///   - clock: tells the time.
    ///   - logger: is told of failed updates, of pins in their grace period and of hosts without a backup; nil for a
    ///     logger labelled `holdfast.store`.
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
        let observers = Subscribers<@Sendable (Event) -> Void>()
        self.observers = observers
        documents = DocumentStore(
            format: PinRepositoryFormat(
                configuration: configuration, shipped: try Self.shipped(configuration, clock, log), clock: clock,
                log: log),
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
        // The queue knows nothing of this task's own log.
        let log = log(logger)
        return try await DispatchQueue.global().run { () throws(StoreError) in
            try PinRepository(configuration, clock, log)
        }
    }

    /// What the app came with: it had to be current when the app was built.
    private static func shipped(
        _ configuration: PinRepositoryConfiguration, _ clock: any WallClock, _ log: PolicyLog
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
                issuedUpTo: buildDate.addingTimeInterval(TrustedTime.longestLead), grace: shipped.grace, clock: clock,
                log: log)
        } catch {
            throw StoreError(
                .invalidConfiguration, expected: "a bundle that was current at the build's date: \(error.expected)",
                found: error.found, remedy: "Ship the bundle that the repository serves when the app is built.",
                underlying: error.underlying)
        }
    }

    // MARK: What is known

    /// The latest of the clock, the date of the build, and the newest pin file's `issuedAt`, which moves it to a day
    /// past the others at most.
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

    /// Brings the pins up to date. If there are no pins, or the update is forced, this waits for the download. If a
    /// renewal is due, it starts the download in the background and returns at once. Otherwise it does nothing.
    /// - Returns: the outcome, or that the update continues in the background.
    /// - Throws: `StoreError` if there are no usable pins afterwards, or a forced update failed. Its `underlying` error
    ///   is a ``TUFError``, a ``PinFloorError`` or a `PinFileError` if one of them is the reason.
    @discardableResult
    public func update(mode: StoreUpdateMode = .default) async throws(StoreError) -> StoreUpdateReport {
        try await documents.update(mode: mode)
    }

    /// Keeps the pins up to date until the task is cancelled, or until the service group that runs the repository shuts
    /// down. Without it, a decision triggers an update when one is due.
    public func run() async throws {
        try await untilShutdown { try await self.run(sleepingOn: ContinuousClock()) }
    }

    /// Keeps the pins up to date until the task is cancelled, sleeping on the given clock.
    public func run(sleepingOn sleeper: some Clock<Duration>) async throws {
        await documents.run(sleepingOn: sleeper)
    }

    /// Deletes everything that was stored; what was shipped counts again. This blocks on storage.
    public func reset() { documents.reset() }

    // MARK: Watching

    /// Calls an observer for everything that happens from now on, on the thread where it happens, with no lock held.
    @discardableResult
    public func addObserver(_ observer: @escaping @Sendable (Event) -> Void) -> ObserverToken {
        observers.add(observer)
    }

    /// Ends an observation.
    public func removeObserver(_ token: ObserverToken) { observers.remove(token) }

    /// Everything that happens from now on, for any number of listeners. For a listener that falls behind, the latest
    /// 256 events are kept.
    public func events() -> AsyncStream<Event> { observers.stream() }

    /// Reports a decision by pins in their grace: each to observers, one a document to the log.
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

extension PinRepository {
    /// Starts an update after a mismatch that keeps nobody out, once for each document: it may be what the pins are
    /// reported for, and last for months.
    func updateAfterReport() {
        let revision = documents.revision
        let isFirst = reported.withLock { reported in
            defer { reported = revision }
            return reported != revision
        }
        if isFirst { documents.updateAfterMismatch() }
    }
}
