import Foundation
import Logging
import ServiceLifecycle

/// Looks every second whether there is something to tell, and has each target told in a task of its own. It reads what the
/// server knows anyway, and nothing waits for it. Of many machines one tells; after another one has taken its place, a notice
/// that was on its way may come twice, with the same id.
struct NoticeService: Service {
    private let publisher: Publisher
    private let deliveries: [NoticeDelivery]
    private let lease: ServiceLease?

    private static let step: Duration = .seconds(1)
    /// After so many steps it looks although nothing was written: ends come nearer.
    private static let stepsBetweenLooks = 60

    /// - Parameters:
    ///   - publisher: what the server knows, and serves.
    ///   - settings: whom to tell.
    ///   - folder: the server's folder, where it is kept what each was told, unless several machines tell.
    ///   - lease: the right to tell, of which several machines have it one at a time; nil for one machine.
    ///   - counters: counts.
    ///   - logger: for what fails.
    init(
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

    /// Works until the task is canceled or asked to stop.
    func run() async throws {
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

    /// - Parameter known: which turn of this machine is known to have begun.
    /// - Returns: whether this machine tells.
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

    /// Looks once, and hands what is news to the targets.
    func look(_ finder: inout NoticeFinder) async {
        // The publishing loop says what is wrong with the database.
        try? await finder.readStalenesses(in: catalog)
        try? await finder.readApprovers(in: catalog)
        let now = catalog.signingTime
        try? await finder.readReports(in: catalog, at: now)
        await finder.readStandings(from: publisher, at: now)
        let notices = finder.notices(catalog.ledger, publisher.live.current, at: now)
        for delivery in deliveries { delivery.offer(notices) }
    }
}
