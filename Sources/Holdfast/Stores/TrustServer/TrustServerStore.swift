import Dispatch
public import Foundation
public import Logging

/// Keeps the document of a trust server for one customer: downloads it, verifies it, stores it and renews it, and gives
/// its pins to policies.
///
/// ```swift
/// let store = try await TrustServerStore.load(configuration: configuration)
/// manager.add(policy: try store.trustPolicy(forHost: "www.example.com", pinning: .publicKey))
/// ```
/// A document is fresh for ``OnlinePinningSettings/maxAge`` after its timestamp; then it is renewed. For
/// ``OnlinePinningSettings/grace`` more it is still accepted, and every such use is reported. After that it is refused.
/// A download that does not verify, is older than ten minutes, or older than the newest document that was verified,
/// changes nothing. Policies read a snapshot: they never wait for storage or the network.
public final class TrustServerStore: Sendable {
    /// What happens in a store.
    public enum Event: Sendable {
        /// An update begins.
        case updateStarted(StoreUpdateKind)
        /// An update has ended.
        case updateFinished(StoreUpdateReport)
        /// A new document is in use: when it was made, and how many hosts it covers.
        case documentReplaced(timestamp: Date, hosts: Int)
        /// The timestamp of a document is this far ahead of the clock. The document still counts, and moves
        /// ``TrustServerStore/trustedTime``, but by a day at most: look at the device's clock and at the signer's.
        case issuedAheadOfClock(Duration)
        /// The signer's certificate has expired; documents are still verified. Configure its successor.
        case signerExpired(Date)
        /// A host was evaluated by a document in its grace period, which is this old.
        case usedInGrace(host: DialledHost, age: Duration)
        /// The store was emptied.
        case reset
    }

    /// Whether the document counts at a moment.
    public enum Freshness: String, Sendable, Hashable, CaseIterable {
        /// There is no document yet.
        case absent
        /// The document counts.
        case fresh
        /// The document is no longer fresh; it still counts, and is being replaced.
        case inGrace
        /// The document is too old and no longer counts.
        case unusable
    }

    /// How the store was set up.
    public let configuration: TrustServerConfiguration
    /// The clock; ``trustedTime`` corrects it.
    public let clock: any WallClock

    let documents: DocumentStore<TrustServerFormat>
    private let observers: Subscribers<@Sendable (Event) -> Void>
    private let logger: Logger
    /// The document that was last said in the log to be in its grace.
    private let loggedGrace = Lock<Date?>(nil)

    /// Makes a store from a valid configuration; it reads and verifies what is stored before it returns, which
    /// ``load(configuration:clock:logger:)`` does off the caller's thread.
    ///
    /// Several stores for one server, customer and signer each download for themselves:
    /// ``shared(configuration:clock:logger:)`` makes one for all policies.
    /// - Parameters:
    ///   - configuration: where the document comes from, who signs it, and how it is kept.
    ///   - clock: what the time is.
    ///   - logger: gets updates that fail and documents in their grace period; nil for one labelled `holdfast.store`.
    /// - Throws: ``StoreError`` `invalidConfiguration`.
    public init(
        checking configuration: TrustServerConfiguration, clock: any WallClock = SystemWallClock(),
        logger: Logger? = nil
    ) throws(StoreError) {
        if let error = configuration.error { throw error }
        self.configuration = configuration
        self.clock = clock
        let logger = logger ?? PolicyLog.shared.storeLogger
        self.logger = logger
        let observers = Subscribers<@Sendable (Event) -> Void>()
        self.observers = observers
        documents = DocumentStore(
            format: TrustServerFormat(configuration: configuration), clock: clock, crypto: SwiftCryptoProvider(),
            dataStore: configuration.settings.secureDataStore, provider: configuration.settings.remoteDataProvider,
            logger: logger,
            tell: { event in
                if case .replaced(let content) = event, let end = content.signerExpired {
                    logger.warning(
                        "the trust server's certificate has ended; configure its successor",
                        metadata: ["customer": "\(configuration.customer)", "end": "\(end.formatted(.iso8601))"])
                }
                for event in Self.events(event) {
                    for observer in observers.all { observer(event) }
                }
            })
    }

    /// Makes a store from a valid configuration, reading and verifying what is stored off the caller's thread.
    /// - Throws: ``StoreError`` `invalidConfiguration`.
    public static func load(
        configuration: TrustServerConfiguration, clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) async throws(StoreError) -> TrustServerStore {
        // The queue knows nothing of this task.
        let logger = logger ?? PolicyLog.shared.storeLogger
        return try await DispatchQueue.global().run { () throws(StoreError) in
            try TrustServerStore(checking: configuration, clock: clock, logger: logger)
        }
    }

