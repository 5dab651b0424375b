public import Foundation
public import Logging

/// Keeps the document of a trust server for one customer: downloads it, verifies it, stores it and renews it, and gives
/// its pins to policies.
///
/// ```swift
/// let store = try TrustServerStore.shared(
///     url: url, signer: TrustServerSigner(certificate: certificate), customer: "gcx")
/// manager.add(policy: try store.trustPolicy(forHost: "www.example.com", pinning: .publicKey))
/// ```
/// A document is fresh for ``OnlinePinningSettings/maxAge`` after its timestamp; then it is renewed, and counts for
/// ``OnlinePinningSettings/grace`` more, each use reported; then nobody is trusted by it. A download that does not
/// verify, is older than ten minutes, or older than the newest document that was verified, changes nothing. Policies
/// read a snapshot: they wait for no storage and no network. Safe to use from any thread.
public final class TrustServerStore: Sendable {
    /// What happens in a store.
    public enum Event: Sendable {
        /// An update begins.
        case updateStarted(CertStoreUpdateKind)
        /// An update has ended.
        case updateFinished(CertStoreUpdateReport)
        /// A new document counts: when it was made, and how many hosts it is for.
        case documentReplaced(timestamp: Date, hosts: Int)
        /// A document was made so many seconds after what the clock says. It counts all the same, and moves
        /// ``TrustServerStore/trustedTime``, but by a day at most: look at the device's clock and at the signer's.
        case issuedAheadOfClock(TimeInterval)
        /// The signer's certificate has ended; documents are verified all the same. Configure its successor.
        case signerExpired(Date)
        /// A host was judged by a document past its time, so many seconds old.
        case usedInGrace(host: DialledHost, age: TimeInterval)
        /// The store was emptied.
        case reset
    }

    /// What the document is worth at a moment.
    public enum Freshness: String, Sendable, Hashable, CaseIterable {
        /// There is no document yet.
        case absent
        /// The document counts.
        case fresh
        /// The document is past its time; it counts, and is being replaced.
        case inGrace
        /// The document is too old; nobody is trusted by it.
        case unusable
    }

    /// Where the document is downloaded from.
    public let url: URL
    /// Whose document it is.
    public let customer: String
    /// How it is fetched, kept and believed.
    public let settings: OnlinePinningSettings
    /// What the time is, before what is known better; see ``trustedTime``.
    public let clock: any WallClock

    let documents: DocumentStore<TrustServerFormat>
    private let observers: Subscribers<@Sendable (Event) -> Void>
    private let logger: Logger
    /// The document that was last said in the log to be in its grace.
    private let loggedGrace = Lock<Date?>(nil)

    /// Makes a store of its own; it reads and verifies what is stored before it returns.
    ///
    /// Several stores of one server, customer and signer each download for themselves: ``shared(url:signer:customer:settings:clock:logger:)``
    /// makes one for all policies.
    /// - Parameters:
    ///   - url: where the document is.
    ///   - signer: whose signature counts.
    ///   - customer: whose document it must be.
    ///   - settings: how it is fetched, kept and believed.
    ///   - clock: what the time is.
    ///   - logger: told of updates that fail and of documents past their time; nil for one labelled `holdfast.store`.
    /// - Throws: ``CertStoreError`` `invalidConfiguration`.
    public init(
        url: URL, signer: TrustServerSigner, customer: String,
        settings: OnlinePinningSettings = OnlinePinningSettings(),
        clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) throws(CertStoreError) {
        if let error = settings.error { throw error }
        guard (1...DocumentLimits.nameBytes).contains(customer.utf8.count) else {
            throw CertStoreError(
                .invalidConfiguration, expected: "the name of a customer, 1 to \(DocumentLimits.nameBytes) octets",
                found: "\(customer.utf8.count) octets")
        }
        self.url = url
        self.customer = customer
        self.settings = settings
        self.clock = clock
        let logger = logger ?? PolicyLog.shared.storeLogger
        self.logger = logger
        let observers = Subscribers<@Sendable (Event) -> Void>()
        self.observers = observers
        documents = DocumentStore(
            format: TrustServerFormat(url: url, signer: signer, customer: customer, settings: settings), clock: clock,
            crypto: SwiftCryptoProvider(), dataStore: settings.secureDataStore, provider: settings.remoteDataProvider,
            logger: logger,
            tell: { event in
                if case .replaced(let content) = event, let end = content.signerExpired {
                    logger.warning(
                        "the trust server's certificate has ended; configure its successor",
                        metadata: ["customer": "\(customer)", "end": "\(end.formatted(.iso8601))"])
                }
                for event in Self.events(event) {
                    for observer in observers.all { observer(event) }
                }
            })
    }

