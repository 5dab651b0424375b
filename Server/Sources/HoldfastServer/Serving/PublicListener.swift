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
    ///   - readiness: why the server is not ready, in sentences; empty if it is.
    ///   - group: the threads.
    ///   - logger: for starting and stopping.
    ///   - requests: gets a line for each request, at the level `debug`; nil for none.
    ///   - onListening: gets the address, with the port that was free.
    public init(
        _ settings: ListenerSettings, serving live: LiveSnapshot, budget: SigningBudget,
        time: @escaping @Sendable () -> Int64?, counters: ListenerCounters = ListenerCounters(),
        readiness: @escaping @Sendable () -> [String] = { [] },
        on group: any EventLoopGroup, logger: Logger, requests: Logger? = nil,
        onListening: @escaping @Sendable (SocketAddress?) async -> Void = { _ in }
    ) {
        let responder = PublicResponder(
            live: live, initialization: InitResponder(budget: budget, counters: counters), time: time,
            instant: { NIODeadline.now().uptimeNanoseconds }, readiness: readiness,
            counters: counters)
        listener = HTTPListener(
            settings, on: group, logger: logger, answering: .immediate { responder.answer($0) },
            counters: counters, requests: requests.map { RequestLog(logger: $0, listener: "apps") },
            onListening: onListening)
    }

    /// Listens until the task is canceled or asked to stop.
    public func run() async throws { try await listener.run() }
}
