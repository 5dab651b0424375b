public import struct Foundation.Date

/// A store that downloads signed documents, verifies them, keeps them and renews them.
///
/// ``CertStore``, ``TrustServerStore``, ``RevocationStore``, ``TransparencyLogStore`` and `PinRepository` of
/// HoldfastTUF differ in their formats. They are updated, run, observed and reset in the same way, so one piece of code
/// can do that for all of them:
///
/// ```swift
/// func keepUpToDate(_ stores: [any UpdatingStore]) async throws {
///     try await withThrowingTaskGroup(of: Void.self) { group in
///         for store in stores { group.addTask { try await store.run() } }
///         try await group.waitForAll()
///     }
/// }
/// ```
/// Only Holdfast's stores conform to it.
public protocol UpdatingStore: AnyObject, Sendable {
    /// The engine that runs the store.
    var engine: StoreEngine { get }
}

/// The engine of a store; only Holdfast makes one.
public struct StoreEngine: Sendable {
    let driver: any StoreDriver

    init(driver: any StoreDriver) { self.driver = driver }

    package init(_ documents: DocumentStore<some DocumentFormat>) { driver = documents }
}

extension UpdatingStore {
    /// The store's name in metrics and events. Peers cannot cause more names.
    public var name: String { engine.driver.name }

    /// Whether the store's content is valid now.
    public var state: StoreState { engine.driver.currentState }

    /// The number of times that the content was replaced or deleted since the store was made.
    public var revision: UInt64 { engine.driver.revision }

    /// The time that decisions use: the latest of the clock, the build date, and the newest verified issue time, which
    /// is limited to a day past the others.
    public var trustedTime: Date { engine.driver.trustedTime }

    /// The time at which the next update is due, or after a failure the next attempt.
    public var nextUpdate: Date { engine.driver.nextUpdate }

    /// The result of the last update, including silent ones; nil before the first.
    public var lastUpdate: StoreUpdateReport? { engine.driver.lastUpdate }

    /// The problem with the stored document when the store was made; nil if there was none.
    public var storageError: StoreError? { engine.driver.storageError }

    /// Brings the store up to date.
    ///
    /// If the store has no usable content, or if the update is forced, it returns after the download. If a renewal is
    /// due and the current content is still valid, it returns at once, and the download continues in the background;
    /// ``lastUpdate`` and ``events()`` have its result. Otherwise it does nothing. Concurrent calls share one download.
    /// Canceling the caller does not cancel the download.
    /// - Returns: the result, or a report that the update continues.
    /// - Throws: ``StoreError`` if nothing is usable afterward, or if a forced update failed. Content that was valid
    ///   before stays valid.
    @discardableResult
    public func update(mode: StoreUpdateMode = .default) async throws(StoreError) -> StoreUpdateReport {
        try await engine.driver.update(mode: mode)
    }

    /// Keeps the store up to date until the task is canceled, or until the group of services that runs the store is
    /// shut down. With the package's trait `Services` a store is a `Service`. If nothing runs a store, decisions start
    /// an update when one is due; those of a ``CertStore`` do so only as ``CertStoreConfiguration/updatesOnMismatch``
    /// specifies, so call ``UpdatingStore/update(mode:)`` whenever the app starts.
    ///
    /// It checks the time at least every 15 minutes, so that a changed clock, or a device that slept, causes no longer
    /// delay.
    /// - Throws: ``StoreError`` `invalidConfiguration`, at once.
    public func run() async throws { try await untilShutdown { try await self.run(sleepingOn: ContinuousClock()) } }

    /// Keeps the store up to date until the task is canceled, sleeping on the caller's clock.
    /// - Throws: ``StoreError`` `invalidConfiguration`, at once.
    public func run(sleepingOn sleeper: some Clock<Duration>) async throws {
        try await engine.driver.run(sleepingOn: sleeper)
    }

    /// Deletes everything that was stored; the content that the application shipped is in use again. It blocks on
    /// storage. An update that is under way ends with `reset` and stores nothing.
    public func reset() { engine.driver.reset() }

    /// Notifies an observer of every event from now on, on the thread where it happens, with no lock held.
    @discardableResult
    public func addObserver(_ observer: @escaping @Sendable (StoreEvent) -> Void) -> ObserverToken {
        engine.driver.observers.add(observer)
    }

    /// Ends an observation.
    public func removeObserver(_ token: ObserverToken) { engine.driver.observers.remove(token) }

    /// A stream of every event from now on. Each listener has a separate stream; one that falls behind gets the latest
    /// 256 events.
    public func events() -> AsyncStream<StoreEvent> { engine.driver.observers.stream() }
}

/// A store that has pins. These members take precedence over the defaults of ``PinSource``.
extension UpdatingStore where Self: PinSource {
    /// Grows with every document that the store accepts, and with every reset.
    public var revision: UInt64 { engine.driver.revision }

    /// The clock that the store was given. Decisions use ``UpdatingStore/trustedTime``, which may be later.
    public var clock: any WallClock { engine.driver.clock }

    /// Whether ``prepare()`` would wait: no usable document is available and no attempt has just failed, or the
    /// document is no longer fresh and no attempt has failed since, or a mismatch requires a newer one.
    public var needsPreparation: Bool { engine.driver.needsPreparation }

    /// Waits, for at most the configuration's `preparationTimeout`, for a document to decide by.
    ///
    /// With a fresh document it returns at once. Otherwise all callers share one download, which continues after they
    /// stop waiting. If the download fails, a document in its grace period is accepted, and no caller waits again until
    /// a download succeeds. Right after a failure nothing is downloaded.
    /// - Throws: ``StoreError`` if no usable document is available; `CancellationError` if the task is canceled.
    public func prepare() async throws { try await engine.driver.prepare() }

    /// Reports a host that was trusted by a document in its grace period, and starts an update if one is due or the
    /// decision is a reason for one.
    public func tell(_ decision: TrustDecision) { engine.driver.tell(decision) }
}
