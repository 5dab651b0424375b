package import Holdfast
package import NIOCore
package import NIOSSL
import NIOTLS

/// Reads the chain that a server presents, by a handshake that ends there.
///
/// The server is not evaluated, so it learns only the hello: the handshake has no client certificate, and nothing is
/// sent after the server's certificates arrive. The chain is public and proves nothing about this connection; it is
/// used for a leaf whose key another handshake has proved.
package final class PresentedChainReader: Sendable {
    /// The dialed host.
    package let host: DialedHost
    private let context: NIOSSLContext

    /// Makes a reader.
    /// - Parameter configuration: versions, ciphers, application protocols, by which a server may choose its
    ///   certificate. The client's certificate and key are left out.
    /// - Throws: ``TLSAdapterConfigurationError``.
    package init(
        host: DialedHost, configuration: TLSConfiguration, oldestTLSVersion: TLSVersion
    ) throws(TLSAdapterConfigurationError) {
        var derived = try ClientTLSConfiguration.derived(from: configuration, oldestTLSVersion: oldestTLSVersion)
        derived.certificateChain = []
        derived.privateKey = nil
        context = try DerivedTLSConfiguration.context(derived)
        self.host = host
    }

    /// Adds TLS to an empty pipeline. Call it on the channel's event loop.
    ///
    /// - Returns: the chain as soon as it arrives; the channel is then closed without a TLS message. It fails, and the
    ///   channel is closed, if the handshake ends earlier. There is no time limit.
    /// - Throws: NIO's errors for a pipeline that accepts no handlers.
    package func addHandlers(
        to pipeline: ChannelPipeline.SynchronousOperations
    ) throws -> EventLoopFuture<PresentedChain> {
        let promise = pipeline.eventLoop.makePromise(of: PresentedChain.self)
        let end = HandshakeEnd(promise)
        let bound = NIOLoopBound(end, eventLoop: pipeline.eventLoop)
        do {
            let tls = try NIOSSLClientHandler(
                context: context, serverHostname: host.serverNameIndication,
                customVerificationCallback: { certificates, verdict in
                    promise.succeed(PresentedChain(certificates))
                    // BoringSSL is on the stack, so the connection is closed later, but before it gets the result,
                    // which it would send as an alert that blames the server's certificate.
                    verdict.futureResult.eventLoop.execute {
                        bound.value.close()
                        verdict.succeed(.failed)
                    }
                })
            try pipeline.addHandler(end)
            try pipeline.addHandler(tls, position: .before(end))
        } catch {
            promise.fail(error)
            throw error
        }
        return promise.futureResult
    }
}

/// Placed behind TLS, it always closes the connection.
private final class HandshakeEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let promise: EventLoopPromise<PresentedChain>
    private var context: ChannelHandlerContext?

    init(_ promise: EventLoopPromise<PresentedChain>) { self.promise = promise }

    func close() { context?.channel.closeBelowTLS() }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The certificates were refused, so no handshake is ever complete.
        if case .handshakeCompleted? = event as? TLSUserEvent { fail(TLSAdapterError.noDecision) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { fail(TLSAdapterError.bytesBeforeDecision) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { fail(error) }

    func channelInactive(context: ChannelHandlerContext) {
        promise.fail(TLSAdapterError.closedBeforeDecision)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        promise.fail(TLSAdapterError.closedBeforeDecision)
    }

    private func fail(_ error: any Error) {
        promise.fail(error)
        context?.channel.closeBelowTLSLater()
    }
}
