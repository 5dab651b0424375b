import Foundation

// Failed updates delay the next attempt, even across restarts.
extension DocumentStore {
    private var attemptsKey: String { FailedAttempts.key(beside: format.storageKey) }

    func noteFailure(_ generation: Int) async {
        let now = clock.now
        // The application's random number generator is called outside the lock.
        var provided = RandomWords(crypto: crypto)
        let word = provided.next()
        state.withLock { state in
            guard state.generation == generation else { return }
            state.failures += 1
            var generator = OneWord(word: word)
            let delay = BackOff.delay(afterFailures: state.failures, longest: format.longestBackOff, using: &generator)
            state.retryTime = now.addingTimeInterval(delay)
        }
        let announcements = await storageQueue.run {
            self.keepAttempts(generation)
            return self.catchUp()
        }
        // This is not on the storage queue, because an observer may reset the store.
        for announcement in announcements { announcement() }
    }

    /// Stores the failures for the next start, on the storage queue. If that fails, the only effect is an earlier
    /// retry.
    private func keepAttempts(_ generation: Int) {
        let attempts = state.withLock { state -> FailedAttempts? in
            guard state.generation == generation, let retryTime = state.retryTime else { return nil }
            state.keepsAttempts = true
            return FailedAttempts(count: state.failures, retryTime: retryTime)
        }
        guard let attempts else { return }
        _ = dataStore.save(data: attempts.data(origin: format.origin), forKey: attemptsKey)
    }

    /// Restores the failures of an earlier run, on the storage queue, before the store is in use.
    func loadAttempts(at now: Date) {
        guard let data = dataStore.loadData(forKey: attemptsKey) else { return }
        let attempts = FailedAttempts(data, of: format, at: now)
        state.withLock { state in
            // The next success also removes a meaningless record.
            state.keepsAttempts = true
            state.failures = attempts?.count ?? 0
            state.retryTime = attempts?.retryTime
        }
    }

    /// Removes the stored failures, on the storage queue.
    func removeAttemptsIfOver() {
        let isOver = state.withLock { state in
            guard state.failures == 0, state.keepsAttempts else { return false }
            state.keepsAttempts = false
            return true
        }
        if isOver { dataStore.removeData(forKey: attemptsKey) }
    }

    /// Removes the document and the stored failures, on the storage queue.
    func removeStored() {
        dataStore.removeData(forKey: format.storageKey)
        dataStore.removeData(forKey: attemptsKey)
    }
}
