public import struct Foundation.Date

/// An ``UpdatingStore`` of one document. Only Holdfast's stores conform to it: they differ in their formats and share all
/// else.
public protocol SignedDocumentStore: UpdatingStore {
    /// What the store runs on.
    var engine: StoreEngine { get }
}

/// What a ``SignedDocumentStore`` runs on; only Holdfast makes one.
public struct StoreEngine: Sendable {
    let documents: any StoreDriver

    package init(_ documents: DocumentStore<some DocumentFormat>) { self.documents = documents }
}

/// A ``DocumentStore`` whatever its format.
protocol StoreDriver: AnyObject, Sendable {
    var name: String { get }
    var clock: any WallClock { get }
    var documentState: StoreState { get }
    var trustedTime: Date { get }
    var revision: UInt64 { get }
    var nextUpdate: Date { get }
    var lastUpdate: StoreUpdateReport? { get }
    var storageError: StoreError? { get }
    var needsPreparation: Bool { get }
    var observers: StoreObservers { get }
    func update(mode: StoreUpdateMode) async throws(StoreError) -> StoreUpdateReport
    func run(sleepingOn sleeper: some Clock<Duration>) async throws(StoreError)
    func reset()
    func prepare() async throws
    func receive(_ decision: TrustDecision)
}

extension SignedDocumentStore {
    /// What the store is called in metrics and events.
    public var name: String { engine.documents.name }

    /// Whether the document counts now.
    public var state: StoreState { engine.documents.documentState }

    /// Grows with every document that the store accepts, and with every reset.
    public var revision: UInt64 { engine.documents.revision }

    /// The time that decisions use: the latest of the clock, the date of the build, and the newest issue time that was
    /// verified, which moves it no further than a day past the others.
    public var trustedTime: Date { engine.documents.trustedTime }

    /// When the next update is due, or after a failure the next attempt.
    public var nextUpdate: Date { engine.documents.nextUpdate }

    /// The result of the last update, including silent ones; nil before the first.
    public var lastUpdate: StoreUpdateReport? { engine.documents.lastUpdate }

    /// What was wrong with the stored document when the store was made; nil when it, or its absence, was fine.
    public var storageError: StoreError? { engine.documents.storageError }

    /// Brings the store up to date; see ``UpdatingStore/update(mode:)``.
    @discardableResult
    public func update(mode: StoreUpdateMode) async throws(StoreError) -> StoreUpdateReport {
        try await engine.documents.update(mode: mode)
    }

    /// Keeps the store up to date until the task is canceled, sleeping on the caller's clock.
    /// - Throws: ``StoreError`` `invalidConfiguration`, at once.
    public func run(sleepingOn sleeper: some Clock<Duration>) async throws {
        try await engine.documents.run(sleepingOn: sleeper)
    }

    /// Deletes everything that was stored; what the application shipped counts again. It blocks on storage. An update
    /// that is under way ends with `reset` and stores nothing.
    public func reset() { engine.documents.reset() }

    /// Tells an observer of everything that happens from now on, on the thread where it happens, with no lock held.
    @discardableResult
    public func addObserver(_ observer: @escaping @Sendable (StoreEvent) -> Void) -> ObserverToken {
        engine.documents.observers.add(observer)
    }

    /// Ends an observation.
    public func removeObserver(_ token: ObserverToken) { engine.documents.observers.remove(token) }

    /// Everything that happens from now on; see ``UpdatingStore/events()``.
    public func events() -> AsyncStream<StoreEvent> { engine.documents.observers.stream() }
}

/// A store that knows pins. These come before what a ``PinSource`` does by default.
extension SignedDocumentStore where Self: PinSource {
    /// Grows with every document that the store accepts, and with every reset.
    public var revision: UInt64 { engine.documents.revision }

    /// The clock that the store was given. Decisions use ``trustedTime``, which may be later.
    public var clock: any WallClock { engine.documents.clock }

    /// Whether ``prepare()`` would wait: there is no usable document and no attempt has just failed, or the document is
    /// no longer fresh and no attempt has failed since, or a mismatch asked for a newer one.
    public var needsPreparation: Bool { engine.documents.needsPreparation }

    /// Waits, for at most the configuration's `preparationTimeout`, for a document to decide by.
    ///
    /// With a fresh document it returns at once. Otherwise all callers share one download, which continues after they
    /// stop waiting. If the download fails, a document in its grace period is good enough, and nobody waits again until
    /// a download succeeds. Right after a failure nothing is downloaded.
    /// - Throws: ``StoreError`` when there is no usable document; `CancellationError` when the task is canceled.
    public func prepare() async throws { try await engine.documents.prepare() }

    /// Reports a decision by a document in its grace period, and starts an update where one is due or what was found is
    /// a reason for one.
    public func receive(_ decision: TrustDecision) { engine.documents.receive(decision) }
}
