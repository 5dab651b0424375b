import NIOCore
import NIOHTTP1

/// Requests a tunnel to a host from an HTTP proxy (CONNECT, RFC 9110 9.3.6) and removes itself and HTTP from the
/// pipeline once the tunnel is open.
final class ProxyTunnel: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let request: HTTPRequestHead
    private let promise: EventLoopPromise<Void>
    private var isAccepted = false

    private init(request: HTTPRequestHead, promise: EventLoopPromise<Void>) {
        self.request = request
        self.promise = promise
    }

    /// Adds the handlers to a channel that is not active yet. Call it on the channel's event loop.
    /// - Returns: succeeds when the tunnel is open and only the tunnel is left in the pipeline.
    static func open(
        to authority: String, headers: HTTPHeaders, on channel: any Channel
    ) throws -> EventLoopFuture<Void> {
        let pipeline = channel.pipeline.syncOperations
        var headers = headers
        headers.replaceOrAdd(name: "host", value: authority)
        let request = HTTPRequestHead(version: .http1_1, method: .CONNECT, uri: authority, headers: headers)
        let promise = channel.eventLoop.makePromise(of: Void.self)
        let encoder = HTTPRequestEncoder()
        let decoder = ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes))
        let tunnel = ProxyTunnel(request: request, promise: promise)
        try pipeline.addHandler(encoder)
        try pipeline.addHandler(decoder)
        try pipeline.addHandler(tunnel)
        let handlers = NIOLoopBound((encoder, decoder, tunnel), eventLoop: channel.eventLoop)
        return promise.futureResult.flatMap {
            let (encoder, decoder, tunnel) = handlers.value
            let pipeline = channel.pipeline.syncOperations
            return EventLoopFuture.andAllSucceed(
                [
                    pipeline.removeHandler(tunnel), pipeline.removeHandler(decoder), pipeline.removeHandler(encoder),
                ], on: channel.eventLoop)
        }
    }

    func channelActive(context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(request)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard (200..<300).contains(head.status.code) else {
                fail(found: "the status \(head.status)")
                return
            }
            isAccepted = true
        case .body: fail(found: "an answer with a body")
        case .end: if isAccepted { promise.succeed() }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail(found: "the end of the connection")
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { fail(found: "the end of the connection") }

    private func fail(found: String) {
        isAccepted = false
        promise.fail(
            PinnedHTTPClientError(
                .tunnelRefused, expected: "a tunnel to \(request.uri)", found: found,
                remedy: "Check the proxy's address, its authorization and what it allows."))
    }
}
