import Logging
import ServiceLifecycle

/// Looks once an hour whether something has to be published soon, and when that time comes, so that people are told while
/// there is time to approve it, and no later than the command `status` says so. What is wrong with the database is what ``PublishingLoop`` says.
struct DeadlineWatch: Service {
    private let publisher: Publisher
    private let lease: ServiceLease?
    private let logger: Logger

    /// How soon it looks whether it is this machine's turn.
    private static let patience: Duration = .seconds(5)
    private static let pause: Duration = .seconds(3_600)
    /// How often it looks whether the time of an alert that is known has come.
    private static let step: Duration = .seconds(5)
    /// Between two apps: a judgment takes a processor, and rounds have to be signed meanwhile.
    private static let rest: Duration = .seconds(1)

    /// - Parameters:
    ///   - publisher: whose apps are watched.
    ///   - lease: the right to watch, of which several machines have it one at a time; nil for one machine.
    ///   - logger: for what has to be published soon.
    init(_ publisher: Publisher, lease: ServiceLease?, logger: Logger) {
        self.publisher = publisher
        self.lease = lease
        self.logger = logger
    }

    /// Watches until the task is canceled or asked to stop.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            var reminded: [AppName: PublishingDeadline] = [:]
            while !Task.isCancelled {
                guard lease.map({ $0.turn != nil }) ?? true else {
                    try? await Task.sleep(for: Self.patience)
                    continue
                }
                for app in publisher.catalog.apps where !Task.isCancelled {
                    await look(at: app)
                    try? await Task.sleep(for: Self.rest)
                }
                let end = ContinuousClock.now + Self.pause
                while !Task.isCancelled, ContinuousClock.now < end {
                    try? await Task.sleep(for: Self.step)
                    await lookAtPressing(&reminded)
                }
            }
        }
    }

    /// Looks at apps whose alert has come since they were judged last.
    /// - Parameter reminded: those for which that was done.
    private func lookAtPressing(_ reminded: inout [AppName: PublishingDeadline]) async {
        guard lease.map({ $0.turn != nil }) ?? true, let now = publisher.catalog.signingTime else { return }
        for app in publisher.catalog.apps {
            guard let standing = publisher.standings.latest(app), let deadline = standing.deadline,
                !standing.isPressing, deadline.isPressing(at: now), reminded[app] != deadline
            else { continue }
            reminded[app] = deadline
            await look(at: app)
        }
    }

    private func look(at app: AppName) async {
        guard publisher.catalog.clockProblem == nil, let standing = try? await publisher.standing(of: app),
            standing.isPressing, let words = try? await publisher.remind(of: app)
        else { return }
        logger.warning("alarm", metadata: ["app": "\(app)", "why": "\(words)"])
    }
}