    // MARK: What the store knows

    /// The latest of the clock, the date of the build, and the newest document's timestamp, which moves it no further
    /// than a day past the others.
    public var trustedTime: Date { documents.trustedTime }

    /// When the current document was made, according to its signer; nil while there is none.
    public var timestamp: Date? { documents.snapshot.content?.signedTimestamp }

    /// Whether the document counts now.
    public var freshness: Freshness { freshness(at: clock.now) }

    /// When the next update is due, or after a failure the next attempt.
    public var nextUpdate: Date { documents.nextUpdate }

    /// The result of the last update, including silent ones; nil before the first.
    public var lastUpdate: StoreUpdateReport? { documents.lastUpdate }

    /// What was wrong with the stored document when the store was made; nil when it, or its absence, was fine.
    public var storageError: StoreError? { documents.storageError }

    func freshness(at now: Date) -> Freshness {
        let snapshot = documents.snapshot
        guard let content = snapshot.content else { return .absent }
        let time = snapshot.trustedTime.time(clock: now)
        if documents.format.obstacle(to: content, at: time) != nil { return .unusable }
        return documents.format.isInGrace(content, at: time) ? .inGrace : .fresh
    }

    // MARK: Updates

    /// Brings the store up to date, as ``CertStore/update(mode:)`` does: after the download when nothing usable is
    /// there or it is forced, at once and in the background when a renewal is due, and otherwise not at all.
    /// - Returns: the result, or that the update continues.
    /// - Throws: ``StoreError`` when there is no usable document afterwards, or a forced update failed.
    @discardableResult
    public func update(mode: StoreUpdateMode = .default) async throws(StoreError) -> StoreUpdateReport {
        try await documents.update(mode: mode)
    }

    /// Keeps the store up to date until the task is cancelled, or until the group of services that runs the store is
    /// shut down. Without it, decisions ask for an update when one is due.
    public func run() async throws {
        try await untilShutdown { try await self.run(sleepingOn: ContinuousClock()) }
    }

    /// Keeps the store up to date until the task is cancelled, sleeping on the caller's clock.
    public func run(sleepingOn sleeper: some Clock<Duration>) async throws {
        await documents.run(sleepingOn: sleeper)
    }

    /// Forgets everything that was stored. It blocks on storage. An update that is under way ends with `reset`.
    public func reset() { documents.reset() }

    // MARK: Watching

    /// Tells an observer of everything that happens from now on, on the thread where it happens, with no lock held.
    @discardableResult
    public func addObserver(_ observer: @escaping @Sendable (Event) -> Void) -> ObserverToken {
        observers.add(observer)
    }

    /// Ends an observation.
    public func removeObserver(_ token: ObserverToken) { observers.remove(token) }

    /// Everything that happens from now on, for as many listeners as one likes, each with a stream of its own. Of what
    /// a listener does not listen to, the latest 256 events are kept.
    public func events() -> AsyncStream<Event> { observers.stream() }

    /// Reports a decision on a document past its time: each to observers, one a document to the log.
    func reportGrace(_ content: TrustServerTable, for host: DialledHost, age: TimeInterval) {
        for observer in observers.all {
            observer(.usedInGrace(host: host, age: Duration(exactSeconds: age) ?? .seconds(Int64.max)))
        }
        let isFirst = loggedGrace.withLock { logged in
            defer { logged = content.timestamp }
            return logged != content.timestamp
        }
        guard isFirst else { return }
        logger.warning(
            "the trust server's document is past its time and still counts",
            metadata: [
                "store": "\(documents.format.logName)", "age": "\(TrustServerFormat.text(age: age))",
                "lastUpdate": "\(lastUpdate?.error?.description ?? "none")",
            ])
    }

    private static func events(_ event: DocumentStoreEvent<TrustServerTable>) -> [Event] {
        switch event {
        case .updateStarted(let kind): [.updateStarted(kind)]
        case .updateFinished(let report): [.updateFinished(report)]
        case .issuedAhead(let seconds): [.issuedAheadOfClock(seconds)]
        case .reset: [.reset]
        case .loaded: []
        case .replaced(let content):
            [.documentReplaced(timestamp: content.signedTimestamp, hosts: content.hostCount)]
                + [content.signerExpired.map(Event.signerExpired)].compactMap(\.self)
        }
    }
}
