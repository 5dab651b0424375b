import HoldfastNIO
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Guards an HTTP/2 connection: each stream delivers only the grammar of a response (``ResponseGrammar``), and streams
/// end only if a request began them.
///
/// It is placed directly behind NIOHTTP2's handler. It cannot be placed later: the codec of each stream stops the
/// process for an empty or negative `:status`, and AsyncHTTPClient counts streams that end before any handler of ours
/// sees them. A stream with an invalid response is reset; if a stream appears that no request opened, such as a pushed
/// one, the connection is closed.
///
/// Beyond the tasks of every ``ConnectionGuard``, it compensates for missing behavior of AsyncHTTPClient 1.37: it
/// closes a connection whose server sent GOAWAY while no stream was open, tolerates a new limit on streams while none
/// is open, and closes a connection on which NIOHTTP2 has found an error. It also paces the resets of canceled requests
/// (``ResetPacer``).
final class FrameGuard: ChannelDuplexHandler, ConnectionGuard {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame
    typealias OutboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// Only SETTINGS, PING and GOAWAY can arrive on a connection without streams; no legitimate server sends this many.
    static let maximumFrames = 64

    private enum State {
        case holding([NIOAny])
        case open
        case discarding
    }

    private var state = State.holding([])
    private(set) var hasEnded = false
    private(set) var malformation: PinnedHTTPClientError?
    /// Streams that the peer knows, all opened by this client, with their responses.
    private var streams: [HTTP2StreamID: ResponseGrammar] = [:]
    /// The reasons for which streams are being reset.
    private var refused: [HTTP2StreamID: PinnedHTTPClientError] = [:]
    /// The stream that the server has just reset.
    private var resetByServer: HTTP2StreamID?
    /// The end of a stream that NIOHTTP2 has reset. An error with the reason follows at once.
    private var heldClosure: StreamClosedEvent?
    /// Streams that were assigned to requests, whether or not the peer knows them yet.
    private var givenStreams = 0
    private var isDraining = false
    private let draining: @Sendable () -> Void
    private var pacer = ResetPacer()
    /// Resets that wait for the server to confirm earlier ones.
    private var heldResets: [(stream: HTTP2StreamID, frame: NIOAny, promise: EventLoopPromise<Void>?)] = []
    private var answerTimer: Scheduled<Void>?

    /// How long a server may take to answer a PING.
    private static let answerLimit = TimeAmount.seconds(10)
    /// Distinguishes the answers to the guard's own PINGs from others.
    private static let question = HTTP2PingData(withInteger: 0x486F_6C64_6661_7374)
    /// A limit on streams that arrived while none was open. AsyncHTTPClient's pool then sets a second idle timer, which
    /// stops the process in debug builds.
    private var withheldLimit: HTTP2Setting?

    /// - Parameter draining: called once the connection accepts no further requests.
    init(draining: @escaping @Sendable () -> Void) { self.draining = draining }

    /// The reason why a stream, or the whole connection, ended; nil if the server did not cause it.
    func malformation(of stream: HTTP2StreamID?) -> PinnedHTTPClientError? {
        stream.flatMap { refused[$0] } ?? malformation
    }

