import Foundation
import Logging

extension DocumentStore {
    func perform(_ kind: StoreUpdateKind, _ generation: Int) async -> StoreUpdateReport {
        tell(StoreEvent(.updateStarted, updateKind: kind))
        var failure: StoreError?
        var version: VersionCheck?
        do throws(StoreError) {
            (failure, version) = try await replace(generation)
        } catch {
            failure = error
        }
        if failure.map({ $0.code != .notStored }) ?? false { await noteFailure(generation) }
        let report = report(kind, error: failure, version: version)
        // The old report may hold the last reference to an application's error, which is released outside the lock.
        _ = state.withLock { state in
            state.underWay = nil
            state.followsMismatch = false
            defer { state.lastUpdate = report }
            return state.lastUpdate
        }
        tell(StoreEvent(.updateFinished, report: report))
        return report
    }

    /// The maximum number of downloads in one update. It repeats one if another store has stored a document in the
    /// meantime.
    private static var maximumDownloads: Int { 3 }

    /// Downloads a document and replaces the current one. If another store or process has stored one since the download
    /// began, it is unknown which is newer, so the stored document is adopted and the download is repeated.
    /// - Returns: the problem, if nothing in the document is usable or it could not be stored, or nil if all is well;
    ///   and its assessment of the application's version.
    private func replace(_ generation: Int) async throws(StoreError) -> (StoreError?, VersionCheck?) {
        for announcement in await storageQueue.run({ self.catchUp() }) { announcement() }
        var left = format.updateTimeout
        for number in 1...Self.maximumDownloads {
            let takeovers = state.withLock { $0.takeovers }
            let (fetched, duration) = try await fetch(within: left)
            left -= duration
            let outcome = try await commit(fetched, generation, takeovers)
            if !outcome.isOvertaken || number == Self.maximumDownloads || left <= .zero {
                return (outcome.failure, fetched.flatMap { format.versionCheck(in: $0.content) })
            }
        }
        return (nil, nil)
    }

    /// Downloads and verifies a document within the time limit of an update. A longer download is canceled, and its
    /// result is ignored.
    private func fetch(within limit: Duration) async throws(StoreError) -> (FetchedDocument<Content>?, Duration) {
        let (format, provider, current) = (format, provider, current())
        let fetching = Task.detached { () async -> Result<FetchedDocument<Content>?, StoreError> in
            do throws(StoreError) {
                return .success(try await format.fetch(from: provider, replacing: current))
            } catch {
                return .failure(error)
            }
        }
        var result: Result<FetchedDocument<Content>?, StoreError>?
        let duration = await timer.measure { result = await TimeLimit.value(of: fetching, within: limit, on: timer) }
        guard let result else {
            fetching.cancel()
            throw StoreError(
                .timedOut, expected: "a verified document within \(format.updateTimeout)",
                found: "an update that goes on")
        }
        return (try result.get(), duration)
    }

    private func current() -> CurrentDocument<Content> {
        let (content, tag) = state.withLock { ($0.snapshot.content, $0.entityTag) }
        return CurrentDocument(
            content: content, entityTag: tag, time: { self.trustedTime },
            latestIssue: { self.snapshot.trustedTime.counted(.distantFuture, clock: self.clock.now) })
    }

    /// The result of replacing the current document, or of saving its record.
    struct Outcome: Sendable {
        /// The problem, if nothing is usable or the document could not be stored.
        var failure: StoreError?
        /// Whether another store or process was faster, and its document is used.
        var isOvertaken = false
        /// Whether the document is in use now.
        var isReplaced = false
        var announcements: [SharedStorage.Announcement] = []
    }

