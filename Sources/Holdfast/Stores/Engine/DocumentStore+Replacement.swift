import Foundation
import Logging

extension DocumentStore {
    func perform(_ kind: StoreUpdateKind, _ generation: Int) async -> StoreUpdateReport {
        tell(.updateStarted(kind))
        var failure: StoreError?
        var version: ChallengeResponse.VersionCheck?
        do throws(StoreError) {
            let fetched = try await fetch()
            version = fetched.flatMap { format.versionCheck(in: $0.content) }
            failure = try await commit(fetched, generation)
        } catch {
            failure = error
        }
        if let failure, failure.code != .notStored { noteFailure(failure, generation) }
        let report = report(kind, error: failure, version: version)
        // The old report may hold the last reference to an error of the application's, which ends without the lock.
        _ = state.withLock { state in
            state.underWay = nil
            state.followsMismatch = false
            defer { state.lastUpdate = report }
            return state.lastUpdate
        }
        tell(.updateFinished(report))
        return report
    }

    /// Downloads and verifies a document within the time that an update has. What takes longer is told to stop, and counts
    /// for nothing whenever it ends.
    private func fetch() async throws(StoreError) -> FetchedDocument<Content>? {
        let (format, provider, current) = (format, provider, current())
        let fetching = Task.detached { () async -> Result<FetchedDocument<Content>?, StoreError> in
            do throws(StoreError) {
                return .success(try await format.fetch(from: provider, replacing: current))
            } catch {
                return .failure(error)
            }
        }
        guard let result = await TimeLimit.value(of: fetching, within: format.updateTimeout, on: timer) else {
            fetching.cancel()
            throw StoreError(
                .timedOut, expected: "a verified document within \(format.updateTimeout)",
                found: "an update that goes on")
        }
        return try result.get()
    }

    private func current() -> CurrentDocument<Content> {
        let (content, tag) = state.withLock { ($0.snapshot.content, $0.entityTag) }
        return CurrentDocument(
            content: content, entityTag: tag, time: { self.trustedTime },
            latestIssue: { self.snapshot.trustedTime.counted(.distantFuture, clock: self.clock.now) })
    }

    /// Puts a document in the place of the one that is there, first in the storage, then in the snapshot.
    /// - Returns: that nothing in it is usable, or that it could not be stored; nil when all is well.
    private func commit(
        _ fetched: FetchedDocument<Content>?, _ generation: Int
    ) async throws(StoreError) -> StoreError? {
        let failure = try await storageQueue.run { () throws(StoreError) in try self.store(fetched, generation) }
        // Not on the storage queue: an observer may reset the store.
        if let fetched, fetched.shortfall == nil {
            let content = fetched.content
            tell(.replaced(content))
            sayIfAhead(content)
        }
        return failure
    }

    private func sayIfAhead(_ content: Content) {
        guard let seconds = format.issueTime(of: content)?.timeIntervalSince(clock.now), seconds > 0 else { return }
        tell(.issuedAhead(Duration(exactSeconds: seconds) ?? .seconds(Int64.max)))
        // The clocks of two machines are seldom the same: that alone is no reason to look at either.
        logger.log(
            level: seconds > Self.ordinaryDifference ? .warning : .info,
            "a document was issued after what the clock says; at most a day of that counts",
            metadata: ["store": "\(format.logName)", "seconds": "\(seconds)"])
    }

    /// Between two clocks, in seconds.
    private static var ordinaryDifference: TimeInterval { 300 }

