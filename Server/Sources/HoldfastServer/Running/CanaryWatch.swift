import Logging
import ServiceLifecycle

/// Has clients look with the documents of each canary, every five minutes as the watcher looks at hosts, so that a change
/// which they refuse is held while only the canary has it.
struct CanaryWatch: Service {
    private let publisher: Publisher
    private let lease: ServiceLease?
    private let logger: Logger

    private static let pause: Duration = .seconds(WatchSchedule.usual.interval)
    /// How soon it looks whether it is this machine's turn.
    private static let patience: Duration = .seconds(5)

    /// - Parameters:
    ///   - publisher: what it works with.
    ///   - lease: the right to look, of which several machines have it one at a time; nil for one machine.
    ///   - logger: for what holds a canary, and for when that is over.
    init(_ publisher: Publisher, lease: ServiceLease?, logger: Logger) {
        self.publisher = publisher
        self.lease = lease
        self.logger = logger
    }

    /// Looks until the task is canceled or asked to stop.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            var troubles = RepeatedErrorLog(logger)
            // Apps ask a listener, so nobody looks before it answers.
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
        // By a wrong clock every certificate is expired, or none.
        guard publisher.catalog.clockProblem == nil else { return }
        let problems = await publisher.probeCanaries()
        guard !problems.isEmpty else { return troubles.end("following the canary") }
        troubles.note("following the canary", problems.prefix(4).joined(separator: "; "), at: .now)
    }
}