    // MARK: From the server

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        passHeldClosure(context)
        switch state {
        case .open:
            pass(data, context)
        case .discarding:
            break
        case .holding(var frames):
            guard frames.count < Self.maximumFrames else {
                end(context)
                return
            }
            if case .goAway = unwrapInboundIn(data).payload { hasEnded = true }
            frames.append(data)
            state = .holding(frames)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        passHeldClosure(context)
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        passHeldClosure(context)
        answerTimer?.cancel()
        dropHeldResets { _ in true }
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is NIOHTTP2StreamCreatedEvent || event is StreamClosedEvent else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        passHeldClosure(context)
        switch state {
        case .open:
            if let event = event as? NIOHTTP2StreamCreatedEvent { passCreation(event, context) }
            if let event = event as? StreamClosedEvent { passClosure(event, context) }
        case .holding:
            // Only the server can have opened a stream before the first request.
            malformation = .malformedResponse(found: "a stream that no request has opened")
            end(context)
        case .discarding: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch state {
        case .open:
            let malformation = PinnedHTTPClientError.malformedResponse(http2: error)
            if heldClosure != nil {
                passHeldClosure(context, because: malformation)
            } else if let malformation {
                refuseConnection(malformation, context)
            } else {
                context.fireErrorCaught(error)
            }
        case .holding:
            malformation = malformation ?? .malformedResponse(http2: error)
            end(context)
        case .discarding: break
        }
    }

    private func end(_ context: ChannelHandlerContext) {
        hasEnded = true
        state = .discarding
        context.close(promise: nil)
    }

    private func pass(_ data: NIOAny, _ context: ChannelHandlerContext) {
        let frame = unwrapInboundIn(data)
        guard frame.streamID == .rootStream else {
            passStream(frame, data, context)
            return
        }
        switch frame.payload {
        case .settings(.settings(var settings)) where streams.isEmpty:
            guard let limit = settings.last(where: { $0.parameter == .maxConcurrentStreams }) else {
                context.fireChannelRead(data)
                return
            }
            withheldLimit = limit
            settings.removeAll { $0.parameter == .maxConcurrentStreams }
            let rest = HTTP2Frame(streamID: frame.streamID, payload: .settings(.settings(settings)))
            context.fireChannelRead(wrapInboundOut(rest))
        case .ping(Self.question, ack: true) where pacer.isAsking:
            send(pacer.confirm(), context)
        case .goAway:
            // Drain first, because delivering the frame makes AsyncHTTPClient open another connection if requests wait.
            drain(context.channel)
            context.fireChannelRead(data)
        default:
            context.fireChannelRead(data)
        }
    }

    private func passStream(_ frame: HTTP2Frame, _ data: NIOAny, _ context: ChannelHandlerContext) {
        let id = frame.streamID
        // PRIORITY may name a stream that was never opened, and has no effect (RFC 9113 6.3).
        if case .priority = frame.payload { return context.fireChannelRead(data) }
        guard var response = streams[id] else { return refuseUnopened(id, context) }
        // Its reset waits until the connection can be written to, or until the server has confirmed others.
        guard refused[id] == nil, !heldResets.contains(where: { $0.stream == id }) else { return }
        do {
            switch frame.payload {
            case .headers(let content):
                if let status = content.headers.status {
                    try response.head(status, ends: content.endStream)
                } else {
                    try response.trailers(ends: content.endStream)
                }
            case .data(let content): try response.body(ends: content.endStream)
            case .rstStream: resetByServer = id
            case .pushPromise(let content): return refuseUnopened(content.pushedStreamID, context)
            default: break
            }
        } catch {
            return refuse(id, error, context)
        }
        streams[id] = response
        context.fireChannelRead(data)
    }

    // MARK: Refusals

    /// Resets a stream. Its request fails when NIOHTTP2 reports the end of the stream.
    private func refuse(_ id: HTTP2StreamID, _ error: PinnedHTTPClientError, _ context: ChannelHandlerContext) {
        refused[id] = error
        // RFC 9113 8.1.1
        let reset = HTTP2Frame(streamID: id, payload: .rstStream(.protocolError))
        send(reset: wrapOutboundOut(reset), of: id, promise: nil, context)
        context.flush()
    }

    private func refuseUnopened(_ id: HTTP2StreamID, _ context: ChannelHandlerContext) {
        guard malformation == nil else { return }
        // RFC 9113 5.4.1 and 6.6: pushes are switched off in the client's first frame.
        let farewell = HTTP2Frame(
            streamID: .rootStream,
            payload: .goAway(lastStreamID: .rootStream, errorCode: .protocolError, opaqueData: nil))
        refuseConnection(.malformedResponse(found: "stream \(Int(id)), which no request has opened"), context)
        context.writeAndFlush(wrapOutboundOut(farewell), promise: nil)
    }

    /// Closes the connection and lets nothing more through. Its requests fail when it is closed.
    private func refuseConnection(_ error: PinnedHTTPClientError, _ context: ChannelHandlerContext) {
        malformation = error
        hasEnded = true
        state = .discarding
        if !isDraining { draining() }
        isDraining = true
        context.channel.closeBelowTLSLater()
    }

    // MARK: Resets

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let frame = unwrapOutboundIn(data)
        guard case .rstStream = frame.payload else { return context.write(data, promise: promise) }
        send(reset: data, of: frame.streamID, promise: promise, context)
    }

    private func send(
        reset: NIOAny, of id: HTTP2StreamID, promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) {
        heldResets.append((id, reset, promise))
        send(pacer.add(), context)
    }

