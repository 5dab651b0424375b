import Synchronization

/// What the overview knows of each app. A page reads a bounded number of apps anew, first those of which the audit says
/// something that people should see, and shows the others as they were read last.
final class AppSummaries: Sendable {
    private struct Known {
        let summary: AppSummary
        /// What it says that people have to act on.
        let alerts: [Publisher.StandingAlert]
        /// The place of the audit up to which it was read.
        let place: Int64
        /// When, in seconds since 1970.
        let time: Int64
    }

    /// What is known of some apps.
    struct Found: Sendable {
        /// Those that somebody has looked at, in the order of the apps.
        let summaries: [AppSummary]
        /// How many nobody has looked at, or not since something happened, or not within a quarter of an hour.
        let outdated: Int
    }

    private let known = Mutex<[AppName: Known]>([:])
    /// When somebody asked for an overview.
    private let wanted = Mutex<ContinuousClock.Instant?>(nil)

    /// How many apps a page reads.
    static let maximumReading = 64
    /// What no audit says, such as what hosts show, is read again after so many seconds.
    private static let lifetime: Int64 = 60
    /// From then on it is said that it is old.
    private static let age: Int64 = 900

    /// Nobody looks at an overview of before.
    private static let interest: Duration = .seconds(600)

    /// Notes that somebody asks for an overview.
    func want(at now: ContinuousClock.Instant = .now) { wanted.withLock { $0 = now } }

    /// Whether somebody has asked for one lately.
    func isWanted(at now: ContinuousClock.Instant) -> Bool {
        wanted.withLock { $0 }.map { now - $0 < Self.interest } ?? false
    }

    /// Reads as many apps as a page may, and says what is known of all.
    /// - Parameters:
    ///   - apps: the apps, sorted.
    ///   - first: those that are read before others.
    ///   - publisher: where they are, and how they stand.
    /// - Throws: ``ServerError`` if nothing can be read. An app that cannot be is named by its summary.
    func found(
        _ apps: [AppName], first: some Sequence<AppName>, from publisher: Publisher
    ) async throws(ServerError) -> Found {
        let catalog = publisher.catalog
        let chain = try await catalog.approvers()
        let now = try await catalog.now()
        let ledger = catalog.ledger
        let wanted = due(apps, first: Set(first), publisher, at: now)
        let told = AppSummary.Told.all(Set(wanted), ledger, at: now)
        for app in wanted {
            let summary: AppSummary
            var alerts: [Publisher.StandingAlert] = []
            do throws(ServerError) {
                alerts = try await publisher.currentAlerts(of: app, at: now)
                summary = try await AppSummary(
                    of: app, told[app] ?? AppSummary.Told(), approvers: chain,
                    alerts, in: catalog)
            } catch {
                guard [.brokenChain, .damagedDatabase, .notPublishable].contains(error.code) else { throw error }
                summary = AppSummary(unreadable: app, because: error)
            }
            // What was written meanwhile is read the next time.
            let read = Known(summary: summary, alerts: alerts, place: ledger.touches.latest(of: app), time: now)
            known.withLock { $0[app] = read }
        }
        let all = known.withLock { $0 }
        let outdated = apps.count { app in
            all[app].map { known in
                known.place != ledger.touches.latest(of: app) || !(0...Self.age).contains(now - known.time)
            } ?? true
        }
        return Found(summaries: apps.compactMap { all[$0]?.summary }, outdated: outdated)
    }

    /// The apps to read: those that the page needs, then those of which the audit says something new, alarms and changes
    /// before everything else, then the oldest. What every surface alerts for is said at once.
    private func due(
        _ apps: [AppName], first: Set<AppName>, _ publisher: Publisher, at now: Int64
    ) -> [AppName] {
        let ledger = publisher.catalog.ledger
        let known = known.withLock { $0 }
        let urgent = ledger.urgentApps(at: now)
        var due: [(app: AppName, order: (Int, Int64))] = []
        for app in apps {
            let read = known[app]
            let alerts = publisher.standings.latest(app)?.alerts(at: now)
            let isNew =
                read.map { known in
                    known.place != ledger.touches.latest(of: app) || alerts.map { $0 != known.alerts } ?? false
                } ?? true
            let time = read?.time ?? -1
            guard isNew || !(0..<Self.lifetime).contains(now - time) else { continue }
            let rank = first.contains(app) ? 0 : !isNew ? 3 : urgent.contains(app) ? 1 : 2
            due.append((app, (rank, time)))
        }
        return due.sorted { $0.order < $1.order }.prefix(Self.maximumReading).map(\.app)
    }
}

extension Ledger {
    /// The apps of which the audit says something that waits for people, as far as it alone can say so.
    fileprivate func urgentApps(at now: Int64) -> Set<AppName> {
        let alarms = alarmedAt.filter { !mayBeQuiet(since: $0.value, of: $0.key.app, at: now) }.keys.map(\.app)
        return Set(openChanges(at: now).map(\.proposal.app)).union(alarms).union(canaries.keys)
    }
}