    // MARK: What the store knows

    /// The latest of the clock, the date of the build, and the newest document's timestamp, which moves it no further
    /// than a day past the others.
    public var trustedTime: Date { documents.trustedTime }

    /// When the document that is there was made, in its signer's words; nil while there is none.
    public var timestamp: Date? { documents.snapshot.content?.signedTimestamp }

    /// What the document is worth now.
    public var freshness: Freshness { freshness(at: clock.now) }

    /// When the next update is due, or after a failure the next attempt.
    public var nextUpdate: Date { documents.nextUpdate }

    /// What came of the last update, silent ones too; nil before the first.
    public var lastUpdate: CertStoreUpdateReport? { documents.lastUpdate }

    /// What was wrong with the stored document when the store was made; nil when it, or its absence, was fine.
    public var storageError: CertStoreError? { documents.storageError }

    func freshness(at now: Date) -> Freshness {
        let snapshot = documents.snapshot
        guard let content = snapshot.content else { return .absent }
        let time = snapshot.trustedTime.time(clock: now)
        if documents.format.obstacle(to: content, at: time) != nil { return .unusable }
        return documents.format.isInGrace(content, at: time) ? .inGrace : .fresh
    }

    // MARK: Updates

    /// Brings the store up to date, as ``CertStore/update(mode:)`` does: after the download when nothing usable is
    /// there or it is forced, at once and in the background when a renewal is due, otherwise not at all.
    /// - Returns: what came of it, or that it goes on.
    /// - Throws: ``CertStoreError`` when there is no usable document afterwards, or a forced update failed.
    @discardableResult
    public func update(mode: CertStore.UpdateMode = .default) async throws(CertStoreError) -> CertStoreUpdateReport {
        try await documents.update(mode: mode)
    }

    /// Keeps the store up to date until the task is cancelled; made for a group of services. Without it, decisions
    /// leave a wish for an update when one is due.
    public func run() async throws { await documents.run(sleepingOn: ContinuousClock()) }

    /// Keeps the store up to date until the task is cancelled, sleeping on a clock of the caller's.
    public func run(sleepingOn sleeper: some Clock<Duration>) async throws {
        await documents.run(sleepingOn: sleeper)
    }

    /// Forgets everything that was stored. It blocks on storage. An update that is under way ends with `reset`.
    public func reset() { documents.reset() }

    // MARK: Watching

    /// What ends an observation.
    public struct ObserverToken: Sendable, Hashable {
        fileprivate let value: UInt64
    }

    /// Tells an observer of everything that happens from now on, on the thread where it happens, with no lock held.
    @discardableResult
    public func addObserver(_ observer: @escaping @Sendable (Event) -> Void) -> ObserverToken {
        ObserverToken(value: observers.add(observer))
    }

    /// Ends an observation.
    public func removeObserver(_ token: ObserverToken) { observers.remove(token.value) }

    /// Everything that happens from now on, for as many listeners as one likes, each with a stream of its own. Of what
    /// a listener does not listen to, the latest 256 events are kept.
    public func events() -> AsyncStream<Event> { observers.stream() }

    /// Reports a decision on a document past its time: each to observers, one a document to the log.
    func reportGrace(_ content: TrustServerTable, for host: DialledHost, age: TimeInterval) {
        for observer in observers.all { observer(.usedInGrace(host: host, age: age)) }
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
        case .replaced(let content):
            [.documentReplaced(timestamp: content.signedTimestamp, hosts: content.hostCount)]
                + [content.signerExpired.map(Event.signerExpired)].compactMap(\.self)
        }
    }
}
