import Foundation

// Adopts the documents that other stores of this process, and other processes, have stored in the same place.
extension DocumentStore: SharedStorage.Member {
    var origin: [UInt8] { format.origin }

    /// Adopts a document that another store has stored since the last check, if it verifies and may replace the one in
    /// use here. It also reads a document that could not be read when the store was made: a new document must not
    /// bypass the checks against that one, and without a network it is the only one. Runs on the storage queue.
    func catchUp() -> [SharedStorage.Announcement] {
        guard let stored = try? dataStore.reported(forKey: format.storageKey) else {
            // Another store or process has removed it. The verified content stays in use here, and new documents are
            // still checked against it.
            return []
        }
        return takeOver(stored)
    }

    private func takeOver(_ stored: Data) -> [SharedStorage.Announcement] {
        let mark = StorageMark(stored)
        guard format.configurationError == nil, state.withLock({ $0.mark != mark }) else { return [] }
        let now = clock.now
        let loaded = StoreLoading(format: format, now: now).verified(stored)
        let (current, wasUnread) = state.withLock { state in
            defer { (state.mark, state.isUnread) = (mark, false) }
            // Before the first download, the store has only the initial content.
            return (state.snapshot, state.isUnread && state.revision == 0)
        }
        guard loaded.content != nil, let content = format.beginning(with: loaded.content),
            wasUnread || isNewer(content, current, now: now)
        else { return [] }
        let trusted = TrustedTime(buildDate: format.buildDate, newestIssue: loaded.newestIssue)
        let isUsable = obstacle(to: content, trusted: trusted, now: now) == nil
        state.withLock { state in
            state.snapshot = DocumentSnapshot(content: content, trustedTime: trusted)
            state.nextUpdate = loaded.nextUpdate
            state.entityTag = loaded.entityTag
            state.revision &+= 1
            state.takeovers &+= 1
            if isUsable { state.forgetFailures() }
        }
        removeAttemptsIfOver()
        return [{ if wasUnread { self.tell(StoreEvent(.loaded)) } else { self.announce(content) } }]
    }

    /// Whether a stored document may replace the one in use here. A response to another store's challenge is not fresh
    /// here, so its date is compared.
    private func isNewer(_ content: Content, _ current: DocumentSnapshot<Content>, now: Date) -> Bool {
        let newest = current.trustedTime.newestIssue
        do throws(DocumentError) {
            try format.checkReplaces(
                content, current.content, newestIssue: newest, at: current.trustedTime.time(clock: now))
        } catch {
            return false
        }
        guard let issued = format.issueTime(of: content), let newest else { return true }
        return issued >= newest
    }

    func forget() -> [SharedStorage.Announcement] {
        let content = format.beginning(with: nil)
        state.withLock { state in
            state.generation += 1
            state.revision &+= 1
            state.snapshot = DocumentSnapshot(
                content: content, trustedTime: TrustedTime(buildDate: format.buildDate, newestIssue: nil))
            state.nextUpdate = Date(timeIntervalSince1970: 0)
            state.entityTag = ""
            state.isUnread = false
            state.mark = nil
            state.keepsAttempts = false
            state.forgetFailures()
        }
        return [{ self.tell(StoreEvent(.reset)) }]
    }

    /// The maximum number of attempts to save while others save records that are not valid here.
    private static var maximumAttempts: Int { 8 }

    /// Saves a record, but only to replace the one that this store knows. Runs on the storage queue.
    func save(_ record: StoredRecord) -> Outcome {
        let data = record.data
        var saving = Outcome()
        let takeovers = state.withLock { $0.takeovers }
        do {
            for _ in 0..<Self.maximumAttempts {
                let stored = try dataStore.reported(forKey: format.storageKey)
                if let stored { saving.announcements += takeOver(stored) }
                guard state.withLock({ $0.takeovers == takeovers }) else {
                    saving.isOvertaken = true
                    return saving
                }
                if try dataStore.replaceIfUnchanged(stored, with: data, forKey: format.storageKey) {
                    state.withLock { $0.mark = StorageMark(data) }
                    return saving
                }
            }
            saving.failure = StoreError(
                .notStored, expected: "a data store that others let be", found: "one that others change again and again"
            )
        } catch {
            saving.failure =
                error as? StoreError
                ?? StoreError(
                    .notStored, expected: "a data store that saves", found: ForeignErrorText.found(error),
                    underlying: error)
        }
        return saving
    }
}
