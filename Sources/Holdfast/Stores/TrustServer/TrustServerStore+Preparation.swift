import Foundation

extension TrustServerStore {
    /// Whether ``prepare()`` would wait: there is no usable document and no attempt failed a moment ago, or the one that
    /// is there is past its time and none failed since, or a mismatch asked for a newer one.
    public var needsPreparation: Bool {
        let now = clock.now
        return documents.state.withLock { needsPreparation($0, now: now) }
    }

    private func needsPreparation(_ state: borrowing DocumentStore<TrustServerFormat>.State, now: Date) -> Bool {
        if state.followsMismatch { return true }
        guard let content = state.snapshot.content, documents.isUsable(state.snapshot, now: now) else {
            return state.underWay != nil || !documents.mustWait(state, now: now)
        }
        // A trust server that cannot be reached costs one wait, not one a minute for the whole of the grace.
        guard documents.format.isInGrace(content, at: state.snapshot.trustedTime.time(clock: now)),
            state.failures == 0
        else { return false }
        return state.underWay != nil || documents.isRenewalDue(state, now: now)
    }

    /// Waits, for at most ``OnlinePinningSettings/preparationTimeout``, for a document to judge by.
    ///
    /// With a fresh one it returns at once. Otherwise there is one download, shared by all who wait; it goes on when
    /// their time is up. A document in its grace is good enough when the download fails, and is not waited for again
    /// until one succeeds. Right after a failure nothing is downloaded.
    /// - Throws: ``StoreError`` when there is no usable document; `CancellationError` when the task is cancelled.
    public func prepare() async throws {
        let now = clock.now
        guard let download = documents.join(.direct, if: { needsPreparation($0, now: now) }) else {
            return try checkUsable()
        }
        let report = await TimeLimit.value(of: download, within: configuration.settings.preparationTimeout)
        try Task.checkCancellation()
        guard report != nil || isUsable else {
            throw StoreError(
                .networkError, expected: "a document within \(configuration.settings.preparationTimeout)",
                found: "a download that goes on", remedy: "Check the network and the trust server, and try again.")
        }
        try checkUsable()
    }

    private var isUsable: Bool { [.fresh, .inGrace].contains(freshness) }

    private func checkUsable() throws(StoreError) {
        let snapshot = documents.snapshot
        let time = snapshot.trustedTime.time(clock: clock.now)
        guard let obstacle = documents.format.obstacle(to: snapshot.content, at: time) else { return }
        throw lastUpdate?.error ?? obstacle
    }
}
