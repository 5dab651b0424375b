import Dispatch
package import Foundation
package import Logging

/// Keeps the document of a format: loads and verifies the stored one, updates it, one update at a time, and provides
/// snapshots. All public stores use it.
package final class DocumentStore<Format: DocumentFormat>: Sendable {
    package typealias Content = Format.Content

    package struct State {
        var snapshot: DocumentSnapshot<Content>
        var nextUpdate: Date
        var entityTag = ""
        /// Failures in a row, and the time at which the next attempt may be made.
        var failures = 0
        var retryTime: Date?
        package var underWay: Task<StoreUpdateReport, Never>?
        /// Whether a mismatch caused the update that is under way.
        var followsMismatch = false
        var lastUpdate: StoreUpdateReport?
        var lastMismatchUpdate: Date?
        /// The revision for which a mismatch in report mode last started an update.
        var reportedRevision: UInt64?
        /// A count of documents and resets, after which decisions may differ.
        var revision: UInt64 = 0
        /// Whether there may be a stored document that could not be read when the store was made.
        var isUnread = false
        /// A count of resets: work that began before a reset is not committed after it.
        var generation = 0
        /// The mark of the stored record, as far as this store knows; nil if nothing is stored.
        var mark: StorageMark?
        /// A count of documents adopted from other stores and processes: work that began before is not committed after
        /// it.
        var takeovers: UInt64 = 0
        /// Whether a record about failed updates is stored.
        var keepsAttempts = false
        /// The messages that have been logged: the format's caveat, and the document whose grace period was logged.
        var hasSaidCaveat = false
        var loggedGrace: Date?

        mutating func forgetFailures() {
            failures = 0
            retryTime = nil
        }
    }

    package let format: Format
    package let clock: any WallClock
    let crypto: StoreCryptography
    let dataStore: any SecureDataStore
    let provider: any RemoteDataProvider
    /// The problem with the stored document when the store was made; nil if there was none.
    package let storageError: StoreError?
    package let state: Lock<State>
    /// Shared with the other stores that keep their document in the same place.
    let storage: SharedStorage
    /// The queue on which storage is read and written.
    var storageQueue: DispatchQueue { storage.queue }
    let observers: StoreObservers
    /// Notified of everything before the observers are.
    let follow: @Sendable (StoreEvent) -> Void
    let logger: Logger
    /// Measures how long an update takes.
    let timer: any Clock<Duration>

    /// Reads and verifies the stored document before it returns.
    /// - Parameters:
    ///   - observers: those of a store of several documents; by default the document's own.
    ///   - follow: notified of everything before the observers are, on the thread where it happens, with no lock held.
    package init(
        format: Format, clock: any WallClock, crypto: StoreCryptography = .standard,
        dataStore: any SecureDataStore, provider: any RemoteDataProvider, logger: Logger,
        timer: any Clock<Duration> = ContinuousClock(), observers: StoreObservers = StoreObservers(),
        follow: @escaping @Sendable (StoreEvent) -> Void = { _ in }
    ) {
        self.format = format
        self.clock = clock
        self.crypto = crypto
        self.dataStore = dataStore
        self.provider = provider
        self.logger = logger
        self.timer = timer
        self.observers = observers
        self.follow = follow
        let storage = SharedStorage.of(dataStore, key: format.storageKey)
        self.storage = storage
        let (loaded, changes) = storage.queue.sync {
            (StoreLoading(format: format, now: clock.now).load(from: dataStore), storage.changes)
        }
        storageError = loaded.error
        let time = TrustedTime(buildDate: format.buildDate, newestIssue: loaded.newestIssue)
        let content = format.beginning(with: loaded.content)
        state = Lock(
            State(
                snapshot: DocumentSnapshot(content: content, trustedTime: time), nextUpdate: loaded.nextUpdate,
                entityTag: loaded.entityTag, isUnread: loaded.isUnread, mark: loaded.mark))
        if let error = format.configurationError ?? loaded.error {
            write(.error, "the store starts empty", ["error": "\(error)"])
        }
        storage.queue.sync { loadAttempts(at: clock.now) }
        storage.join(self)
        // A store that saved in between did not notify this one, which was not a member yet.
        if storage.changes != changes { storage.queue.sync { catchUp() }.forEach { $0() } }
    }

    package var snapshot: DocumentSnapshot<Content> { state.withLock { $0.snapshot } }

    package var trustedTime: Date { snapshot.trustedTime.time(clock: clock.now) }

    /// The time at which the next update is due, or after a failure the next attempt.
    package var nextUpdate: Date { state.withLock { $0.retryTime ?? $0.nextUpdate } }

    /// The result of the last update, including silent ones; nil before the first.
    package var lastUpdate: StoreUpdateReport? { state.withLock { $0.lastUpdate } }

    package var revision: UInt64 { state.withLock { $0.revision } }

    package var isUpdating: Bool { state.withLock { $0.underWay != nil } }

    // MARK: Updates

    /// Brings the store up to date; see ``UpdatingStore/update(mode:)``.
    package func update(mode: StoreUpdateMode) async throws(StoreError) -> StoreUpdateReport {
        if let error = format.configurationError { throw error }
        let (kind, task) = begin(mode)
        guard kind == .direct, let task else { return report(kind) }
        let report = await task.value
        if let error = report.error, error.code != .notStored { throw error }
        return report
    }

    /// Determines the kind of update that is due, and starts it or joins the one under way.
    func begin(_ mode: StoreUpdateMode) -> (StoreUpdateKind, Task<StoreUpdateReport, Never>?) {
        let now = clock.now
        let kind = state.withLock { state -> StoreUpdateKind in
            guard mode == .default, isUsable(state.snapshot, now: now) else { return .direct }
            return isRenewalDue(state, now: now) && !mustWait(state, now: now) ? .silent : .noUpdate
        }
        return (kind, kind == .noUpdate ? nil : join(kind))
    }

    /// The update under way, or a new one.
    @discardableResult
    func join(_ kind: StoreUpdateKind, afterMismatch: Bool = false) -> Task<StoreUpdateReport, Never> {
        state.withLock { state in
            if afterMismatch { state.followsMismatch = true }
            return begin(kind, &state)
        }
    }

    /// The update under way, or a new one if one is needed; determined under the lock, so that no update begins or ends
    /// meanwhile.
    func join(_ kind: StoreUpdateKind, if isNeeded: (borrowing State) -> Bool) -> Task<
        StoreUpdateReport, Never
    >? {
        state.withLock { state in isNeeded(state) ? begin(kind, &state) : nil }
    }

    private func begin(_ kind: StoreUpdateKind, _ state: inout State) -> Task<StoreUpdateReport, Never> {
        if let task = state.underWay { return task }
        let generation = state.generation
        let task = Task.detached { await self.perform(kind, generation) }
        state.underWay = task
        return task
    }

    /// Starts an update after a mismatch, unless one has just been made or has just failed.
    package func updateAfterMismatch() {
        let now = clock.now
        let isAllowed = state.withLock { state in
            if let last = state.lastMismatchUpdate, abs(now.timeIntervalSince(last)) < format.mismatchInterval {
                return false
            }
            if mustWait(state, now: now) { return false }
            state.lastMismatchUpdate = now
            return true
        }
        if isAllowed { join(.silent, afterMismatch: true) }
    }

    /// Starts an update if one is due, without waiting for it.
    package func updateIfDue() {
        let now = clock.now
        let isDue = state.withLock { state in
            state.underWay == nil && !mustWait(state, now: now)
                && (!isUsable(state.snapshot, now: now) || isRenewalDue(state, now: now))
        }
        if isDue { join(.silent) }
    }

    /// Whether the current document has to be renewed.
    func isRenewalDue(_ state: borrowing State, now: Date) -> Bool {
        // Setting the clock back must not delay it beyond the longest interval.
        now >= state.nextUpdate || state.nextUpdate.timeIntervalSince(now) > format.longestInterval
    }

    /// Whether the last attempt failed so recently that another would be too soon.
    func mustWait(_ state: borrowing State, now: Date) -> Bool {
        guard let wait = state.retryTime?.timeIntervalSince(now) else { return false }
        // Setting the clock back must not lengthen the wait beyond its limit.
        return wait > 0 && wait <= format.longestBackOff
    }

    /// Removes everything that was stored; see ``UpdatingStore/reset()``.
    package func reset() { remove(forAll: true) }

    /// Removes this store's document; other stores of this process may still need theirs.
    func discard() { remove(forAll: false) }

    private func remove(forAll: Bool) {
        let announcements = storageQueue.sync { () -> [SharedStorage.Announcement] in
            let own = forget()
            removeStored()
            let others = storage.noteChange(by: self).filter { forAll && $0.origin == format.origin }
            return others.reduce(own) { $0 + $1.forget() }
        }
        for announcement in announcements { announcement() }
    }

    /// Keeps the store up to date until the task is canceled; see ``UpdatingStore/run(sleepingOn:)``.
    package func run(sleepingOn sleeper: some Clock<Duration>) async throws(StoreError) {
        if let error = format.configurationError { throw error }
        while !Task.isCancelled {
            let wait = wait(at: clock.now)
            if wait > 0 {
                let duration = Duration.milliseconds(Int64((wait * 1_000).rounded(.up)))
                do { try await sleeper.sleep(until: sleeper.now.advanced(by: duration), tolerance: nil) } catch {
                    return
                }
                continue
            }
            _ = await join(.silent).value
        }
    }

    /// Seconds until an update has to be made, at most 15 minutes.
    func wait(at now: Date) -> TimeInterval {
        state.withLock { state in
            let due: Date
            if let retry = state.retryTime {
                due = mustWait(state, now: now) ? retry : now
            } else {
                due = !isUsable(state.snapshot, now: now) || isRenewalDue(state, now: now) ? now : state.nextUpdate
            }
            return max(0, min(UpdateSchedule.shortestInterval, due.timeIntervalSince(now)))
        }
    }

    func isUsable(_ snapshot: DocumentSnapshot<Content>, now: Date) -> Bool {
        obstacle(to: snapshot.content, trusted: snapshot.trustedTime, now: now) == nil
    }

    func obstacle(to content: Content?, trusted: TrustedTime, now: Date) -> StoreError? {
        format.obstacle(to: content, at: trusted.time(clock: now))
    }

    func report(_ kind: StoreUpdateKind, error: StoreError? = nil, version: VersionCheck? = nil) -> StoreUpdateReport {
        StoreUpdateReport(
            kind: kind, error: error, time: clock.now, nextUpdate: nextUpdate,
            versionCheck: version)
    }
}
