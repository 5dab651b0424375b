import Logging
import PinPublication
import ServerFoundation
import ServerStore
import ServiceLifecycle

/// Checks once per hour, and when a known alert is due, whether an app needs a publication soon, so that people are
/// notified while there is time for approval, and no later than by the command `status`. ``PublishingLoop`` reports
/// database errors.
struct DeadlineWatch: Service {
    private let publisher: Publisher
    private let lease: ServiceLease?
    private let logger: Logger

    /// How often it checks whether this machine has the lease.
    private static let patience: Duration = .seconds(5)
    private static let pause: Duration = .seconds(3_600)
    /// How often it checks whether a known alert is due.
    private static let step: Duration = .seconds(5)
    /// The pause between two apps: an evaluation uses a processor, and rounds must be signed in the meantime.
    private static let rest: Duration = .seconds(1)

    /// - Parameters:
    ///   - publisher: the publisher whose apps are watched.
    ///   - lease: the right to watch, which one of several machines holds at a time; nil for one machine.
    ///   - logger: receives the publications that are needed soon.
    init(_ publisher: Publisher, lease: ServiceLease?, logger: Logger) {
        self.publisher = publisher
        self.lease = lease
        self.logger = logger
    }

    /// Runs until the task is canceled or a shutdown is requested.
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

    /// Evaluates apps again whose alert has become due since their last evaluation.
    /// - Parameter reminded: the deadlines for which that was done.
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
        logger.warning("alert", metadata: ["app": "\(app)", "why": "\(words)"])
    }
}
