#if Services
import NIOCore
import NIOHTTP1
import NIOTLS

/// Below TLS: closing the connection here does not wait for the peer's close_notify.
final class ConnectionGate: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }
}

/// Above TLS: counts handshakes and plaintext.
final class ConnectionMonitor: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let state: LoopbackServerState

    init(state: LoopbackServerState) {
        self.state = state
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { state.handshakeCompleted(context.channel) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        state.count(received: unwrapInboundIn(data).readableBytes)
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        state.count(sent: unwrapOutboundIn(data).readableBytes)
        context.write(data, promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        state.handshakeFailed(context.channel)
        context.close(promise: nil)
    }
}

extension ChannelPipeline.SynchronousOperations {
    func addBehavior(_ behavior: LoopbackTLSServer.Behavior) throws {
        switch behavior {
        case .echo: try addHandler(Echo())
        case .greeting(let bytes): try addHandler(Greeting(bytes: bytes, closes: false))
        case .closeAfterHandshake: try addHandler(Greeting(bytes: [], closes: true))
        case .http(let body):
            try configureHTTPServerPipeline(withErrorHandling: true)
            try addHandler(FixedAnswer(body: body))
        case .silent, .stalled: break
        }
    }
}

private final class Echo: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(data, promise: nil)
    }
}

/// Sends a greeting or closes, once the handshake is done.
private final class Greeting: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let bytes: [UInt8]
    private let closes: Bool

    init(bytes: [UInt8], closes: Bool) {
        self.bytes = bytes
        self.closes = closes
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent {
            if !bytes.isEmpty {
                context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
            }
            if closes { context.close(promise: nil) }
        }
        context.fireUserInboundEventTriggered(event)
    }
}

private final class FixedAnswer: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let body: String
    private var isKeepAlive = true
    private var omitsBody = false

    init(body: String) {
        self.body = body
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            isKeepAlive = head.isKeepAlive
            omitsBody = head.method == .HEAD
        case .body: break
        case .end: answer(context)
        }
    }

    private func answer(_ context: ChannelHandlerContext) {
        let content = context.channel.allocator.buffer(string: body)
        var headers = HTTPHeaders([
            ("content-type", "text/plain; charset=utf-8"), ("content-length", String(content.readableBytes)),
        ])
        if !isKeepAlive { headers.add(name: "connection", value: "close") }
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !omitsBody { context.write(wrapOutboundOut(.body(.byteBuffer(content))), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        if !isKeepAlive { context.close(promise: nil) }
    }
}
#endif