    /// On the storage queue, where resets happen as well: nothing changes the snapshot meanwhile.
    private func store(
        _ fetched: FetchedDocument<Content>?, _ generation: Int
    ) throws(StoreError) -> StoreError? {
        // What an unfinished update proved went on from nothing; it must not take the place of what is there after all.
        if readAgainIfUnread(), let shortfall = fetched?.shortfall { throw shortfall }
        let (current, isStale) = state.withLock { ($0.snapshot, $0.generation != generation) }
        guard !isStale else {
            throw StoreError(.reset, expected: "the store as it was when the update began", found: "a reset")
        }
        let now = clock.now
        guard let fetched else {
            renew(current, now: now)
            return obstacle(to: current.content, trusted: current.trustedTime, now: now)
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
        let storageFailure = save(record)
        let snapshot = DocumentSnapshot(content: content, trustedTime: trusted)
        let emptiness = obstacle(to: content, trusted: trusted, now: now)
        state.withLock { state in
            state.snapshot = snapshot
            state.revision &+= 1
            state.nextUpdate = next
            state.entityTag = record.entityTag
            if emptiness == nil, fetched.shortfall == nil { state.forgetFailures() }
        }
        return fetched.shortfall ?? emptiness ?? storageFailure
    }

    /// Reads what could not be read when the store was made: a new document must not get past the checks against the old
    /// one, and without a network the old one is all there is. On the storage queue.
    /// - Returns: whether it counts now.
    @discardableResult
    private func readAgainIfUnread() -> Bool {
        guard state.withLock({ $0.isUnread }) else { return false }
        let loaded = StoreLoading(format: format, now: clock.now).load(from: dataStore)
        guard !loaded.isUnread else { return false }
        let content = format.beginning(with: loaded.content)
        let counts = state.withLock { state in
            state.isUnread = false
            // Before the first document that was downloaded there is nothing but what the store began with.
            guard state.revision == 0, loaded.content != nil, let content else { return false }
            state.snapshot = DocumentSnapshot(
                content: content,
                trustedTime: TrustedTime(buildDate: format.buildDate, newestIssue: loaded.newestIssue))
            state.nextUpdate = loaded.nextUpdate
            state.entityTag = loaded.entityTag
            state.revision &+= 1
            return true
        }
        // Not on the storage queue: an observer may reset the store.
        if counts, let content { DispatchQueue.global().async { self.tell(.loaded(content)) } }
        return counts
    }

    private func renew(_ snapshot: DocumentSnapshot<Content>, now: Date) {
        guard let content = snapshot.content else { return }
        let next = nextUpdate(for: content, trusted: snapshot.trustedTime, now: now)
        let isUsable = isUsable(snapshot, now: now)
        state.withLock { state in
            state.nextUpdate = next
            if isUsable { state.forgetFailures() }
        }
    }

    private func nextUpdate(for content: Content, trusted: TrustedTime, now: Date) -> Date {
        let time = trusted.time(clock: now)
        var generator = ProviderGenerator(provider: crypto)
        let next = format.nextUpdate(for: content, at: time, using: &generator)
        // Asked for by the device's clock, which may be behind.
        return now.addingTimeInterval(next.timeIntervalSince(time))
    }

    private func save(_ record: StoredRecord) -> StoreError? {
        do {
            if let reporting = dataStore as? any ReportingDataStore {
                try reporting.replace(record.data, forKey: format.storageKey)
            } else if !dataStore.save(data: record.data, forKey: format.storageKey) {
                return StoreError(.notStored, expected: "a data store that saves", found: "one that refuses")
            }
            return nil
        } catch {
            return StoreError(
                .notStored, expected: "a data store that saves", found: ForeignErrorText.found(error),
                underlying: error)
        }
    }

    private func noteFailure(_ error: StoreError, _ generation: Int) {
        let now = clock.now
        // The application's generator is not called with the lock held.
        var provided = ProviderGenerator(provider: crypto)
        let word = provided.next()
        state.withLock { state in
            guard state.generation == generation else { return }
            state.failures += 1
            var generator = OneWord(word: word)
            let delay = BackOff.delay(
                afterFailures: state.failures, longest: format.longestBackOff, using: &generator)
            state.retryTime = now.addingTimeInterval(delay)
        }
        storageQueue.async { self.readAgainIfUnread() }
        logger.warning("an update failed", metadata: ["store": "\(format.logName)", "error": "\(error)"])
    }
}
