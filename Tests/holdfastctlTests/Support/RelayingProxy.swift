import Holdfast
import NIOCore
import NIOPosix

/// An HTTP proxy on the loopback address whose tunnels all lead to one port, whatever host is asked for.
final class RelayingProxy: Sendable {
    let port: Int
    private let listener: any Channel
    private let record: Record

    private final class Record: Sendable {
        let heads = Lock<[String]>([])
    }

    private init(port: Int, listener: any Channel, record: Record) {
        self.port = port
        self.listener = listener
        self.record = record
    }

    /// The head of each request for a tunnel.
    var heads: [String] { record.heads.withLock { $0 } }

    static func start(to target: Int) async throws -> RelayingProxy {
        let record = Record()
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Tunnel(to: target, record))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let port = listener.localAddress?.port else { throw ChannelError.unknownLocalAddress }
        return RelayingProxy(port: port, listener: listener, record: record)
    }

    func shutdown() async { try? await listener.close().get() }

    /// Reads the head, connects, and passes bytes on.
    private final class Tunnel: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let target: Int
        private let record: Record
        private var head = ""
        private var isOpening = false
        private var peer: (any Channel)?

        init(to target: Int, _ record: Record) {
            self.target = target
            self.record = record
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let buffer = unwrapInboundIn(data)
            if let peer {
                peer.writeAndFlush(buffer, promise: nil)
                return
            }
            head += String(buffer: buffer)
            guard !isOpening, head.hasSuffix("\r\n\r\n") else { return }
            isOpening = true
            record.heads.withLock { $0.append(head) }
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            let client = context.channel
            ClientBootstrap(group: context.eventLoop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Relay(to: client))
                    }
                }
                .connect(host: "127.0.0.1", port: target)
                .whenSuccess { channel in
                    let (tunnel, context) = bound.value
                    tunnel.peer = channel
                    let answer = ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n")
                    context.writeAndFlush(tunnel.wrapOutboundOut(answer), promise: nil)
                }
        }

        func channelInactive(context: ChannelHandlerContext) {
            peer?.close(promise: nil)
            context.fireChannelInactive()
        }
    }

    private final class Relay: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let other: any Channel
        init(to other: any Channel) { self.other = other }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            other.writeAndFlush(unwrapInboundIn(data), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            other.close(promise: nil)
            context.fireChannelInactive()
        }
    }
}
