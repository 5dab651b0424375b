public import Foundation
public import Logging
public import ServiceLifecycle

/// Looks every second whether there is something to tell, and has each target told in a task of its own. It reads what the
/// server knows anyway, and nothing waits for it.
public struct NoticeService: Service {
    private let catalog: Catalog
    private let live: LiveSnapshot
    private let deliveries: [NoticeDelivery]

    private static let step: Duration = .seconds(1)
    /// After so many steps it looks although nothing was written: ends come nearer.
    private static let stepsBetweenLooks = 60

    /// - Parameters:
    ///   - catalog: what the server knows.
    ///   - live: what it serves.
    ///   - settings: whom to tell.
    ///   - folder: the server's folder, where it is kept what each was told.
    ///   - counters: counts.
    ///   - logger: for what fails.
    public init(
        _ catalog: Catalog, _ live: LiveSnapshot, _ settings: NoticeSettings, folder: URL, counters: NoticeCounters,
        logger: Logger
    ) {
        self.init(
            catalog, live,
            settings.targets.map { target in
                NoticeDelivery(
                    to: target, remembering: folder.appending(path: "notices-\(target.name)"), counters: counters,
                    logger: logger)
            })
    }

    init(_ catalog: Catalog, _ live: LiveSnapshot, _ deliveries: [NoticeDelivery]) {
        self.catalog = catalog
        self.live = live
        self.deliveries = deliveries
    }

    /// Works until the task is canceled or asked to stop.
    public func run() async throws {
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
        while !Task.isCancelled {
            let head = catalog.ledger.chain.head
            if head != seen || steps >= Self.stepsBetweenLooks {
                await look(&finder)
                (seen, steps) = (head, 0)
            }
            steps += 1
            try? await Task.sleep(for: Self.step)
        }
    }

    /// Looks once, and hands what is news to the targets.
    func look(_ finder: inout NoticeFinder) async {
        // The publishing loop says what is wrong with the database.
        try? await finder.readStalenesses(in: catalog)
        try? await finder.readApprovers(in: catalog)
        let now = catalog.signingTime
        try? await finder.readReports(in: catalog, at: now)
        let notices = finder.notices(catalog.ledger, live.current, at: now)
        for delivery in deliveries { delivery.offer(notices) }
    }
}
