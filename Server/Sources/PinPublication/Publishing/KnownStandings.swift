package import ServerFoundation
import ServerStore
import Synchronization

/// The latest status of each app. An evaluation takes a fraction of a second of a processor, and pages, metrics and
/// notices query often. They share the results with the command and with each other.
package final class KnownStandings: Sendable {
    private struct Known {
        let standing: Publisher.Standing
        /// The audit position up to which it was read.
        let place: Int64
    }

    /// A running evaluation of an app, for which other callers wait.
    private struct Judging {
        let place: Int64
        let id: UInt64
        let task: Task<Result<Publisher.Standing, ServerError>, Never>
    }

    private let known = Mutex<[AppName: Known]>([:])
    private let judging = Mutex<(count: UInt64, apps: [AppName: Judging])>((0, [:]))

    /// How long a status is current while the audit has no new entry about the app, in seconds.
    static let lifetime: Int64 = 60
    /// With many apps, a status is current for this many seconds per app, even with new entries.
    private static let pause: Int64 = 5
    private static let manyApps = 12

    /// Stores the status of an app, without the outlook and the open changes, which are large.
    /// - Parameter place: the audit position before the status was read.
    func note(_ standing: Publisher.Standing, at place: Int64) {
        var standing = standing
        (standing.outlook, standing.open) = (nil, [])
        let entry = Known(standing: standing, place: place)
        known.withLock { $0[standing.app] = entry }
    }

    /// The latest status of an app; nil if it was never evaluated.
    package func latest(_ app: AppName) -> Publisher.Standing? { known.withLock { $0[app]?.standing } }

    /// The status of an app if it is current; nil if it must be evaluated again.
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

    /// The status of an app: the current one, or a new evaluation. Concurrent callers for the same app share one
    /// evaluation, unless the audit has a new entry about the app.
    /// - Parameters:
    ///   - now: seconds since 1970.
    ///   - judge: evaluates the app, and stores its status.
    /// - Throws: ``ServerError`` of the evaluation.
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
    /// The status of an app, as all surfaces show it: at most a minute old, or somewhat older with many apps.
    /// - Throws: ``ServerError``.
    func currentStanding(of app: AppName) async throws(ServerError) -> Standing {
        try await standings.standing(of: app, catalog.ledger, at: try await catalog.now()) {
            [self] () async throws(ServerError) in
            try await standing(of: app)
        }
    }

    /// The alerts of an app, as all surfaces show them. With a wrong clock nothing is evaluated, and the clock is the
    /// alert.
    /// - Parameter now: seconds since 1970.
    /// - Throws: ``ServerError``.
    package func currentAlerts(of app: AppName, at now: Int64) async throws(ServerError) -> [StandingAlert] {
        do throws(ServerError) {
            return try await currentStanding(of: app).alerts(at: now)
        } catch {
            guard error.code == .clock else { throw error }
            return [StandingAlert(kind: .held, words: "nothing is signed or evaluated: \(error)")]
        }
    }

    /// Maximum number of apps that one page, scrape or check for notices evaluates.
    private static let maximumJudging = 16

    /// The known status of all apps. Evaluates a few of the outdated ones, the oldest first.
    /// - Parameter now: seconds since 1970.
    package func currentStandings(at now: Int64) async -> [Standing] {
        let ledger = catalog.ledger
        let unknown = catalog.apps.filter { standings.current($0, ledger, at: now) == nil }
            .sorted { (standings.latest($0)?.now ?? 0) < (standings.latest($1)?.now ?? 0) }
        for app in unknown.prefix(Self.maximumJudging) {
            _ = try? await currentStanding(of: app)
        }
        return catalog.apps.compactMap(standings.latest)
    }
}
