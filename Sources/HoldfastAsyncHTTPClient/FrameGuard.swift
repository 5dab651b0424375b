import NIOCore
import NIOHTTP2

/// Guards an HTTP/2 connection.
///
/// Beyond what every ``ConnectionGuard`` does, it makes up for what AsyncHTTPClient 1.37 does not do: close a connection
/// whose server said goodbye while no stream was open, and bear a new limit on streams while none is open.
final class FrameGuard: ChannelInboundHandler, ConnectionGuard {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    /// Nothing but SETTINGS, PING and GOAWAY can come on a connection without streams; no honest server sends this
    /// many.
    static let maximumFrames = 64

    private enum State {
        case holding([NIOAny])
        case open
        case discarding
    }

    private var state = State.holding([])
    private(set) var hasEnded = false
    /// Streams that the peer knows of.
    private var openStreams = 0
    /// Streams that requests were given, known to the peer or not yet.
    private var givenStreams = 0
    private var isDraining = false
    private let draining: @Sendable () -> Void
    /// A limit on streams that came while none was open. AsyncHTTPClient's pool then sets a second idle timer, which
    /// stops the process in debug builds.
    private var withheldLimit: HTTP2Setting?

    /// - Parameter draining: called once the connection takes no further requests.
    init(draining: @escaping @Sendable () -> Void) {
        self.draining = draining
    }

    // MARK: From the server

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
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

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is NIOHTTP2StreamCreatedEvent, is StreamClosedEvent:
            switch state {
            case .open: passStreamEvent(event, context)
            // Only the server can have opened a stream before there was a request.
            case .holding: end(context)
            case .discarding: break
            }
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch state {
        case .open: context.fireErrorCaught(error)
        case .holding: end(context)
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
        switch frame.payload {
        case .settings(.settings(var settings)) where openStreams == 0:
            guard let limit = settings.last(where: { $0.parameter == .maxConcurrentStreams }) else {
                context.fireChannelRead(data)
                return
            }
            withheldLimit = limit
            settings.removeAll { $0.parameter == .maxConcurrentStreams }
            let rest = HTTP2Frame(streamID: frame.streamID, payload: .settings(.settings(settings)))
            context.fireChannelRead(wrapInboundOut(rest))
        case .goAway:
            // First, since AsyncHTTPClient opens another connection on hearing of it when requests wait.
            drain(context.channel)
            context.fireChannelRead(data)
        default:
            context.fireChannelRead(data)
        }
    }

    private func passStreamEvent(_ event: Any, _ context: ChannelHandlerContext) {
        let isNew = event is NIOHTTP2StreamCreatedEvent
        openStreams += isNew ? 1 : -1
        context.fireUserInboundEventTriggered(event)
        if isNew, withheldLimit != nil {
            // Later, since AsyncHTTPClient may start further streams on hearing of it.
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.eventLoop.execute {
                let (guarding, context) = bound.value
                guarding.passWithheldLimit(context)
            }
        }
        if !isNew { closeIfUnused(context.channel) }
    }

    private func passWithheldLimit(_ context: ChannelHandlerContext) {
        guard openStreams > 0, let limit = withheldLimit else { return }
        withheldLimit = nil
        let frame = HTTP2Frame(streamID: .rootStream, payload: .settings(.settings([limit])))
        context.fireChannelRead(wrapInboundOut(frame))
    }

    func open(_ channel: any Channel) {
        guard case .holding(let frames) = state else { return }
        state = .open
        guard let context = try? channel.pipeline.syncOperations.context(handler: self) else { return }
        for frame in frames { pass(frame, context) }
        if !frames.isEmpty { context.fireChannelReadComplete() }
    }

    func discard() { state = .discarding }

    // MARK: Streams

    /// Counts a stream that a request was given until it ends.
    func give(_ stream: any Channel, on channel: any Channel) {
        givenStreams += 1
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        stream.closeFuture.whenComplete { _ in
            bound.value.givenStreams -= 1
            bound.value.closeIfUnused(channel)
        }
    }

    func drain(_ channel: any Channel) {
        if !isDraining { draining() }
        isDraining = true
        closeIfUnused(channel)
    }

    private func closeIfUnused(_ channel: any Channel) {
        guard isDraining, openStreams <= 0, givenStreams == 0 else { return }
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        // Later, since AsyncHTTPClient may be about to close it itself, or to start a stream.
        channel.eventLoop.execute {
            guard bound.value.openStreams <= 0, bound.value.givenStreams == 0 else { return }
            channel.close(promise: nil)
        }
    }
}
