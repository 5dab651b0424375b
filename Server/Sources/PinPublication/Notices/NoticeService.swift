package import Foundation
package import Logging
import ServerFoundation
import ServerModel
package import ServerStore
import ServiceLifecycle

/// Checks every second whether there are new notices, and delivers to each target in a separate task. It uses existing
/// state, and nothing waits for it. Of several machines, one delivers. When another one takes over, a notice may be
/// sent twice, with the same id.
package struct NoticeService: Service {
    private let publisher: Publisher
    private let deliveries: [NoticeDelivery]
    private let lease: ServiceLease?

    private static let step: Duration = .seconds(1)
    /// The number of steps after which it checks without a new audit entry, because ends come nearer.
    private static let stepsBetweenLooks = 60

    /// - Parameters:
    ///   - publisher: the publisher, with the catalog and the published state.
    ///   - settings: the targets.
    ///   - folder: the server's folder, where the sent ids are stored for a single machine.
    ///   - lease: the right to deliver, which one of several machines holds at a time; nil for one machine.
    ///   - counters: counts deliveries.
    ///   - logger: receives failures.
    package init(
        _ publisher: Publisher, _ settings: NoticeSettings, folder: URL, lease: ServiceLease?,
        counters: NoticeCounters, logger: Logger
    ) {
        self.publisher = publisher
        let catalog = publisher.catalog
        self.lease = lease
        deliveries = settings.targets.map { target in
            let memory: any NoticeMemory =
                if lease == nil {
                    NoticeFile(url: folder.appending(path: "notices-\(target.name)"))
                } else {
                    NoticeTable(catalog.engine, target: target.name)
                }
            return NoticeDelivery(
                to: target, remembering: memory, while: { lease.map { $0.turn != nil } ?? true }, counters: counters,
                logger: logger)
        }
    }

    private var catalog: Catalog { publisher.catalog }

    /// Runs until the task is canceled or a shutdown is requested.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                for delivery in deliveries { group.addTask { await delivery.run() } }
                group.addTask { await look() }
                await group.waitForAll()
            }
        }
    }

    private func look() async {
        var finder = NoticeFinder(catalog.server)
        var (seen, steps): (AuditHead?, Int) = (nil, 0)
        var turn: Int?
        while !Task.isCancelled {
            guard await begin(&turn) else {
                seen = nil
                try? await Task.sleep(for: Self.step)
                continue
            }
            let head = catalog.ledger.chain.head
            if head != seen || steps >= Self.stepsBetweenLooks {
                await look(&finder)
                (seen, steps) = (head, 0)
            }
            steps += 1
            try? await Task.sleep(for: Self.step)
        }
    }

    /// - Parameter known: the last turn of this machine that has begun.
    /// - Returns: whether this machine delivers.
    private func begin(_ known: inout Int?) async -> Bool {
        let turn: Int? = if let lease { lease.turn } else { 0 }
        guard turn != known else { return turn != nil }
        guard let turn else {
            for delivery in deliveries { delivery.rest() }
            known = nil
            return false
        }
        do throws(ServerError) {
            for delivery in deliveries { try await delivery.begin() }
        } catch {
            return false
        }
        known = turn
        return true
    }

    /// Checks once, and passes the current notices to the targets.
    package func look(_ finder: inout NoticeFinder) async {
        // The publishing loop reports database errors.
        try? await finder.readStalenesses(in: catalog)
        try? await finder.readApprovers(in: catalog)
        let now = catalog.signingTime
        try? await finder.readReports(in: catalog, at: now)
        await finder.readStandings(from: publisher, at: now)
        let notices = finder.notices(catalog.ledger, publisher.live.current, at: now)
        for delivery in deliveries { delivery.offer(notices) }
    }
}
