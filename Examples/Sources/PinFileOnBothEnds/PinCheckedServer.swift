import Holdfast
import NIOCore
import NIOPosix
import NIOSSL

/// The server's end. A certificate that was renewed with a key which no client pins is found when the server starts, and
/// not by its clients.
enum PinCheckedServer {
    /// - Parameter anchors: what clients trust.
    /// - Throws: the `TrustFailure` that every client with this file would have; then nothing listens.
    static func start(
        for host: DialedHost, at port: Int, certificates: [NIOSSLCertificate], key: NIOSSLPrivateKey, pinFile: PinFile,
        anchors: TrustAnchors
    ) async throws -> any Channel {
        let chain = try certificates.map { try $0.toDERBytes() }
        let decision = TrustManager(pinFile).evaluate(ServerTrust(certificates: chain, host: host, anchors: anchors))
        if let failure = decision.failure { throw failure }
        let context = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key)))
        return try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.addHandler(Greeting())
                }
            }
            .bind(host: "0.0.0.0", port: port).get()
    }
}

/// Answers whatever comes with one line, and closes.
private final class Greeting: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(string: "hello\n")), promise: nil)
        context.close(promise: nil)
    }
}
