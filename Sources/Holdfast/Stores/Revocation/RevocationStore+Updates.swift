import Dispatch
import Foundation

extension RevocationStore {
    /// The number of downloads at the same time.
    private static let simultaneousDownloads = 4

    /// Updates a few lists at a time. A failing list that only an earlier run needed is not a failure.
    /// - Returns: the result for all lists together, with the first problem that is not a failure.
    @discardableResult
    func update(mode: StoreUpdateMode) async throws(StoreError) -> StoreUpdateReport {
        let results = await mapLists { key, documents -> (RevocationPlace.Key, Result<StoreUpdateReport, StoreError>) in
            do throws(StoreError) {
                return (key, .success(try await documents.update(mode: mode)))
            } catch {
                return (key, .failure(error))
            }
        }
        var reports: [StoreUpdateReport] = []
        for (key, result) in results {
            do throws(StoreError) {
                reports.append(try result.get())
            } catch {
                if isAwaited(key) { throw error }
            }
        }
        let kinds = reports.map(\.kind)
        return StoreUpdateReport(
            kind: [.direct, .silent].first(where: kinds.contains) ?? .noUpdate,
            error: reports.lazy.compactMap(\.error).first, time: clock.now, nextUpdate: nextUpdate, versionCheck: nil)
    }

    /// Waits, for at most ``RevocationConfiguration/preparationTimeout``, for a usable list of every known place: those
    /// of the configuration, of certificates given to ``follow(_:)``, and of paths that were validated. It does not
    /// wait for places that only an earlier run needed.
    ///
    /// It returns at once if all lists are usable. It does not wait for a list whose download has just failed.
    /// - Throws: ``StoreError`` of the first list that is not usable; `CancellationError` if the task is canceled.
    public func prepare() async throws {
        let waiting = Task.detached {
            await self.mapLists { key, documents in
                guard self.isAwaited(key) else { return }
                let now = self.clock.now
                let update = documents.join(
                    .direct,
                    if: { state in
                        !documents.isUsable(state.snapshot, now: now)
                            && (state.underWay != nil || !documents.mustWait(state, now: now))
                    })
                _ = await update?.value
            }
        }
        _ = await TimeLimit.value(of: waiting, within: configuration.preparationTimeout)
        // The new lists must be in use from the next validation on, even if another caller is about to publish them.
        publish()
        try Task.checkCancellation()
        let now = clock.now
        for (key, list) in statuses(of: isAwaited) where !list.isUsable {
            let documents = known.withLock { $0.places[key]?.documents }
            let snapshot = documents?.snapshot
            let obstacle = documents.flatMap { documents in
                snapshot.flatMap { documents.obstacle(to: $0.content, trusted: $0.trustedTime, now: now) }
            }
            throw list.lastUpdate?.error ?? obstacle
                ?? StoreError(
                    .networkError, expected: "a list within \(configuration.preparationTimeout)",
                    found: "a download that goes on", remedy: "Check the network and the authority's server.")
        }
    }

    /// Whether this run needs the list of a place; a server that an earlier run used may no longer exist.
    private func isAwaited(_ key: RevocationPlace.Key) -> Bool {
        known.withLock { $0.places[key]?.isRestored == false }
    }

    func run(sleepingOn sleeper: some Clock<Duration>) async throws(StoreError) {
        while !Task.isCancelled {
            await updateWhatIsDue()
            let now = clock.now
            let waits = known.withLock { $0.places.values.compactMap(\.documents) }.map { $0.wait(at: now) }
            let wait = max(1, min(waits.min() ?? Self.lookInterval, Self.lookInterval))
            let duration = Duration.milliseconds(Int64((wait * 1_000).rounded(.up)))
            do { try await sleeper.sleep(until: sleeper.now.advanced(by: duration), tolerance: nil) } catch { return }
        }
    }

    func reset() {
        for key in keys { open(key)?.reset() }
        known.withLock { $0.nextLook = .distantPast }
        tell(.reset)
    }

    /// Updates the lists that are due. Only one check runs at a time, because the downloads of several would add up.
    func updateWhatIsDue() async {
        let isFirst = known.withLock { state in
            state.looksAgain = state.isLooking
            defer { state.isLooking = true }
            return !state.isLooking
        }
        guard isFirst else { return }
        repeat {
            await DispatchQueue.global().run { self.keepPlaces() }
            await mapLists { _, documents in
                guard documents.wait(at: self.clock.now) == 0 else { return }
                _ = await documents.join(.silent).value
            }
        } while known.withLock { state in
            defer { (state.isLooking, state.looksAgain) = (state.looksAgain, false) }
            return state.looksAgain
        }
    }

    /// Reads the stored lists that have not been opened yet, and processes each, a few at a time.
    /// - Returns: the results, in the order of the URLs.
    @discardableResult
    private func mapLists<Value: Sendable>(
        _ body: @escaping @Sendable (RevocationPlace.Key, Documents) async -> Value
    ) async -> [Value] {
        var stores: [(RevocationPlace.Key, Documents)] = []
        var isFirst = false
        for key in keys.sorted(by: { $0.precedes($1) }) {
            isFirst = isFirst || known.withLock { $0.places[key]?.documents == nil }
            guard let documents = await DispatchQueue.global().run({ self.open(key) }) else { continue }
            stores.append((key, documents))
        }
        if isFirst { publish() }
        return await SideBySide.map(stores, atMost: Self.simultaneousDownloads) { await body($0.0, $0.1) }
    }
}
