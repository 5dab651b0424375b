import Holdfast
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

@testable import HoldfastNIO

/// One connection as the application of a server saw it.
struct ConnectionReport: Sendable {
    var decision: Result<TrustDecision, any Error>?
    /// The identity that the application got at its setup; nil if it was never set up.
    var client: ClientIdentity?
    /// The result of `Channel.clientIdentity()`.
    var askedClient: Result<ClientIdentity, any Error>?
    var received = ""
    var errors: [any Error] = []
    var sawHandshake = false
    var validatedChain: [[UInt8]]?

    var failure: TrustFailure? { (try? decision?.get())?.failure }
}

/// Listens on a port of its own. The application answers a line with `got ` and the line, and closes after one
/// that says goodbye.
final class MutualServer: Sendable {
    let port: Int
    let address = "127.0.0.1"
    private let listener: any Channel
    private let reports: AsyncStream<ConnectionReport>

    private init(port: Int, listener: any Channel, reports: AsyncStream<ConnectionReport>) {
        self.port = port
        self.listener = listener
        self.reports = reports
    }

    struct NoReport: Error {}

    /// The next connection that has ended. Fails when the time limit of the test is reached, which ends the stream.
    func report() async throws -> ConnectionReport {
        for await report in reports { return report }
        throw NoReport()
    }

    /// - Parameter greeting: what the application writes at once, before there is a decision.
    static func with<Output>(
        _ server: PinnedTLSServer, greeting: String? = nil, whenTrusted: @escaping @Sendable () throws -> Void = {},
        _ body: (MutualServer) async throws -> Output
    ) async throws -> Output {
        let (reports, continuation) = AsyncStream.makeStream(of: ConnectionReport.self)
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                let log = Lock(ConnectionReport())
                let journal = Journal { change in log.withLock { change(&$0) } }
                return server.configure(channel) { channel, client in
                    journal.change { $0.client = client }
                    try whenTrusted()
                    try channel.pipeline.syncOperations.addHandler(Answering())
                }.flatMapThrowing {
                    let pipeline = channel.pipeline.syncOperations
                    let gate = try pipeline.handler(type: TrustGateHandler.self)
                    gate.decision.whenComplete { result in journal.change { $0.decision = result } }
                    channel.clientIdentity().whenComplete { result in journal.change { $0.askedClient = result } }
                    // An application that does not wait may write at once.
                    if let greeting { channel.writeAndFlush(ByteBuffer(string: greeting), promise: nil) }
                    try pipeline.addHandler(Recording(journal: journal) { continuation.yield(log.withLock { $0 }) })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let port = listener.localAddress?.port else { throw ChannelError.unknownLocalAddress }
        let running = MutualServer(port: port, listener: listener, reports: reports)
        do {
            let output = try await body(running)
            try await listener.close().inTime()
            return output
        } catch {
            try? await listener.close().inTime()
            throw error
        }
    }
}

struct Journal: Sendable {
    let change: @Sendable ((inout ConnectionReport) -> Void) -> Void
}

/// Stands behind the gate from the beginning: what it sees the application would see.
private final class Recording: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let journal: Journal
    private let ended: () -> Void

    init(journal: Journal, ended: @escaping () -> Void) {
        self.journal = journal
        self.ended = ended
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent {
            let chain = try? context.pipeline.syncOperations.nioSSL_peerValidatedCertificateChain()
            let ders = chain?.compactMap { try? $0.toDERBytes() }
            journal.change { ($0.sawHandshake, $0.validatedChain) = (true, ders) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let text = String(buffer: unwrapInboundIn(data))
        journal.change { $0.received += text }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        journal.change { $0.errors.append(error) }
        context.close(promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) { ended() }
}

final class Answering: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    static let lastLine = "ping and bye"

    private var line = ""

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        line += String(buffer: unwrapInboundIn(data))
        guard line.hasSuffix("\n") else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "got \(line)")), promise: nil)
        if line.hasPrefix(Self.lastLine) { context.close(promise: nil) }
    }
}
