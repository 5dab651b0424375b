#if Services
package import HoldfastTesting
package import NIOCore
import NIOPosix
package import NIOSSL

/// The key of an attacker who has a certificate but not its key: every signature is wrong.
package struct ReplayedKey: NIOSSLCustomPrivateKey, Hashable {
    package let signatureAlgorithms: [SignatureAlgorithm] = [.ecdsaSecp256R1Sha256]

    package init() {}

    /// The key in NIOSSL's type. NIOSSL does not check whether it belongs to a certificate.
    package static var privateKey: NIOSSLPrivateKey { NIOSSLPrivateKey(customPrivateKey: ReplayedKey()) }

    package func sign(
        channel: any Channel, algorithm: SignatureAlgorithm, data: ByteBuffer
    ) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeSucceededFuture(ByteBuffer(repeating: 7, count: 70))
    }

    package func decrypt(channel: any Channel, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }

    private static func configuration(presenting certificate: TestCertificate) throws -> TLSConfiguration {
        .makeServerConfiguration(
            certificateChain: try certificate.chain.map {
                .certificate(try NIOSSLCertificate(bytes: $0, format: .der))
            },
            privateKey: .privateKey(Self.privateKey))
    }

    /// Runs a server that replays the chain of a certificate, and calls `body` with its port.
    package static func withServer(
        presenting certificate: TestCertificate, _ version: TLSVersion, _ body: (Int) async throws -> Void
    ) async throws {
        var configuration = try configuration(presenting: certificate)
        (configuration.minimumTLSVersion, configuration.maximumTLSVersion) = (version, version)
        let context = try NIOSSLContext(configuration: configuration)
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            try await body(listener.localAddress?.port ?? 0)
            try await listener.close().get()
        } catch {
            try? await listener.close().get()
            throw error
        }
    }
}
#endif
