package import Logging
package import NIOCore
package import PinPublication
package import ServerHTTP
import ServiceLifecycle

/// The listener for apps: it serves challenge answers and published documents, all from memory.
package struct PublicListener: Service {
    private let listener: HTTPListener

    /// - Parameters:
    ///   - settings: the address and the limits.
    ///   - live: the published state.
    ///   - budget: limits the number of signatures.
    ///   - time: seconds since 1970; nil if the clock is not trusted, and then nothing is signed.
    ///   - counters: counts responses.
    ///   - health: returns the state of the server.
    ///   - reports: takes client reports; nil to take none.
    ///   - group: the event loops.
    ///   - logger: receives messages about start and stop.
    ///   - requests: receives a line for each request, at the level `debug`; nil for none.
    ///   - onListening: receives the address with the actual port.
    package init(
        _ settings: ListenerSettings, serving live: LiveSnapshot, budget: SigningBudget,
        time: @escaping @Sendable () -> Int64?, counters: ListenerCounters = ListenerCounters(),
        health: @escaping @Sendable () -> ServerHealth = { ServerHealth() }, reports: ReportInbox? = nil,
        on group: any EventLoopGroup, logger: Logger, requests: Logger? = nil,
        onListening: @escaping @Sendable (SocketAddress?) async -> Void = { _ in }
    ) {
        let instant: @Sendable () -> UInt64 = { NIODeadline.now().uptimeNanoseconds }
        let responder = PublicResponder(
            live: live, initialization: InitResponder(budget: budget, counters: counters), time: time,
            instant: instant, health: health, counters: counters,
            reports: reports.map { ReportResponder(intake: $0.intake, counters: $0.counters, instant: instant) })
        listener = HTTPListener(
            settings, on: group, logger: logger, answering: .immediate { responder.answer($0) },
            admitting: { responder.admission($0, from: $1) }, counters: counters,
            requests: requests.map { RequestLog(logger: $0, listener: "apps") },
            onListening: onListening)
    }

    /// Listens until the task is canceled or a shutdown is requested.
    package func run() async throws { try await listener.run() }
}
