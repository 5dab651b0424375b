import HostMonitoring
import Logging
import PinPublication
import ServerStore
import ServiceLifecycle

/// Probes hosts with the documents of each canary, every five minutes like the watcher, so that a change which clients
/// refuse is held while only the canary has it.
struct CanaryWatch: Service {
    private let publisher: Publisher
    private let lease: ServiceLease?
    private let logger: Logger

    private static let pause: Duration = .seconds(WatchSchedule.usual.interval)
    /// How often it checks whether this machine has the lease.
    private static let patience: Duration = .seconds(5)

    /// - Parameters:
    ///   - publisher: the publisher, with the catalog.
    ///   - lease: the right to probe, which one of several machines holds at a time; nil for one machine.
    ///   - logger: receives the reasons that hold a canary, and the end of each hold.
    init(_ publisher: Publisher, lease: ServiceLease?, logger: Logger) {
        self.publisher = publisher
        self.lease = lease
        self.logger = logger
    }

    /// Runs until the task is canceled or a shutdown is requested.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            var troubles = RepeatedErrorLog(logger)
            // The probes query the listener, so wait until it answers.
            await publisher.listener.begins()
            while !Task.isCancelled {
                guard lease.map({ $0.turn != nil }) ?? true else {
                    try? await Task.sleep(for: Self.patience)
                    continue
                }
                await step(&troubles)
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    private func step(_ troubles: inout RepeatedErrorLog) async {
        // With a wrong clock, every certificate looks expired, or none does.
        guard publisher.catalog.clockProblem == nil else { return }
        let problems = await publisher.probeCanaries()
        guard !problems.isEmpty else { return troubles.end("following the canary") }
        troubles.note("following the canary", problems.prefix(4).joined(separator: "; "), at: .now)
    }
}
