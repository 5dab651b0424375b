import NIOCore
import NIOHTTP1

/// Guards an HTTP/1.1 connection, and a stream of an HTTP/2 connection that is to carry no request.
///
/// It stands between the codec and AsyncHTTPClient's handler, which starts a request by writing its head. A head that
/// must not go out fails the request here, with an error of Holdfast's own, before anything of its body is asked for.
final class RequestGuard: ChannelDuplexHandler, ConnectionGuard {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private enum State {
        case holding
        case open
        case discarding
    }

    private var state: State
    private var isTurningAway = false
    private let refusal: @Sendable () -> (any Error)?
    private(set) var hasEnded = false

    init(isHolding: Bool, refusal: @escaping @Sendable () -> (any Error)?) {
        state = isHolding ? .holding : .open
        self.refusal = refusal
    }

    // MARK: From the server

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch state {
        case .open: context.fireChannelRead(data)
        // A server that answers before it was asked is not answered.
        case .holding: hasEnded = true
        case .discarding: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch state {
        case .open: context.fireErrorCaught(error)
        case .holding: hasEnded = true
        case .discarding: break
        }
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
    }
}
