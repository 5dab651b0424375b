public import Logging
public import NIOCore
import NIOHTTP1
public import ServiceLifecycle

/// The listener for people and their tools, apart from that of the apps. It shows what is counted; the calls that need a
/// token are not there yet.
public struct AdministrationListener: Service {
    private let listener: HTTPListener

    /// - Parameters:
    ///   - settings: where to listen. ``ListenerSettings`` refuses addresses beyond loopback without TLS; proxies count
    ///     as none here.
    ///   - live: what is published.
    ///   - counters: what the public listener counts.
    ///   - group: the threads.
    ///   - logger: for starting and stopping.
    ///   - onListening: gets the address, with the port that was free.
    /// - Throws: ``ServerError`` `invalidValue` for settings that rely on a proxy.
    public init(
        _ settings: ListenerSettings, serving live: LiveSnapshot, counters: ListenerCounters,
        on group: any EventLoopGroup, logger: Logger,
        onListening: @escaping @Sendable (SocketAddress?) async -> Void = { _ in }
    ) throws(ServerError) {
        guard settings.proxies == .none else {
            throw ServerError(
                .invalidValue, of: "admin-listen", expected: "loopback, or a certificate", found: "a proxy before it")
        }
        let responder = AdministrationResponder(live: live, counters: counters)
        listener = HTTPListener(
            settings, on: group, logger: logger, answering: .waiting { await responder.answer($0) },
            onListening: onListening)
    }

    /// Listens until the task is cancelled or asked to stop.
    public func run() async throws { try await listener.run() }
}
