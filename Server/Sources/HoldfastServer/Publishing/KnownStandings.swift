import Synchronization

/// How apps stood when they were judged last. Judging takes a fraction of a second of a processor, and pages, metrics and
/// notices ask often: they share what is known here, with the command and with each other.
final class KnownStandings: Sendable {
    private struct Known {
        let standing: Publisher.Standing
        /// The place of the audit up to which it was read.
        let place: Int64
    }

    /// Somebody judges an app, and others wait for it.
    private struct Judging {
        let place: Int64
        let id: UInt64
        let task: Task<Result<Publisher.Standing, ServerError>, Never>
    }

    private let known = Mutex<[AppName: Known]>([:])
    private let judging = Mutex<(count: UInt64, apps: [AppName: Judging])>((0, [:]))

    /// For so many seconds it is not judged again, as long as the audit says nothing new about the app.
    static let lifetime: Int64 = 60
    /// Of more apps each is judged less often: one in so many seconds.
    private static let pause: Int64 = 5
    private static let manyApps = 12

    /// Keeps how an app stands, without the outlook and the changes that are open, which are large.
    /// - Parameter place: the place of the audit before it was read.
    func note(_ standing: Publisher.Standing, at place: Int64) {
        var standing = standing
        (standing.outlook, standing.open) = (nil, [])
        let entry = Known(standing: standing, place: place)
        known.withLock { $0[standing.app] = entry }
    }

    /// How an app stood when it was judged last; nil if it never was.
    func latest(_ app: AppName) -> Publisher.Standing? { known.withLock { $0[app]?.standing } }

    /// How an app stands, if that was judged lately; nil if it has to be judged again.
    /// - Parameter now: seconds since 1970.
    func current(_ app: AppName, _ ledger: Ledger, at now: Int64) -> Publisher.Standing? {
        guard let known = known.withLock({ $0[app] }), known.standing.generation == ledger.generation(of: app) else {
            return nil
        }
        let age = now - known.standing.now
        if (0..<Self.lifetime).contains(age), known.place == ledger.touches.latest(of: app) { return known.standing }
        let count = Int64(ledger.appNames.count)
        return count > Self.manyApps && (0..<count * Self.pause).contains(age) ? known.standing : nil
    }

    /// How an app stands: as it is known, or as it is judged now. If several ask for the same app meanwhile, one judges
    /// and the others wait for the result, unless the audit says something new about the app.
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - judge: judges the app, and notes how it stands.
    /// - Throws: ``ServerError`` that the judge throws.
    func standing(
        of app: AppName, _ ledger: Ledger, at now: Int64,
        judgedBy judge: @escaping @Sendable () async throws(ServerError) -> Publisher.Standing
    ) async throws(ServerError) -> Publisher.Standing {
        if let known = current(app, ledger, at: now) { return known }
        let place = ledger.touches.latest(of: app)
        let task = judging.withLock { judging in
            if let begun = judging.apps[app], begun.place == place { return begun.task }
            judging.count += 1
            let id = judging.count
            // The caller may be canceled while others wait.
            let task = Task { [self] () -> Result<Publisher.Standing, ServerError> in
                let result: Result<Publisher.Standing, ServerError>
                do throws(ServerError) {
                    result = .success(try await judge())
                } catch {
                    result = .failure(error)
                }
                finish(app, id)
                return result
            }
            judging.apps[app] = Judging(place: place, id: id, task: task)
            return task
        }
        return try await task.value.get()
    }

    private func finish(_ app: AppName, _ id: UInt64) {
        judging.withLock { judging in
            if judging.apps[app]?.id == id { judging.apps[app] = nil }
        }
    }
}

extension Publisher {
    /// How an app stands, as every surface shows it: judged at most a minute ago, with many apps somewhat longer.
    /// - Throws: ``ServerError``.
    func currentStanding(of app: AppName) async throws(ServerError) -> Standing {
        try await standings.standing(of: app, catalog.ledger, at: try await catalog.now()) {
            [self] () async throws(ServerError) in
            try await standing(of: app)
        }
    }

    /// What people have to act on in an app, as every surface shows it. With a wrong clock nothing is judged, and they act
    /// on that.
    /// - Parameter now: seconds since 1970.
    /// - Throws: ``ServerError``.
    func currentAlerts(of app: AppName, at now: Int64) async throws(ServerError) -> [StandingAlert] {
        do throws(ServerError) {
            return try await currentStanding(of: app).alerts(at: now)
        } catch {
            guard error.code == .clock else { throw error }
            return [StandingAlert(kind: .held, words: "nothing is signed or judged: \(error)")]
        }
    }

    /// How many apps one page, one scrape or one look for notices judges at most.
    private static let maximumJudging = 16

    /// How apps stand, as far as it is known; a few of those of which it is not are judged, the longest unknown first.
    /// - Parameter now: seconds since 1970.
    func currentStandings(at now: Int64) async -> [Standing] {
        let ledger = catalog.ledger
        let unknown = catalog.apps.filter { standings.current($0, ledger, at: now) == nil }
            .sorted { (standings.latest($0)?.now ?? 0) < (standings.latest($1)?.now ?? 0) }
        for app in unknown.prefix(Self.maximumJudging) {
            _ = try? await currentStanding(of: app)
        }
        return catalog.apps.compactMap(standings.latest)
    }
}
