#if Services
import Holdfast
import NIOCore
import NIOPosix

/// An HTTP proxy on the loopback address. Whatever host is requested, its tunnels lead to the loopback address.
package final class LoopbackProxy: Sendable {
    package let port: Int
    private let listener: any Channel
    private let heads: Heads

    private final class Heads: Sendable {
        let all = Lock<[String]>([])
    }

    private init(listener: any Channel, port: Int, heads: Heads) {
        self.listener = listener
        self.port = port
        self.heads = heads
    }

    /// The heads of all requests for a tunnel.
    package var requests: [String] { heads.all.withLock { $0 } }

    /// - Parameters:
    ///   - status: the status of the answer to a request for a tunnel.
    ///   - target: the port to which all tunnels lead; nil for the port that is requested.
    package static func start(status: String = "200 OK", to target: Int? = nil) async throws -> LoopbackProxy {
        let heads = Heads()
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Tunnel(status: status, target: target, heads: heads))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let port = listener.localAddress?.port else { throw ChannelError.unknownLocalAddress }
        return LoopbackProxy(listener: listener, port: port, heads: heads)
    }

    package func shutdown() async { try? await listener.close().get() }

    /// Reads the head of the request, connects, and passes bytes on.
    private final class Tunnel: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let status: String
        private let target: Int?
        private let heads: Heads
        private var head = ""
        private var peer: (any Channel)?
        private var isConnecting = false

        init(status: String, target: Int?, heads: Heads) {
            self.status = status
            self.target = target
            self.heads = heads
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let buffer = unwrapInboundIn(data)
            if let peer {
                peer.writeAndFlush(buffer, promise: nil)
                return
            }
            guard !isConnecting else { return }
            head += String(buffer: buffer)
            guard head.hasSuffix("\r\n\r\n") else { return }
            isConnecting = true
            heads.all.withLock { $0.append(head) }
            let asked = head.split(separator: " ").dropFirst().first?.split(separator: ":").last.flatMap { Int($0) }
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            let client = context.channel
            ClientBootstrap(group: context.eventLoop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Relay(to: client))
                    }
                }
                .connect(host: "127.0.0.1", port: target ?? asked ?? 0)
                .whenComplete { result in
                    let (tunnel, context) = bound.value
                    guard case .success(let channel) = result else { return context.close(promise: nil) }
                    tunnel.peer = channel
                    let answer = ByteBuffer(string: "HTTP/1.1 \(tunnel.status)\r\n\r\n")
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

/// Runs `body` with a proxy, and always shuts the proxy down.
package func withProxy<Result>(
    status: String = "200 OK", _ body: (LoopbackProxy) async throws -> Result
) async throws -> Result {
    let proxy = try await LoopbackProxy.start(status: status)
    do {
        let result = try await body(proxy)
        await proxy.shutdown()
        return result
    } catch {
        await proxy.shutdown()
        throw error
    }
}
#endif
