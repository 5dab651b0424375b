import Synchronization

/// What the overview knows of each app. A page reads a bounded number of apps anew, first those whose audit says something
/// new, and shows the others as they were read last.
final class AppSummaries: Sendable {
    private struct Known {
        let summary: AppSummary
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

    /// How many apps a page reads.
    static let greatestReading = 64
    /// What no audit says, such as what hosts show, is read again after so many seconds.
    private static let lifetime: Int64 = 60
    /// From then on it is said that it is old.
    private static let age: Int64 = 900

    /// Reads as many apps as a page may, and says what is known of all.
    /// - Parameters:
    ///   - apps: the apps, sorted.
    ///   - first: those that are read before others.
    ///   - catalog: where they are.
    /// - Throws: ``ServerError`` if nothing can be read. An app that cannot be is named by its summary.
    func found(
        _ apps: [AppName], first: some Sequence<AppName>, in catalog: Catalog
    ) async throws(ServerError) -> Found {
        let chain = try await catalog.approvers()
        let now = try await catalog.now()
        let ledger = catalog.ledger
        let wanted = due(apps, first: Set(first), ledger, at: now)
        let told = AppSummary.Told.all(Set(wanted), ledger, at: now)
        for app in wanted {
            let summary: AppSummary
            do throws(ServerError) {
                summary = try await AppSummary(
                    of: app, told[app] ?? AppSummary.Told(), approvers: chain, in: catalog)
            } catch {
                guard error.code == .brokenChain || error.code == .damagedDatabase else { throw error }
                summary = AppSummary(unreadable: app, because: error)
            }
            // What was written meanwhile is read the next time.
            let read = Known(summary: summary, place: ledger.touches.latest(of: app), time: now)
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

    /// The apps to read: those that the page needs, then those of which the audit says something new, then the oldest.
    private func due(_ apps: [AppName], first: Set<AppName>, _ ledger: Ledger, at now: Int64) -> [AppName] {
        let known = known.withLock { $0 }
        var due: [(app: AppName, order: (Int, Int64))] = []
        for app in apps {
            guard let read = known[app] else {
                due.append((app, (first.contains(app) ? 0 : 1, -1)))
                continue
            }
            let isNew = read.place != ledger.touches.latest(of: app)
            guard isNew || !(0..<Self.lifetime).contains(now - read.time) else { continue }
            due.append((app, (first.contains(app) ? 0 : isNew ? 1 : 2, read.time)))
        }
        return due.sorted { $0.order < $1.order }.prefix(Self.greatestReading).map(\.app)
    }
}
