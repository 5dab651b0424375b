package import Holdfast
package import NIOCore
package import NIOSSL
import NIOTLS

/// Reads the chain that a server presents, by a handshake that ends there.
///
/// Nobody judges the server, so it learns nothing but the hello: no certificate of the client's is ever sent, since the
/// handshake has none, and nothing follows the server's certificates, whatever they are. What was read is public and
/// proves nothing about this connection; it serves for a leaf whose key another handshake has proved.
package final class PresentedChainReader: Sendable {
    /// The host that is dialled.
    package let host: DialledHost
    private let context: NIOSSLContext

    /// Makes a reader.
    /// - Parameter configuration: versions, ciphers, application protocols: what a server may choose its certificate by.
    ///   The client's certificate and key are left out.
    /// - Throws: ``TLSAdapterConfigurationError``.
    package init(
        host: DialledHost, configuration: TLSConfiguration, oldestTLSVersion: TLSVersion
    ) throws(TLSAdapterConfigurationError) {
        var derived = try ClientTLSConfiguration.derived(from: configuration, oldestTLSVersion: oldestTLSVersion)
        derived.certificateChain = []
        derived.privateKey = nil
        context = try DerivedTLSConfiguration.context(derived)
        self.host = host
    }

    /// Adds TLS to a pipeline with nothing in it. To be called on the channel's event loop.
    ///
    /// - Returns: the chain, as soon as it is there; the channel is then closed, without a word of TLS to the server. It
    ///   fails, and the channel is closed, when the handshake ends before. There is no time limit.
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
                    // BoringSSL is at work: the connection is closed later, and before it hears the answer, which it would
                    // pass on as an alert that blames the server's certificate.
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

/// Stands behind TLS and closes the connection whatever happens.
private final class HandshakeEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let promise: EventLoopPromise<PresentedChain>
    private var context: ChannelHandlerContext?

    init(_ promise: EventLoopPromise<PresentedChain>) {
        self.promise = promise
    }

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
        guard let context else { return }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.execute { bound.value.channel.closeBelowTLS() }
    }
}
