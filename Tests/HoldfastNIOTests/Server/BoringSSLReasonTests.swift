import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import HoldfastNIO

/// A new BoringSSL may word things otherwise: then this fails, and not the report of a client without a certificate.
@Suite("What BoringSSL says of a handshake that failed", .timeLimit(.minutes(15)))
struct BoringSSLReasonTests {
    @Test("is PEER_DID_NOT_RETURN_A_CERTIFICATE for a client without one", arguments: [TLSVersion.tlsv12, .tlsv13])
    func missingCertificate(version: TLSVersion) async throws {
        let root = try TestAuthority.root()
        let leaf = try root.leaf(names: ["localhost"])
        var configuration = TLSConfiguration.makeServerConfigurationWithMTLS(
            certificateChain: try leaf.chain.map { .certificate(try NIOSSLCertificate(bytes: $0, format: .der)) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: leaf.key.privateKeyDER, format: .der)),
            trustRoots: .certificates([try NIOSSLCertificate(bytes: root.root, format: .der)]))
        configuration.certificateVerification = .noHostnameVerification
        let context = try NIOSSLContext(configuration: configuration)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: [String].self)
        let listener = try await ServerBootstrap(group: loop)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLServerHandler(context: context), ErrorWitness(promise))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let client = try PlainClient(trusting: [root.root], version: version, serverName: "localhost")
        _ = try? await client.exchange([1], expecting: 1, with: "127.0.0.1", listener.localAddress?.port ?? 0)
        #expect(try await promise.futureResult.inTime() == ["PEER_DID_NOT_RETURN_A_CERTIFICATE"])
        try await listener.close()
    }

    @Test("is nothing where it is not BoringSSL that speaks")
    func others() {
        #expect(BoringSSLReason.names(in: ChannelError.eof) == [])
        #expect(!BoringSSLReason.isMissingCertificate(NIOSSLError.uncleanShutdown))
    }
}

private final class ErrorWitness: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let promise: EventLoopPromise<[String]>

    init(_ promise: EventLoopPromise<[String]>) { self.promise = promise }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.succeed(BoringSSLReason.names(in: error))
        context.close(promise: nil)
    }
}
