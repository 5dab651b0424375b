import NIOCore
import NIOHTTP2

/// Holds the frames that a server sends while it is being judged.
///
/// AsyncHTTPClient's pool stops the process when a connection that it does not have yet reports a GOAWAY or new
/// SETTINGS, and by then NIO's HTTP/2 is already reading. So they wait until the pool has the connection.
final class FrameHold: ChannelInboundHandler {
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
    /// Whether the server said goodbye while it was judged. A pool that leases a stream on such a connection never
    /// closes it, so it does not get it.
    private(set) var sawGoodbye = false

    /// Puts one between HTTP/2 and what AsyncHTTPClient has behind it. On the event loop.
    static func add(to channel: any Channel) throws -> NIOLoopBound<FrameHold> {
        let pipeline = channel.pipeline.syncOperations
        let http2 = try pipeline.handler(type: NIOHTTP2Handler.self)
        let hold = FrameHold()
        try pipeline.addHandler(hold, position: .after(http2))
        return NIOLoopBound(hold, eventLoop: channel.eventLoop)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch state {
        case .open:
            context.fireChannelRead(data)
        case .discarding:
            break
        case .holding(var frames):
            guard frames.count < Self.maximumFrames else {
                state = .discarding
                context.close(promise: nil)
                return
            }
            if case .goAway = unwrapInboundIn(data).payload { sawGoodbye = true }
            frames.append(data)
            state = .holding(frames)
        }
    }

    /// Lets go of what was held, and of everything after it.
    func release(on channel: any Channel) {
        guard case .holding(let frames) = state else { return }
        state = .open
        guard let context = try? channel.pipeline.syncOperations.context(handler: self) else { return }
        for frame in frames { context.fireChannelRead(frame) }
        if !frames.isEmpty { context.fireChannelReadComplete() }
    }

    func discard() { state = .discarding }
}
