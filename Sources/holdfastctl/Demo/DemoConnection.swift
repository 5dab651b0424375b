import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTUF
import NIOCore
import NIOPosix
import NIOSSL

/// What came of one step of the demo.
struct DemoResult {
    let step: DemoStep
    let decision: TrustDecision
    /// Bytes of the request that the server decrypted, counted once the connection was gone.
    let bytesAtServer: Int
    /// Bytes of the answer that the client's application got to see.
    let bytesAnswered: Int
    /// Whether the write of the request failed with the reason of the refusal.
    let writeFailedWithReason: Bool

    /// The verdict is the one that was due, for the reason that was due, and the bytes agree with it.
    var isAsExpected: Bool {
        let request = DemoConnection.request.utf8.count
        switch (step.expected, decision.failure) {
        case (.accepted, nil):
            return bytesAtServer == request && bytesAnswered == request
        case (.refused(let code), let failure?):
            return failure.code == code && bytesAtServer == 0 && bytesAnswered == 0 && writeFailedWithReason
        default:
            return false
        }
    }
}

/// Runs one step: a server of its own on loopback, one connection to it, and a look at what arrived.
struct DemoConnection {
    static let request = "GET /balance HTTP/1.1\r\nHost: api.example.com\r\nAuthorization: Bearer s3cret\r\n\r\n"

    let stage: DemoStage
    let step: DemoStep
    /// For steps that are judged by one.
    var store: CertStore?
    var trustServer: TrustServerStore?
    var repository: PinRepository?

    func run() async throws -> DemoResult {
        let client = try PinnedTLSClient(
            trust: .policy(
                try stage.policy(step.policy, store: store, trustServer: trustServer, repository: repository)),
            host: stage.host,
            validator: PathValidator(
                anchors: stage.anchors, revocation: step.policy == .revocation ? stage.lists : .none,
                transparency: step.policy == .transparency ? .required(stage.logs) : .none),
            handshakeTimeout: .seconds(10), clock: stage.clock)
        let options = LoopbackTLSServer.Options(
            behavior: .echo, oldestTLSVersion: step.version, newestTLSVersion: step.version)
        return try await withLoopbackTLSServer(chain: step.chain, key: step.key, options: options) { server in
            let address = try SocketAddress(ipAddress: server.address, port: server.port)
            let exchange = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(to: address) { channel in
                    channel.eventLoop.submit { try Exchange.begin(on: channel, with: client) }
                }
            let decision = try await exchange.decision.get()
            let writeFailure = await exchange.writeFailure()
            if decision.isTrusted { try await exchange.answered.get() }
            try? await exchange.channel.close().get()
            // Only when the connection is gone can nothing more arrive.
            try await server.waitForDisconnection()
            return DemoResult(
                step: step, decision: decision, bytesAtServer: server.statistics.plaintextBytesReceived,
                bytesAnswered: try await exchange.received.get(),
                writeFailedWithReason: writeFailure.map { $0 as? TrustFailure == decision.failure } ?? false)
        }
    }
}

/// The client's side of one connection: TLS, Holdfast's gate, and an application that cannot wait.
private struct Exchange: Sendable {
    let channel: any Channel
    let decision: EventLoopFuture<TrustDecision>
    let written: EventLoopFuture<Void>
    /// Succeeds when as much came back as was sent; fails when the connection ends before.
    let answered: EventLoopFuture<Void>
    /// Bytes that came back, once the connection is gone.
    let received: EventLoopFuture<Int>

    static func begin(on channel: any Channel, with client: PinnedTLSClient) throws -> Exchange {
        let loop = channel.eventLoop
        let decision = try client.addHandlers(to: channel.pipeline.syncOperations)
        let application = Application(
            written: loop.makePromise(), answered: loop.makePromise(), received: loop.makePromise())
        try channel.pipeline.syncOperations.addHandler(application)
        return Exchange(
            channel: channel, decision: decision, written: application.written.futureResult,
            answered: application.answered.futureResult, received: application.received.futureResult)
    }

    func writeFailure() async -> (any Error)? {
        do {
            try await written.get()
            return nil
        } catch {
            return error
        }
    }
}

/// Writes its request as soon as there is a connection, long before anybody has judged the server.
private final class Application: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let written: EventLoopPromise<Void>
    let answered: EventLoopPromise<Void>
    let received: EventLoopPromise<Int>
    private var count = 0

    init(written: EventLoopPromise<Void>, answered: EventLoopPromise<Void>, received: EventLoopPromise<Int>) {
        self.written = written
        self.answered = answered
        self.received = received
    }

    func channelActive(context: ChannelHandlerContext) {
        let buffer = context.channel.allocator.buffer(string: DemoConnection.request)
        context.writeAndFlush(wrapOutboundOut(buffer), promise: written)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        count += unwrapInboundIn(data).readableBytes
        if count >= DemoConnection.request.utf8.count { answered.succeed() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        // Each of these is too late, and then without effect, where things went well.
        written.fail(ChannelError.ioOnClosedChannel)
        answered.fail(ChannelError.ioOnClosedChannel)
        received.succeed(count)
    }
}
