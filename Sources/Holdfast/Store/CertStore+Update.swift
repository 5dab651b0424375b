public import Dispatch
import Foundation
import Logging
import Synchronization

extension CertStore {
    /// Brings the store up to date.
    ///
    /// With nothing usable in the store, or when forced, it returns after the download. When a renewal is due and
    /// the pins still count it returns at once, and the download goes on behind it; ``lastUpdate`` and ``events()`` say
    /// what came of it. Otherwise it does nothing. Calls at the same time share one download. Cancelling the caller
    /// does not cancel the download, which others may share.
    /// - Returns: what came of it, or that it goes on.
    /// - Throws: ``CertStoreError`` when there are no usable pins afterwards, or a forced update failed.
    @discardableResult
    public func update(mode: UpdateMode = .default) async throws(CertStoreError) -> CertStoreUpdateReport {
        if let configurationError { throw configurationError }
        let (kind, task) = begin(mode)
        guard kind == .direct, let task else { return report(kind) }
        let report = await task.value
        if let error = report.error, error.code != .notStored { throw error }
        return report
    }

    /// Brings the store up to date, the published way; see ``update(mode:)``.
    /// - Parameters:
    ///   - mode: whether to update when none is due.
    ///   - completionQueue: where `completion` is called. The main queue of a process on Linux runs only if the process
    ///     runs it.
    ///   - completion: called once: after the download when the update is direct, otherwise with `ok` at once.
    public func update(
        mode: UpdateMode = .default, completionQueue: DispatchQueue = .main,
        completion: @escaping @Sendable (UpdateResult, (any Error)?) -> Void
    ) {
        if let configurationError {
            completionQueue.async { completion(configurationError.result, configurationError) }
            return
        }
        let (kind, task) = begin(mode)
        guard kind == .direct, let task else {
            completionQueue.async { completion(.ok, nil) }
            return
        }
        Task {
            let report = await task.value
            let error = report.error.flatMap { $0.code == .notStored ? nil : $0 }
            completionQueue.async { completion(report.result, error) }
        }
    }

    /// Forgets everything that was stored; fallback entries count again.
    ///
    /// It blocks on storage. An update that is under way ends with `reset` and stores nothing.
    public func reset() {
        storageQueue.sync {
            state.withLock { state in
                state.generation += 1
                let time = TrustedTime(buildDate: configuration.buildDate, newestIssue: nil)
                state.snapshot = StoreSnapshot(content: nil, fallback: state.snapshot.fallback, trustedTime: time)
                state.nextUpdate = Date(timeIntervalSince1970: 0)
                state.entityTag = ""
                state.forgetFailures()
            }
            dataStore.removeData(forKey: identifier)
        }
        tell(.reset)
    }

    /// Keeps the store up to date until the task is cancelled; made for a group of services.
    ///
    /// It looks at the clock at least every 15 minutes, so that a clock that was set, or a device that slept, delays
    /// nothing for longer.
    /// - Throws: ``CertStoreError`` `invalidConfiguration`, at once.
    public func run() async throws { try await run(sleepingOn: ContinuousClock()) }

    /// Keeps the store up to date until the task is cancelled, sleeping on a clock of the caller's.
    /// - Throws: ``CertStoreError`` `invalidConfiguration`, at once.
    public func run(sleepingOn sleeper: some Clock<Duration>) async throws {
        if let configurationError { throw configurationError }
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

    /// Seconds until an update is to be made, 15 minutes at most.
    private func wait(at now: Date) -> TimeInterval {
        state.withLock { state in
            let isUsable = state.snapshot.content?.table.hasUsableEntries(
                at: PathValidator.wholeSeconds(state.snapshot.trustedTime.time(clock: now)))
            let due = state.retryTime ?? (isUsable == true ? state.nextUpdate : now)
            return max(0, min(UpdateSchedule.shortestInterval, due.timeIntervalSince(now)))
        }
    }

    // MARK: One update at a time

    /// Decides what kind of update is due, and starts it or joins the one under way.
    private func begin(_ mode: UpdateMode) -> (CertStoreUpdateKind, Task<CertStoreUpdateReport, Never>?) {
        let now = clock.now
        let kind = state.withLock { state -> CertStoreUpdateKind in
            let time = PathValidator.wholeSeconds(state.snapshot.trustedTime.time(clock: now))
            guard mode == .default, state.snapshot.content?.table.hasUsableEntries(at: time) == true else {
                return .direct
            }
            return now >= max(state.nextUpdate, state.retryTime ?? state.nextUpdate) ? .silent : .noUpdate
        }
        return (kind, kind == .noUpdate ? nil : join(kind))
    }

    /// The update under way, or a new one.
    func join(_ kind: CertStoreUpdateKind) -> Task<CertStoreUpdateReport, Never> {
        state.withLock { state in
            if let task = state.underWay { return task }
            let generation = state.generation
            let task = Task.detached { await self.perform(kind, generation) }
            state.underWay = task
            return task
        }
    }

    func updateAfterMismatch() {
        guard configuration.updatesOnMismatch, configurationError == nil else { return }
        let now = clock.now
        let isAllowed = state.withLock { state in
            if let last = state.lastMismatchUpdate,
                abs(now.timeIntervalSince(last)) < UpdateSchedule.shortestInterval
            {
                return false
            }
            if let retry = state.retryTime, now < retry { return false }
            state.lastMismatchUpdate = now
            return true
        }
        if isAllowed { _ = join(.silent) }
    }

    private func report(
        _ kind: CertStoreUpdateKind, error: CertStoreError? = nil, version: ChallengeResponse.VersionCheck? = nil
    ) -> CertStoreUpdateReport {
        CertStoreUpdateReport(
            kind: kind, result: error?.result ?? .ok, error: error, time: clock.now, nextUpdate: nextUpdate,
            versionCheck: version)
    }

    private func perform(_ kind: CertStoreUpdateKind, _ generation: Int) async -> CertStoreUpdateReport {
        tell(.updateStarted(kind))
        var failure: CertStoreError?
        var version: ChallengeResponse.VersionCheck?
        do throws(CertStoreError) {
            let downloaded = try await download()
            version = downloaded?.content.versionCheck
            failure = try await commit(downloaded, generation)
        } catch {
            failure = error
        }
        if let failure, failure.code != .notStored { noteFailure(failure, generation) }
        let report = report(kind, error: failure, version: version)
        state.withLock { state in
            state.underWay = nil
            state.lastUpdate = report
        }
        tell(.updateFinished(report))
        return report
    }

    private func noteFailure(_ error: CertStoreError, _ generation: Int) {
        let now = clock.now
        // The application's generator is not called with the lock held.
        var provided = ProviderGenerator(provider: crypto)
        let word = provided.next()
        state.withLock { state in
            guard state.generation == generation else { return }
            state.failures += 1
            var generator = OneWord(word: word)
            let delay = BackOff.delay(afterFailures: state.failures, using: &generator)
            state.retryTime = now.addingTimeInterval(delay)
        }
        logger.warning("an update failed", metadata: ["store": "\(identifier)", "error": "\(error)"])
    }
}
