public import Logging
public import NIOCore
import NIOHTTP1
public import ServiceLifecycle

/// The listener for people and their tools, apart from that of the apps: `/v1/…` for those who have a token, `/health/…`
/// and `/openapi.yaml` for everyone who reaches it, and `/metrics` as long as only this machine does. No token approves
/// anything.
public struct AdministrationListener: Service {
    private let listener: HTTPListener

    /// - Parameters:
    ///   - settings: where to listen: on loopback, or with TLS of its own, also where a proxy stands before it. Rates are
    ///     for the addresses that a proxy forwards. The usual limits become ``ListenerLimits/administration``.
    ///   - publisher: everything that the server knows and does.
    ///   - counters: what the public listener counts.
    ///   - health: how the server is.
    ///   - group: the threads.
    ///   - logger: for starting and stopping.
    ///   - requests: gets a line for each request, at the level `info` for what somebody with a token changed, else
    ///     `debug`; nil for none.
    ///   - notices: counts whom the server told what.
    ///   - reports: what clients report.
    ///   - onListening: gets the address, with the port that was free.
    /// - Throws: ``ServerError`` `invalidValue` for settings that rely on a proxy to speak TLS.
    public init(
        _ settings: ListenerSettings, for publisher: Publisher, counters: ListenerCounters,
        health: @escaping @Sendable () -> ServerHealth = { ServerHealth() }, on group: any EventLoopGroup,
        logger: Logger, requests: Logger? = nil, notices: NoticeCounters = NoticeCounters(),
        reports: ReportInbox = ReportInbox(),
        onListening: @escaping @Sendable (SocketAddress?) async -> Void = { _ in }
    ) throws(ServerError) {
        try self.init(
            settings, for: publisher, counters: counters, beside: [], health: health, on: group, logger: logger,
            requests: requests, notices: notices, reports: reports, onListening: onListening)
    }

    /// The same with others beside it, who are asked first.
    init(
        _ settings: ListenerSettings, for publisher: Publisher, counters: ListenerCounters,
        beside others: [AddressResponder], health: @escaping @Sendable () -> ServerHealth,
        on group: any EventLoopGroup, logger: Logger, requests: Logger?, notices: NoticeCounters, reports: ReportInbox,
        onListening: @escaping @Sendable (SocketAddress?) async -> Void
    ) throws(ServerError) {
        guard settings.isPrivate else {
            throw ServerError(
                .invalidValue, of: "admin-listen", expected: "loopback, or a certificate", found: "a proxy before it")
        }
        let responder = AdministrationResponder(
            publisher: publisher, counters: counters, notices: notices, reports: reports, health: health,
            hidesMetrics: settings.isReachable, others: others)
        var settings = settings
        if settings.limits == ListenerLimits() { settings.limits = .administration }
        settings.namesRequests = true
        listener = HTTPListener(
            settings, on: group, logger: logger, answering: .waiting { await responder.answer($0) },
            refusing: AdministrationError.refusal,
            requests: requests.map { RequestLog(logger: $0, listener: "administration") }, onListening: onListening)
    }

    /// Listens until the task is canceled or asked to stop.
    public func run() async throws { try await listener.run() }
}
