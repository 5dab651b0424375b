import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL
import ServiceLifecycle

/// A server for HTTP/1.1. It stops within ten seconds when it is asked to: idle connections end at once, answers that are
/// under way are finished.
struct HTTPListener: Service {
    private let service: any Service
    private let place: String

    /// - Parameters:
    ///   - settings: where to listen, and what clients get.
    ///   - group: the threads.
    ///   - logger: for what Hummingbird says about starting and stopping.
    ///   - responder: answers.
    ///   - admission: decides about bodies by the heads of their requests; nil where the limits do.
    ///   - refusal: what a request gets that no responder sees.
    ///   - counters: counts connections.
    ///   - requests: writes a line for each request; nil for none.
    ///   - onListening: gets the address, with the port that was free.
    init(
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

    /// Listens until the task is canceled or asked to stop.
    /// - Throws: ``ServerError`` `invalidValue` if it cannot listen there.
    func run() async throws {
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

/// How connections are set up.
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
            // How a connection ended is its own business.
            try? await value.channel.closeFuture.get()
        } onCancel: {
            value.channel.close(promise: nil)
        }
    }
}
