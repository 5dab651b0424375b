import Foundation

// Failed updates put the next attempt off, across restarts as well.
extension DocumentStore {
    private var attemptsKey: String { FailedAttempts.key(beside: format.storageKey) }

    func noteFailure(_ generation: Int) async {
        let now = clock.now
        // The application's generator is not called with the lock held.
        var provided = RandomWords(crypto: crypto)
        let word = provided.next()
        state.withLock { state in
            guard state.generation == generation else { return }
            state.failures += 1
            var generator = OneWord(word: word)
            let delay = BackOff.delay(
                afterFailures: state.failures, longest: format.longestBackOff, using: &generator)
            state.retryTime = now.addingTimeInterval(delay)
        }
        let announcements = await storageQueue.run {
            self.keepAttempts(generation)
            return self.catchUp()
        }
        // Not on the storage queue: an observer may reset the store.
        for announcement in announcements { announcement() }
    }

    /// Keeps them for the next start. Where that fails, a restart asks sooner, and nothing else. On the storage queue.
    private func keepAttempts(_ generation: Int) {
        let attempts = state.withLock { state -> FailedAttempts? in
            guard state.generation == generation, let retryTime = state.retryTime else { return nil }
            state.keepsAttempts = true
            return FailedAttempts(count: state.failures, retryTime: retryTime)
        }
        guard let attempts else { return }
        _ = dataStore.save(data: attempts.data(origin: format.origin), forKey: attemptsKey)
    }

    /// Takes up what an earlier run has kept. On the storage queue, before anybody knows the store.
    func loadAttempts(at now: Date) {
        guard let data = dataStore.loadData(forKey: attemptsKey) else { return }
        let attempts = FailedAttempts(data, of: format, at: now)
        state.withLock { state in
            // What says nothing is removed with the next success as well.
            state.keepsAttempts = true
            state.failures = attempts?.count ?? 0
            state.retryTime = attempts?.retryTime
        }
    }

    /// Removes what is kept once failures are forgotten. On the storage queue.
    func removeAttemptsIfOver() {
        let isOver = state.withLock { state in
            guard state.failures == 0, state.keepsAttempts else { return false }
            state.keepsAttempts = false
            return true
        }
        if isOver { dataStore.removeData(forKey: attemptsKey) }
    }

    /// Removes the document and what is kept beside it. On the storage queue.
    func removeStored() {
        dataStore.removeData(forKey: format.storageKey)
        dataStore.removeData(forKey: attemptsKey)
    }
}