    /// Replaces the current document, first in the storage, then in the snapshot.
    private func commit(
        _ fetched: FetchedDocument<Content>?, _ generation: Int, _ takeovers: UInt64
    ) async throws(StoreError) -> Outcome {
        let outcome = try await storageQueue.run { () throws(StoreError) in
            try self.store(fetched, generation, takeovers)
        }
        // This is not on the storage queue, because an observer may reset the store.
        for announcement in outcome.announcements { announcement() }
        if outcome.isReplaced, let fetched, fetched.shortfall == nil {
            let content = fetched.content
            announce(content)
            if let lead = format.issueTime(of: content)?.timeIntervalSince(clock.now), lead > 0 {
                let span = Duration(exactSeconds: lead) ?? .seconds(Int64.max)
                tell(StoreEvent(.issuedAheadOfClock, span: span))
            }
        }
        return outcome
    }

    func announce(_ content: Content) { format.news(of: content).forEach(tell) }

    /// Replaces the document on the storage queue, where resets happen as well, so that the snapshot cannot change
    /// meanwhile.
    private func store(
        _ fetched: FetchedDocument<Content>?, _ generation: Int, _ takeovers: UInt64
    ) throws(StoreError) -> Outcome {
        var outcome = Outcome()
        outcome.announcements = catchUp()
        let (current, isStale, isOvertaken) = state.withLock {
            ($0.snapshot, $0.generation != generation, $0.takeovers != takeovers)
        }
        let now = clock.now
        guard !isStale else {
            throw StoreError(.reset, expected: "the store as it was when the update began", found: "a reset")
        }
        guard !isOvertaken, let fetched else {
            if !isOvertaken { renew(current, now: now) }
            outcome.isOvertaken = isOvertaken
            outcome.failure = obstacle(to: current.content, trusted: current.trustedTime, now: now)
            return outcome
        }
        var (record, content) = (fetched.record, fetched.content)
        var trusted = current.trustedTime
        do throws(DocumentError) {
            try format.checkReplaces(
                content, current.content, newestIssue: trusted.newestIssue, at: trusted.time(clock: now))
        } catch {
            throw StoreError(error)
        }
        if let issued = format.issueTime(of: content) { trusted = trusted.remembering(issued, clock: now) }
        let next =
            fetched.shortfall == nil
            ? nextUpdate(for: content, trusted: trusted, now: now) : state.withLock { $0.nextUpdate }
        record.nextUpdate = next.wholeSeconds
        record.newestIssue = trusted.newestIssue.map(\.wholeSeconds) ?? 0
        record.origin = format.origin
        let saving = save(record)
        outcome.announcements += saving.announcements
        guard !saving.isOvertaken else {
            let newer = self.snapshot
            outcome.isOvertaken = true
            outcome.failure = obstacle(to: newer.content, trusted: newer.trustedTime, now: now)
            return outcome
        }
        let snapshot = DocumentSnapshot(content: content, trustedTime: trusted)
        let emptiness = obstacle(to: content, trusted: trusted, now: now)
        state.withLock { state in
            state.snapshot = snapshot
            state.revision &+= 1
            state.nextUpdate = next
            state.entityTag = record.entityTag
            if emptiness == nil, fetched.shortfall == nil { state.forgetFailures() }
        }
        removeAttemptsIfOver()
        // Each store verifies the document again with its own settings.
        if saving.failure == nil {
            for other in storage.noteChange(by: self) { outcome.announcements += other.catchUp() }
        }
        outcome.isReplaced = true
        outcome.failure = fetched.shortfall ?? emptiness ?? saving.failure
        return outcome
    }

    private func renew(_ snapshot: DocumentSnapshot<Content>, now: Date) {
        guard let content = snapshot.content else { return }
        let next = nextUpdate(for: content, trusted: snapshot.trustedTime, now: now)
        let isUsable = isUsable(snapshot, now: now)
        state.withLock { state in
            state.nextUpdate = next
            if isUsable { state.forgetFailures() }
        }
        removeAttemptsIfOver()
    }

    private func nextUpdate(for content: Content, trusted: TrustedTime, now: Date) -> Date {
        let time = trusted.time(clock: now)
        var generator = RandomWords(crypto: crypto)
        let next = format.nextUpdate(for: content, at: time, using: &generator)
        // Convert from the trusted time to the device's clock, which may be slow.
        return now.addingTimeInterval(next.timeIntervalSince(time))
    }
}
