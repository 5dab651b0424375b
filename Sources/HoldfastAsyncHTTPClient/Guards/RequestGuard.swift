import AsyncHTTPClient
import HoldfastNIO
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// Guards an HTTP/1.1 connection, and each stream of an HTTP/2 connection.
///
/// It is placed between the codec and AsyncHTTPClient's handler, which starts a request by writing its head. If the
/// head must not be sent, the request fails here with Holdfast's error, before anything of its body is requested.
///
/// On an HTTP/1.1 connection only the grammar of a response passes (``ResponseGrammar``); anything else fails the
/// request and closes the connection. On a stream ``FrameGuard`` does that, and the request gets the reason.
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
    private var hasSentHead = false
    private var hasSentEnd = false
    private var status = HTTPResponseStatus.ok
    private var heldEnd: NIOAny?
    private let refusal: @Sendable () -> (any Error)?
    private let malformationOfStream: (HTTP2StreamID?) -> PinnedHTTPClientError?
    private(set) var hasEnded = false
    private(set) var malformation: PinnedHTTPClientError?
    /// The response to the last request on a connection; nil before the first.
    private var response: ResponseGrammar?
    /// Placed before the decoder of a connection.
    let statusLine = StatusLineReader()

    /// - Parameters:
    ///   - refusal: the reason why a request must not be sent; nil if it may.
    ///   - malformationOfStream: the reason why a stream, or without one its connection, ended; nil if the server did
    ///     not cause it.
    init(
        _ place: Place, refusal: @escaping @Sendable () -> (any Error)?,
        malformationOfStream: @escaping (HTTP2StreamID?) -> PinnedHTTPClientError? = { _ in nil }
    ) {
        self.place = place
        self.malformationOfStream = malformationOfStream
        // A stream is made for a request that the pool hands over.
        state = place == .connection ? .holding : .open
        self.refusal = refusal
    }

    // MARK: From the server

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch state {
        case .open: pass(data, context)
        // A server that responds before the request gets no request.
        case .holding: endEarly(.malformedResponse(found: "a response before any request"))
        case .discarding: break
        }
    }

    private func endEarly(_ error: PinnedHTTPClientError?) {
        hasEnded = true
        malformation = malformation ?? error
    }

    private func pass(_ data: NIOAny, _ context: ChannelHandlerContext) {
        let part = unwrapInboundIn(data)
        do {
            if place == .connection { try check(part) }
        } catch {
            refuse(error, context)
            return
        }
        switch part {
        case .head(let head): status = head.status
        // From status 300 on, the rest of the body is not sent.
        case .end where place == .stream && !hasSentEnd && status.code < 300:
            heldEnd = data
            return
        case .body, .end: break
        }
        context.fireChannelRead(data)
    }

    private func check(_ part: InboundIn) throws(PinnedHTTPClientError) {
        // Change it in place, because a copy would copy every part.
        guard response != nil else { throw .malformedResponse(found: "a response before any request") }
        switch part {
        // The decoder accepts exactly three digits, and returns their number.
        case .head(let head): try response?.head(Int(head.status.code))
        case .body: try response?.body()
        case .end: try response?.end()
        }
    }

    /// Fails the current request, if any, and closes the connection.
    private func refuse(_ error: PinnedHTTPClientError, _ context: ChannelHandlerContext) {
        malformation = error
        hasEnded = true
        state = .discarding
        context.fireErrorCaught(error)
        context.channel.closeBelowTLSLater()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // AsyncHTTPClient uses this error for a request that was given to a connection after its end, but this one has
        // begun.
        let isLate = hasSentHead && error as? ChannelError == .ioOnClosedChannel
        let error: any Error = isLate ? HTTPClientError.remoteConnectionClosed : error
        switch (state, place) {
        case (.open, .stream):
            let reset = error as? NIOHTTP2Errors.StreamClosed
            context.fireErrorCaught(reset.flatMap { malformationOfStream($0.streamID) } ?? error)
        case (.open, .connection):
            let line = response?.isUntouched == true ? statusLine.line : nil
            guard let malformed = PinnedHTTPClientError.malformedResponse(error, line: line) else {
                return context.fireErrorCaught(error)
            }
            refuse(malformed, context)
        case (.holding, _): endEarly(.malformedResponse(error, line: statusLine.line))
        case (.discarding, _): break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        guard heldEnd != nil, hasSentEnd else {
            if let error = malformationOfStream(nil) { context.fireErrorCaught(error) }
            return context.fireChannelInactive()
        }
        // The stream ends with the request's last byte. AsyncHTTPClient must get the response's end before that;
        // otherwise it treats the response as truncated.
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
        hasSentHead = true
        if place == .connection, case .head = unwrapOutboundIn(data) {
            response = ResponseGrammar()
            statusLine.restart()
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
