import Foundation

extension DocumentStore {
    /// Whether ``prepare()`` would wait: no usable document is available and no attempt has just failed, or the
    /// document is no longer fresh and no attempt has failed since, or a mismatch requires a newer one.
    package var needsPreparation: Bool {
        guard format.configurationError == nil else { return false }
        let now = clock.now
        return state.withLock { needsPreparation($0, now: now) }
    }

    private func needsPreparation(_ state: borrowing State, now: Date) -> Bool {
        if state.followsMismatch { return true }
        guard let content = state.snapshot.content, isUsable(state.snapshot, now: now) else {
            return state.underWay != nil || !mustWait(state, now: now)
        }
        // An unreachable server causes one wait, not one per minute during the whole grace period.
        guard format.state(of: content, at: state.snapshot.trustedTime.time(clock: now)) == .grace, state.failures == 0
        else { return false }
        return state.underWay != nil || isRenewalDue(state, now: now)
    }

    /// Waits for a document to decide by.
    ///
    /// With a fresh document it returns at once. Otherwise all callers share one download, which continues after they
    /// stop waiting. If the download fails, a document in its grace period is accepted, and no caller waits again until
    /// a download succeeds. Right after a failure nothing is downloaded.
    /// - Throws: ``StoreError`` if no usable document is available; `CancellationError` if the task is canceled.
    package func prepare() async throws {
        let now = clock.now
        guard let download = join(.direct, if: { needsPreparation($0, now: now) }) else { return try checkUsable() }
        let limit = format.preparationTimeout
        let report = await TimeLimit.value(of: download, within: limit)
        try Task.checkCancellation()
        guard report != nil || isUsable(snapshot, now: clock.now) else {
            throw StoreError(
                .networkError, expected: "a document within \(limit)", found: "a download that goes on",
                remedy: "Check the network and the server of the documents, and try again.")
        }
        try checkUsable()
    }

    private func checkUsable() throws(StoreError) {
        let snapshot = snapshot
        guard let obstacle = obstacle(to: snapshot.content, trusted: snapshot.trustedTime, now: clock.now) else {
            return
        }
        throw lastUpdate?.error ?? obstacle
    }
}
