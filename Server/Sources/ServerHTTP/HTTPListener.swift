import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTP1
import NIOSSL
import ServerFoundation
import ServiceLifecycle

/// A server for HTTP/1.1. On shutdown it closes idle connections at once, finishes responses in progress, and stops
/// within ten seconds.
package struct HTTPListener: Service {
    private let service: any Service
    private let place: String

    /// - Parameters:
    ///   - settings: the address and the limits.
    ///   - group: the event loops.
    ///   - logger: receives Hummingbird's messages about start and stop.
    ///   - responder: answers requests.
    ///   - admission: decides about bodies from the heads of their requests; nil if only the limits apply.
    ///   - refusal: makes the response to a request that does not reach the responder.
    ///   - counters: counts connections.
    ///   - requests: writes a line for each request; nil to write none.
    ///   - onListening: receives the address with the actual port.
    package init(
        _ settings: ListenerSettings, on group: any EventLoopGroup, logger: Logger,
        answering responder: ListenerResponder, admitting admission: ListenerAdmission? = nil,
        refusing refusal: @escaping ListenerRefusal = ErrorBody.refusal,
        counters: ListenerCounters = ListenerCounters(), requests: RequestLog? = nil,
        onListening: @escaping @Sendable (SocketAddress?) async -> Void
    ) {
        let table = ConnectionTable(settings.limits, speaksTLS: settings.identity != nil, counters)
        place =
            settings.host.utf8.contains(UInt8(ascii: ":"))
            ? "[\(settings.host)]:\(settings.port)" : "\(settings.host):\(settings.port)"
        service = ListenerChannel(
            responder: responder, admission: admission, refusal: refusal, settings: settings, table: table,
            requests: requests
        ).server(
            configuration: ServerConfiguration(address: .hostname(settings.host, port: settings.port), backlog: 1_024),
            onServerRunning: { await onListening($0.localAddress) }, eventLoopGroup: group, logger: logger)
    }

    /// Listens until the task is canceled or a shutdown is requested.
    /// - Throws: ``ServerError`` `invalidValue` if it cannot listen there.
    package func run() async throws {
        do {
            try await service.run()
        } catch let error as IOError {
            throw ServerError(
                .invalidValue, of: place, expected: "an address of this machine that is free",
                found: SystemText.of(error.errnoCode),
                remedy: "Stop the program that listens there, or choose another address or port.")
        }
    }
}

/// Sets up connections.
private struct ListenerChannel: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let channel: any Channel
    }

    let responder: ListenerResponder
    let admission: ListenerAdmission?
    let refusal: ListenerRefusal
    let settings: ListenerSettings
    let table: ConnectionTable
    let requests: RequestLog?
    let lanes = ReportLanes()

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            var limits = NIOHTTPDecoderLimitConfiguration()
            limits.maxHeaderFieldSize = settings.limits.headerBytes
            limits.maxHeaderListSize = settings.limits.headerBytes
            limits.maxHeaderFieldCount = settings.limits.headerFields
            try channel.syncOptions?.setOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: settings.limits.bytesAtOnce))
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
            if let identity = settings.identity {
                try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: identity.context))
            }
            let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: limits)
            try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(decoder))
            try channel.pipeline.syncOperations.addHandler(
                HTTPConnection(
                    responder, admitting: admission, refusal, settings, table, requests,
                    lanes.lane(of: channel.eventLoop)))
            return Value(channel: channel)
        }
    }

    func handle(value: Value, logger: Logger) async {
        await withTaskCancellationHandler {
            // Errors of a single connection are not reported.
            try? await value.channel.closeFuture.get()
        } onCancel: {
            value.channel.close(promise: nil)
        }
    }
}
