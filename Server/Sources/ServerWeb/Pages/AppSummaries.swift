import PinChanges
import PinPublication
import ServerFoundation
import ServerStore
import Synchronization

/// The summaries of all apps for the overview. Each page reads a bounded number of apps again, those with urgent audit
/// entries first, and shows the others as last read.
final class AppSummaries: Sendable {
    private struct Known {
        let summary: AppSummary
        /// The alerts of the app when it was read.
        let alerts: [Publisher.StandingAlert]
        /// The latest audit entry of the app when it was read.
        let place: Int64
        /// The time of reading, in seconds since 1970.
        let time: Int64
    }

    /// The summaries of some apps.
    struct Found: Sendable {
        /// The summaries of the apps that were read, in the order of the apps.
        let summaries: [AppSummary]
        /// The number of apps not read yet, changed since they were read, or read more than 15 minutes ago.
        let outdated: Int
    }

    private let known = Mutex<[AppName: Known]>([:])
    /// The time of the last request for an overview.
    private let wanted = Mutex<ContinuousClock.Instant?>(nil)

    /// Maximum number of apps that one page reads.
    static let maximumReading = 64
    /// Seconds after which an app is read again without a new audit entry: observations are not in the audit.
    private static let lifetime: Int64 = 60
    /// Seconds after which a summary counts as outdated.
    private static let age: Int64 = 900

    /// How long after the last request summaries are kept up to date.
    private static let interest: Duration = .seconds(600)

    /// Records a request for an overview.
    func want(at now: ContinuousClock.Instant = .now) { wanted.withLock { $0 = now } }

    /// Whether an overview was requested recently.
    func isWanted(at now: ContinuousClock.Instant) -> Bool {
        wanted.withLock { $0 }.map { now - $0 < Self.interest } ?? false
    }

    /// Reads as many apps as one page may, and returns the known summaries of all apps.
    /// - Parameters:
    ///   - apps: the apps, sorted.
    ///   - first: the apps to read before others.
    ///   - publisher: the publisher, with the catalog and the current alerts.
    /// - Throws: ``ServerError`` if nothing can be read. A single unreadable app gets a summary that says so.
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
            // Entries written in the meantime are read the next time.
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

    /// The apps to read: those on the page, then those with new audit entries or alerts (urgent ones first), then the
    /// oldest.
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
    /// The apps with open changes, alerts or canaries, as far as the audit alone shows.
    fileprivate func urgentApps(at now: Int64) -> Set<AppName> {
        let alarms = alarmedAt.filter { !mayBeQuiet(since: $0.value, of: $0.key.app, at: now) }.keys.map(\.app)
        return Set(openChanges(at: now).map(\.proposal.app)).union(alarms).union(canaries.keys)
    }
}
