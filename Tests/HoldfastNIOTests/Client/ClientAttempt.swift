import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// One connection: it writes before there is a handshake, waits for an answer if it is trusted, and closes.
struct ClientAttempt {
    let decision: Result<TrustDecision, any Error>
    /// The error of the write before the handshake; nil if it was sent.
    let writeError: (any Error)?
    /// The errors that the application's handler saw, in order.
    let errors: [any Error]
    let received: String
    /// Whether the application's handler saw the handshake.
    let sawHandshake: Bool
    let negotiatedProtocol: String?
    let version: TLSVersion?
    let validatedChain: [[UInt8]]?

    var isTrusted: Bool { (try? decision.get())?.isTrusted ?? false }
    var failure: TrustFailure? { (try? decision.get())?.failure }
    var failures: [TrustFailure] { errors.compactMap { $0 as? TrustFailure } }

    static let greeting = "ping\n"

    static func make(
        _ client: PinnedTLSClient, at server: LoopbackTLSServer,
        setUp: @escaping @Sendable (any Channel) throws -> EventLoopFuture<TrustDecision>? = { _ in nil }
    ) async throws -> ClientAttempt {
        try await make(client, address: server.address, port: server.port, setUp: setUp)
    }

    /// `setUp` may add other handlers than the client's own and return their decision.
    static func make(
        _ client: PinnedTLSClient, address: String, port: Int,
        on group: any EventLoopGroup = .singletonMultiThreadedEventLoopGroup,
        setUp: @escaping @Sendable (any Channel) throws -> EventLoopFuture<TrustDecision>? = { _ in nil }
    ) async throws -> ClientAttempt {
        let log = ConnectionLog()
        let (channel, decision, written, answered) = try await ClientBootstrap(group: group)
            .connect(to: try SocketAddress(ipAddress: address, port: port)) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    let decision = try setUp(channel) ?? client.addHandlers(to: pipeline)
                    let answered = channel.eventLoop.makePromise(of: Void.self)
                    try pipeline.addHandler(ConnectionWitness(log: log, answered: answered))
                    let written = channel.writeAndFlush(ByteBuffer(string: greeting))
                    return (channel, decision, written, answered.futureResult)
                }
            }
        let result = await decision.result
        let writeResult = await written.result
        var version: TLSVersion?
        var chain: [[UInt8]]?
        if case .success = writeResult {
            try await answered.inTime()
            version = try await channel.nioSSL_tlsVersion().inTime()
            chain = try await channel.nioSSL_peerValidatedCertificateChain().inTime()?.map { try $0.toDERBytes() }
            // The peer may have closed already.
            try? await channel.close().inTime()
        }
        try await channel.closeFuture.inTime()
        let seen = log.values
        return ClientAttempt(
            decision: result, writeError: writeResult.error, errors: seen.errors, received: seen.received,
            sawHandshake: seen.sawHandshake, negotiatedProtocol: seen.negotiatedProtocol, version: version,
            validatedChain: chain)
    }
}

extension Result {
    var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

/// The events that the application's handler of one connection saw.
final class ConnectionLog: Sendable {
    struct Values {
        var errors: [any Error] = []
        var received = ""
        var sawHandshake = false
        var negotiatedProtocol: String?
    }

    private let state = Lock(Values())
    var values: Values { state.withLock { $0 } }
    func change(_ body: (inout Values) -> Void) { state.withLock { body(&$0) } }
}

/// The application's handler: keeps account, and closes on errors as applications do.
private final class ConnectionWitness: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let log: ConnectionLog
    private let answered: EventLoopPromise<Void>

    init(log: ConnectionLog, answered: EventLoopPromise<Void>) {
        self.log = log
        self.answered = answered
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let name)? = event as? TLSUserEvent {
            log.change { ($0.sawHandshake, $0.negotiatedProtocol) = (true, name) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let text = String(buffer: unwrapInboundIn(data))
        log.change { $0.received += text }
        answered.succeed()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        log.change { $0.errors.append(error) }
        answered.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        answered.fail(ChannelError.eof)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        // Of a channel that never became active.
        answered.fail(ChannelError.eof)
    }
}
