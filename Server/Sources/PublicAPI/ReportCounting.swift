import HostMonitoring
import NIOCore
package import ServerFoundation
package import ServerStore
import Synchronization

/// Reads the queued reports, counts them in memory, and writes the counts to the database.
package final class ReportCounting: Sendable {
    private let inbox: ReportInbox
    private let catalog: Catalog
    private let tally: Mutex<ReportTally>
    private let votes = Mutex(CanaryVotes())

    /// - Parameter generator: selects samples.
    package init(
        _ inbox: ReportInbox, in catalog: Catalog,
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.inbox = inbox
        self.catalog = catalog
        tally = Mutex(ReportTally(generator: generator))
    }

    /// The numbers of rows and samples that are not written yet.
    package var waiting: (rows: Int, samples: Int) { tally.withLock { ($0.rowCount, $0.sampleCount) } }

    /// Loads the counts that were already written today.
    /// - Throws: ``ServerError`` of the database.
    package func remember() async throws(ServerError) {
        let now = try await catalog.now()
        let midnight = now / 86_400 * 86_400
        for app in catalog.apps {
            let counts = try await catalog.reportCounts(
                of: app, sinceHour: midnight / 3_600, limit: Int64(ReportTally.maximumKindsOfApp) * 24)
            let samples = try await catalog.reportSamples(
                of: app, since: midnight, limit: Int64(ReportSampler.maximumOfApp))
            tally.withLock { $0.remember(counts, samples, at: now) }
        }
    }

    /// Counts the reports of one body.
    /// - Returns: false if the queue is empty.
    package func countNext() -> Bool {
        guard let item = inbox.intake.next() else { return false }
        // Without a trusted time, the hour of the report is unknown.
        guard let now = catalog.signingTime else { return true }
        let reports: [ClientReport]
        do throws(ServerError) {
            reports = try ReportReader.read(Array(item.body.readableBytesView))
        } catch {
            inbox.counters.count(.malformed)
            return true
        }
        if reports.isEmpty { inbox.counters.count(.ignored) }
        let hosts = inbox.intake.hosts(of: item.app)
        var told = reports.map { (report: $0, host: hosts.label(of: $0)) }
        if item.audience == .canary {
            told = votes.withLock { $0.count(told, of: item.app, hosts.canary, from: item.voter, at: now) }
        }
        for (report, host) in told {
            tally.withLock { $0.add(report, of: item.app, item.audience, on: host, from: item.source, at: now) }
            inbox.counters.count(host == nil ? .unlisted : .counted)
        }
        return true
    }

    /// Writes the counts. If that fails, they are kept for the next attempt.
    /// - Throws: ``ServerError`` of the database.
    package func write() async throws(ServerError) {
        let waiting = tally.withLock { $0.takeAll() }
        guard !waiting.isEmpty else { return }
        do throws(ServerError) {
            try await catalog.add(waiting)
        } catch {
            tally.withLock { $0.giveBack(waiting) }
            throw error
        }
    }
}
