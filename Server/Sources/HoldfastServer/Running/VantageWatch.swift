import Logging
import ServiceLifecycle

/// Looks every five minutes whether a vantage that an app needs has gone silent, so that people hear of it before a change
/// waits for it.
struct VantageWatch: Service {
    private let catalog: Catalog
    private let logger: Logger

    private static let pause: Duration = .seconds(WatchSchedule.usual.interval)
    /// After a stop everybody has been silent: whoever is there has looked by then.
    private static let patience: Duration = .seconds(3 * WatchSchedule.usual.interval)

    /// Watches the vantages of a catalog.
    init(_ catalog: Catalog, logger: Logger) {
        self.catalog = catalog
        self.logger = logger
    }

    /// Watches until the task is canceled or asked to stop.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            try? await Task.sleep(for: Self.patience)
            while !Task.isCancelled {
                for app in catalog.apps where !Task.isCancelled { await look(at: app) }
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    private func look(at app: AppName) async {
        // What is wrong with the database is what ``PublishingLoop`` says.
        guard catalog.clockProblem == nil, let all = try? await catalog.noteSilentVantages(of: app) else { return }
        for words in all { logger.warning("alarm", metadata: ["app": "\(app)", "why": "\(words)"]) }
    }
}
