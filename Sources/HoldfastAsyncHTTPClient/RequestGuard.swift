import NIOCore
import NIOHTTP1

/// Guards an HTTP/1.1 connection, and each stream of an HTTP/2 connection.
///
/// It stands between the codec and AsyncHTTPClient's handler, which starts a request by writing its head. A head that
/// must not go out fails the request here, with an error of Holdfast's own, before anything of its body is asked for.
///
/// On a stream it also holds the end of a response back until the request's body is sent: AsyncHTTPClient 1.37 forgets
/// the request with the response, and stops the process when the stream is reset or the client shut down before the
/// body has ended.
final class RequestGuard: ChannelDuplexHandler, ConnectionGuard {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    enum Place {
        case connection
        case stream
    }

    private enum State {
        case holding
        case open
        case discarding
    }

    private var state: State
    private let place: Place
    private var isTurningAway = false
    private var hasSentEnd = false
    private var status = HTTPResponseStatus.ok
    private var heldEnd: NIOAny?
    private let refusal: @Sendable () -> (any Error)?
    private(set) var hasEnded = false

    init(_ place: Place, refusal: @escaping @Sendable () -> (any Error)?) {
        self.place = place
        // A stream is made for a request that the pool hands over.
        state = place == .connection ? .holding : .open
        self.refusal = refusal
    }

    // MARK: From the server

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch state {
        case .open: pass(data, context)
        // A server that answers before it was asked is not answered.
        case .holding: hasEnded = true
        case .discarding: break
        }
    }

    private func pass(_ data: NIOAny, _ context: ChannelHandlerContext) {
        switch unwrapInboundIn(data) {
        case .head(let head): status = head.status
        // Past 300 the body is not sent to its end.
        case .end where place == .stream && !hasSentEnd && status.code < 300:
            heldEnd = data
            return
        case .body, .end: break
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch state {
        case .open: context.fireErrorCaught(error)
        case .holding: hasEnded = true
        case .discarding: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        guard heldEnd != nil, hasSentEnd else { return context.fireChannelInactive() }
        // The stream ends with the request's last octet. The response's end is due before AsyncHTTPClient hears of that:
        // it would take the response for a broken one.
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.execute { bound.value.fireChannelInactive() }
    }

    func open(_ channel: any Channel) {
        guard state == .holding else { return }
        state = .open
        if hasEnded { channel.close(promise: nil) }
    }

    func discard() { state = .discarding }

    /// Nothing to do: an idle connection ends with its client, and a busy one turns the next request away.
    func drain(_ channel: any Channel) {}

    // MARK: From AsyncHTTPClient

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isTurningAway else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        if case .head = unwrapOutboundIn(data), let error = refusal() {
            isTurningAway = true
            promise?.fail(error)
            // AsyncHTTPClient fails the request with this error and closes the connection or stream. It has to happen
            // now: after this call returns, it starts to read the request's body.
            context.fireErrorCaught(error)
            return
        }
        context.write(data, promise: promise)
        if place == .stream, case .end = unwrapOutboundIn(data) { sentEnd(context) }
    }

    private func sentEnd(_ context: ChannelHandlerContext) {
        hasSentEnd = true
        guard heldEnd != nil else { return }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        // After AsyncHTTPClient has noted that it has sent the end.
        context.eventLoop.execute {
            let (guarding, context) = bound.value
            guard let end = guarding.heldEnd else { return }
            guarding.heldEnd = nil
            context.fireChannelRead(end)
            context.fireChannelReadComplete()
        }
    }
}
