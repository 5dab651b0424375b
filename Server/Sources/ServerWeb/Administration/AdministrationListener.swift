package import Logging
package import NIOCore
import NIOHTTP1
package import PinPublication
package import PublicAPI
package import ServerFoundation
package import ServerHTTP
import ServiceLifecycle

/// The listener for administrators and their tools, separate from the apps' listener. `/v1/…` requires a token.
/// `/health/…` and `/openapi.yaml` require none, nor does `/metrics` while only this machine reaches the listener. No
/// token can approve anything.
package struct AdministrationListener: Service {
    private let listener: HTTPListener

    /// - Parameters:
    ///   - settings: the address: on loopback, or with its own TLS even behind a proxy. Rates apply to the addresses
    ///     that the proxy forwards. The default limits become ``ListenerLimits/administration``.
    ///   - publisher: the publisher, with the catalog.
    ///   - counters: the counters of the public listener.
    ///   - health: returns the state of the server.
    ///   - group: the event loops.
    ///   - logger: receives messages about start and stop.
    ///   - requests: receives a line for each request, at the level `info` for changes with a token, else `debug`; nil
    ///     for none.
    ///   - notices: the counters of sent notices.
    ///   - reports: the client reports.
    ///   - onListening: receives the address with the actual port.
    /// - Throws: ``ServerError`` `invalidValue` for settings that rely on a proxy for TLS.
    package init(
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

    /// Creates a listener with additional responders, which take precedence.
    package init(
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

    /// Listens until the task is canceled or a shutdown is requested.
    package func run() async throws { try await listener.run() }
}
