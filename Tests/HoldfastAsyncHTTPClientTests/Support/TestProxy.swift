import Holdfast
import NIOCore
import NIOPosix

/// An HTTP proxy on the loopback address that opens tunnels to it, whatever host is asked for.
final class TestProxy: Sendable {
    struct Counters: Sendable {
        var requests: [String] = []
    }

    let port: Int
    private let listener: any Channel
    private let counters: CounterBox

    final class CounterBox: Sendable {
        private let state = Lock(Counters())
        var value: Counters { state.withLock { $0 } }
        func add(_ request: String) { state.withLock { $0.requests.append(request) } }
    }

    private init(listener: any Channel, port: Int, counters: CounterBox) {
        self.listener = listener
        self.port = port
        self.counters = counters
    }

    /// The head of each request for a tunnel.
    var requests: [String] { counters.value.requests }

    static func start(status: String = "200 OK") async throws -> TestProxy {
        let counters = CounterBox()
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Tunnel(status: status, counters: counters))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return TestProxy(listener: listener, port: listener.localAddress?.port ?? 0, counters: counters)
    }

    func shutdown() async { try? await listener.close().get() }

    /// Reads the head, connects, and passes bytes on.
    private final class Tunnel: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let status: String
        private let counters: CounterBox
        private var head = ""
        private var peer: (any Channel)?
        private var isConnecting = false

        init(status: String, counters: CounterBox) {
            self.status = status
            self.counters = counters
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
            counters.add(head)
            let port = head.split(separator: " ").dropFirst().first?.split(separator: ":").last.flatMap { Int($0) } ?? 0
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            let client = context.channel
            ClientBootstrap(group: context.eventLoop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Relay(to: client))
                    }
                }
                .connect(host: "127.0.0.1", port: port)
                .whenSuccess { channel in
                    let (tunnel, context) = bound.value
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

func withProxy<Result>(status: String = "200 OK", _ body: (TestProxy) async throws -> Result) async throws -> Result {
    let proxy = try await TestProxy.start(status: status)
    do {
        let result = try await body(proxy)
        await proxy.shutdown()
        return result
    } catch {
        await proxy.shutdown()
        throw error
    }
}
