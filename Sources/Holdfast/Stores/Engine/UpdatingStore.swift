public import struct Foundation.Date

/// A store that downloads what others have signed, verifies it, keeps it and renews it.
///
/// ``CertStore``, ``TrustServerStore``, ``RevocationStore``, ``TransparencyLogStore`` and `PinRepository` of HoldfastTUF
/// are updated, run, watched and reset in the same way, so one piece of code can do that for all of them:
///
/// ```swift
/// func keepUpToDate(_ stores: [any UpdatingStore]) async throws {
///     try await withThrowingTaskGroup(of: Void.self) { group in
///         for store in stores { group.addTask { try await store.run() } }
///         try await group.waitForAll()
///     }
/// }
/// ```
public protocol UpdatingStore: AnyObject, Sendable {
    /// What the store is called in metrics and events. Stores have few names, whatever peers do.
    var name: String { get }
    /// Whether what the store keeps counts now.
    var state: StoreState { get }
    /// How often what the store keeps was replaced or deleted since the store was made.
    var revision: UInt64 { get }
    /// When the next update is due, or after a failure the next attempt.
    var nextUpdate: Date { get }
    /// The result of the last update, including silent ones; nil before the first.
    var lastUpdate: StoreUpdateReport? { get }
    /// What was wrong with what was stored when the store was made; nil when it, or its absence, was fine.
    var storageError: StoreError? { get }

    /// Brings the store up to date.
    ///
    /// With nothing usable in the store, or when forced, it returns after the download. When a renewal is due and what is
    /// there still counts, it returns at once, and the download continues in the background; ``lastUpdate`` and
    /// ``events()`` have its result. Otherwise it does nothing. Concurrent calls share one download. Canceling the
    /// caller does not cancel the download.
    /// - Returns: the result, or that the update continues.
    /// - Throws: ``StoreError`` when nothing usable is there afterwards, or a forced update failed. What counted before
    ///   still counts.
    @discardableResult
    func update(mode: StoreUpdateMode) async throws(StoreError) -> StoreUpdateReport

    /// Keeps the store up to date until the task is canceled, sleeping on the caller's clock.
    ///
    /// It looks at the time at least every 15 minutes, so that a clock that was set, or a device that slept, delays
    /// nothing for longer.
    /// - Throws: ``StoreError`` `invalidConfiguration`, at once.
    func run(sleepingOn sleeper: some Clock<Duration>) async throws

    /// Deletes everything that was stored. It blocks on storage. An update that is under way ends with `reset` and stores
    /// nothing.
    func reset()

    /// Tells an observer of everything that happens from now on, on the thread where it happens, with no lock held.
    @discardableResult
    func addObserver(_ observer: @escaping @Sendable (StoreEvent) -> Void) -> ObserverToken

    /// Ends an observation.
    func removeObserver(_ token: ObserverToken)

    /// Everything that happens from now on, for any number of listeners, each with a stream of its own. A listener that
    /// falls behind gets the latest 256 events.
    func events() -> AsyncStream<StoreEvent>
}

extension UpdatingStore {
    /// Brings the store up to date if an update is due; see ``update(mode:)``.
    @discardableResult
    public func update() async throws(StoreError) -> StoreUpdateReport { try await update(mode: .default) }

    /// Keeps the store up to date until the task is canceled, or until the group of services that runs the store is shut
    /// down. With the package's trait `ServiceLifecycle` a store is a `Service`. Without it, decisions start an update
    /// when one is due.
    /// - Throws: ``StoreError`` `invalidConfiguration`, at once.
    public func run() async throws {
        try await untilShutdown { try await self.run(sleepingOn: ContinuousClock()) }
    }
}

/// Whether what an ``UpdatingStore`` keeps counts at a moment.
public enum StoreState: String, Sendable, Hashable, CaseIterable {
    /// No verified document is there. What an application shipped as a fallback may still count.
    case absent
    /// The document counts.
    case fresh
    /// The document counts, but the metadata that proves it to be the newest has expired: somebody may be withholding a
    /// newer one.
    case stale
    /// The document is past its time. It still counts while the store tries to replace it, and each use is reported.
    case grace
    /// The document is too old and no longer counts.
    case expired
}
