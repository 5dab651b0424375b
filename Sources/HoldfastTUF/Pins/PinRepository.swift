import Dispatch
public import Foundation
public import Holdfast

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
/// A new pin file replaces the old one as a whole. One that is below the ``PinFloor``, or is not the newest, changes
/// no pins. Metadata that has expired ends refreshing, never pinning: pins end at the pin file's `notAfter` plus its
/// grace. Policies read a snapshot: they wait for no storage and no network.
public final class PinRepository: Sendable {
    /// What the pins are worth at a moment.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// There are no pins: nobody is trusted.
        case absent
        /// The pins count, and nothing newer can be there unseen for longer than the repository allows.
        case fresh
        /// The pins count. Metadata has expired and none that is newer came: somebody may be keeping it back.
        case stale
        /// The pin file is past its `notAfter`. Its pins count until the grace is over, each use reported.
        case grace
        /// The grace is over. Each host's entry says what happens then; by default nobody is trusted.
        case expired
    }

    /// What happens in a repository.
    public enum Event: Sendable {
        /// An update begins.
        case updateStarted(StoreUpdateKind)
        /// An update has ended.
        case updateFinished(StoreUpdateReport)
        /// A new pin file counts: when it was issued, and how many entries it has.
        case pinsReplaced(issuedAt: Date, hosts: Int)
        /// A pin file was issued so long after what the clock says. It counts all the same, and moves
        /// ``PinRepository/trustedTime``, but by a day at most.
        case issuedAheadOfClock(Duration)
        /// A host was judged by pins past their `notAfter`, by so long.
        case usedInGrace(host: DialledHost, age: Duration)
        /// What was stored was forgotten.
        case reset
    }

    /// How the repository was set up.
    public let configuration: PinRepositoryConfiguration
    /// What the time is, before what is known better; see ``trustedTime``.
    public let clock: any WallClock

    let documents: DocumentStore<PinRepositoryFormat>
    private let observers: Subscribers<@Sendable (Event) -> Void>
    /// The document that was last said in the log to be in its grace.
    private let loggedGrace = Lock<Date?>(nil)

    /// Makes a repository of a sound configuration; it reads and verifies what is stored, and what is shipped, before it
    /// returns, which ``load(configuration:clock:)`` does off the caller's thread.
    /// - Parameters:
    ///   - configuration: what it is to do.
    ///   - clock: what the time is.
    /// - Throws: `StoreError` `invalidConfiguration`.
    public convenience init(
        checking configuration: PinRepositoryConfiguration, clock: any WallClock = SystemWallClock()
    ) throws(StoreError) {
        try self.init(configuration, clock, .shared)
    }

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

    /// Makes a repository of a sound configuration, reading and verifying off the caller's thread.
    /// - Throws: `StoreError` `invalidConfiguration`.
    public static func load(
        configuration: PinRepositoryConfiguration, clock: any WallClock = SystemWallClock()
    ) async throws(StoreError) -> PinRepository {
        // The queue knows nothing of this task.
        let log = PolicyLog.shared
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

    /// The latest of the clock, the date of the build, and the newest pin file's `issuedAt`, which moves it no further
    /// than a day past the others.
    public var trustedTime: Date { documents.trustedTime }

    /// What the pins are worth now.
    public var state: State {
        let snapshot = documents.snapshot
        return snapshot.content?.pins?.state(at: snapshot.trustedTime.time(clock: clock.now)) ?? .absent
    }

    /// The pin file that counts; nil while there is none.
    public var pinFile: PinFile? { documents.snapshot.content?.pins?.file }

    /// When the next update is due, or after a failure the next attempt.
    public var nextUpdate: Date { documents.nextUpdate }

    /// What came of the last update, silent ones too; nil before the first.
    public var lastUpdate: StoreUpdateReport? { documents.lastUpdate }

    /// What was wrong with the stored state when the repository was made; nil when it, or its absence, was fine.
    public var storageError: StoreError? { documents.storageError }

    // MARK: Updates

    /// Brings the pins up to date: after the download when there are none or it is forced, at once and in the background
    /// when a renewal is due, otherwise not at all.
    /// - Returns: what came of it, or that it goes on.
    /// - Throws: `StoreError` when there are no usable pins afterwards, or a forced update failed. Its `underlying` error
    ///   is a ``TUFError``, a ``PinFloorError`` or a `PinFileError` where one of them is the reason.
    @discardableResult
    public func update(mode: StoreUpdateMode = .default) async throws(StoreError) -> StoreUpdateReport {
        try await documents.update(mode: mode)
    }

    /// Keeps the pins up to date until the task is cancelled; made for a group of services. Without it, decisions leave
    /// a wish for an update when one is due.
    public func run() async throws { await documents.run(sleepingOn: ContinuousClock()) }

    /// Keeps the pins up to date until the task is cancelled, sleeping on a clock of the caller's.
    public func run(sleepingOn sleeper: some Clock<Duration>) async throws {
        await documents.run(sleepingOn: sleeper)
    }

    /// Forgets everything that was stored; what was shipped counts again. It blocks on storage.
    public func reset() { documents.reset() }

    // MARK: Watching

    /// Tells an observer of everything that happens from now on, on the thread where it happens, with no lock held.
    @discardableResult
    public func addObserver(_ observer: @escaping @Sendable (Event) -> Void) -> ObserverToken {
        observers.add(observer)
    }

    /// Ends an observation.
    public func removeObserver(_ token: ObserverToken) { observers.remove(token) }

    /// Everything that happens from now on, for as many listeners as one likes. Of what a listener does not listen to,
    /// the latest 256 events are kept.
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