    private func send(_ step: ResetPacer.Step, _ context: ChannelHandlerContext) {
        if !pacer.isAsking || step.asks { answerTimer?.cancel() }
        guard step != ResetPacer.Step() else { return }
        let resets = heldResets.prefix(step.resets)
        heldResets.removeFirst(resets.count)
        for reset in resets { context.write(reset.frame, promise: reset.promise) }
        if step.asks {
            let question = HTTP2Frame(streamID: .rootStream, payload: .ping(Self.question, ack: false))
            context.write(wrapOutboundOut(question), promise: nil)
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            answerTimer = context.eventLoop.scheduleTask(in: Self.answerLimit) {
                let (guarding, context) = bound.value
                guarding.send(guarding.pacer.giveUp(), context)
            }
        }
        context.flush()
    }

    private func dropHeldResets(where condition: (HTTP2StreamID) -> Bool) {
        for reset in heldResets where condition(reset.stream) {
            pacer.drop()
            reset.promise?.fail(ChannelError.ioOnClosedChannel)
        }
        heldResets.removeAll { condition($0.stream) }
    }

    // MARK: Streams

    private func passCreation(_ event: NIOHTTP2StreamCreatedEvent, _ context: ChannelHandlerContext) {
        // A client's are odd, a server's even (RFC 9113 5.1.1).
        guard !Int(event.streamID).isMultiple(of: 2) else { return refuseUnopened(event.streamID, context) }
        streams[event.streamID] = ResponseGrammar()
        context.fireUserInboundEventTriggered(event)
        guard withheldLimit != nil else { return }
        // On the next turn of the event loop, because this may make AsyncHTTPClient start further streams.
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.execute {
            let (guarding, context) = bound.value
            guarding.passWithheldLimit(context)
        }
    }

    private func passClosure(_ event: StreamClosedEvent, _ context: ChannelHandlerContext) {
        // AsyncHTTPClient would count the stream and start one stream too many.
        guard streams[event.streamID] != nil else { return refuseUnopened(event.streamID, context) }
        switch event.reason {
        case .protocolError, .streamClosed, .flowControlError:
            if refused[event.streamID] == nil, resetByServer != event.streamID {
                heldClosure = event
                return
            }
        default: break
        }
        close(event, context)
    }

    private func passHeldClosure(_ context: ChannelHandlerContext, because reason: PinnedHTTPClientError? = nil) {
        guard let event = heldClosure else { return }
        heldClosure = nil
        refused[event.streamID] = reason ?? .malformedResponse(found: "a frame that HTTP/2 does not allow there")
        close(event, context)
    }

    private func close(_ event: StreamClosedEvent, _ context: ChannelHandlerContext) {
        streams[event.streamID] = nil
        resetByServer = nil
        dropHeldResets { $0 == event.streamID }
        // An invalid head may have been the stream's last frame, and then the stream has not been reset.
        let reason = refused[event.streamID] == nil ? event.reason : .protocolError
        context.fireUserInboundEventTriggered(StreamClosedEvent(streamID: event.streamID, reason: reason))
        refused[event.streamID] = nil
        closeIfUnused(context.channel)
    }

    private func passWithheldLimit(_ context: ChannelHandlerContext) {
        guard case .open = state, !streams.isEmpty, let limit = withheldLimit else { return }
        withheldLimit = nil
        let frame = HTTP2Frame(streamID: .rootStream, payload: .settings(.settings([limit])))
        context.fireChannelRead(wrapInboundOut(frame))
    }

    /// Counts a stream that was assigned to a request, until it ends.
    func give(_ stream: any Channel, on channel: any Channel) {
        givenStreams += 1
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        stream.closeFuture.whenComplete { _ in
            bound.value.givenStreams -= 1
            bound.value.closeIfUnused(channel)
        }
    }

    // MARK: The gate

    func open(_ channel: any Channel) {
        guard case .holding(let frames) = state else { return }
        state = .open
        guard let context = try? channel.pipeline.syncOperations.context(handler: self) else { return }
        for frame in frames {
            guard case .open = state else { return }
            pass(frame, context)
        }
        if !frames.isEmpty { context.fireChannelReadComplete() }
    }

    func discard() { state = .discarding }

    func drain(_ channel: any Channel) {
        if !isDraining { draining() }
        isDraining = true
        closeIfUnused(channel)
    }

    private func closeIfUnused(_ channel: any Channel) {
        guard isDraining, streams.isEmpty, givenStreams == 0 else { return }
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        // Next turn of the event loop: AsyncHTTPClient may be about to close it itself, or to start a stream.
        channel.eventLoop.execute {
            guard bound.value.streams.isEmpty, bound.value.givenStreams == 0 else { return }
            channel.close(promise: nil)
        }
    }
}
