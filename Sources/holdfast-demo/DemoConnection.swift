import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTUF
import NIOCore
import NIOPosix
import NIOSSL

/// The outcome of one step of the demo.
struct DemoResult {
    let step: DemoStep
    let decision: TrustDecision
    /// The number of request bytes that the server decrypted, counted after the connection was closed.
    let bytesAtServer: Int
    /// The number of response bytes that reached the client's application.
    let bytesAnswered: Int
    /// Whether writing the request failed with the reason of the refusal.
    let writeFailedWithReason: Bool

    /// Whether the verdict and its reason are the expected ones, and the numbers of bytes agree with them.
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

/// Runs one step: starts a server on loopback, makes one connection to it, and checks the received bytes.
struct DemoConnection {
    static let request = "GET /balance HTTP/1.1\r\nHost: api.example.com\r\nAuthorization: Bearer s3cret\r\n\r\n"

    let stage: DemoStage
    let step: DemoStep
    /// The store, for steps whose policy uses one.
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
            // More bytes may arrive until the connection is closed.
            try await server.waitForDisconnection()
            return DemoResult(
                step: step, decision: decision, bytesAtServer: server.statistics.plaintextBytesReceived,
                bytesAnswered: try await exchange.received.get(),
                writeFailedWithReason: writeFailure.map { $0 as? TrustFailure == decision.failure } ?? false)
        }
    }
}

/// The client's side of one connection: TLS, Holdfast's gate, and an application that writes at once.
private struct Exchange: Sendable {
    let channel: any Channel
    let decision: EventLoopFuture<TrustDecision>
    let written: EventLoopFuture<Void>
    /// Succeeds when the server has returned all sent bytes; fails if the connection ends before that.
    let answered: EventLoopFuture<Void>
    /// The number of returned bytes, known after the connection is closed.
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

/// Writes its request as soon as there is a connection, long before the server has been evaluated.
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
        // After a success, these calls come too late and have no effect.
        written.fail(ChannelError.ioOnClosedChannel)
        answered.fail(ChannelError.ioOnClosedChannel)
        received.succeed(count)
    }
}
