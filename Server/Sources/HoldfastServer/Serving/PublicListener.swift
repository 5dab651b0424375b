public import Logging
public import NIOCore
public import ServiceLifecycle

/// The listener that apps talk to: challenge answers and published documents, all from memory.
public struct PublicListener: Service {
    private let listener: HTTPListener

    /// - Parameters:
    ///   - settings: where to listen, and what clients get.
    ///   - live: what is published.
    ///   - budget: what may be signed.
    ///   - time: seconds since 1970; nil if the clock is not to be trusted, when nothing is signed.
    ///   - counters: counts what is answered.
    ///   - health: how the server is.
    ///   - reports: takes what clients report; nil to take nothing.
    ///   - group: the threads.
    ///   - logger: for starting and stopping.
    ///   - requests: gets a line for each request, at the level `debug`; nil for none.
    ///   - onListening: gets the address, with the port that was free.
    public init(
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

    /// Listens until the task is canceled or asked to stop.
    public func run() async throws { try await listener.run() }
}
