import Holdfast
import NIOCore
import NIOPosix

/// Passes connections on to a port of this machine, and takes its time: every byte is under way for a while in each
/// direction, and so is the making of a connection.
final class DelayingRelay: Sendable {
    struct Options: Sendable {
        /// How long a byte is under way.
        var oneWay = TimeAmount.zero
        /// Holds back what the server says on the first connection until the client has spoken on a second one.
        var holdsFirst = false
        /// Connections, counted from 1, that are accepted and of which nothing comes.
        var swallowed: Set<Int> = []
    }

    let port: Int
    private let listener: any Channel

    private struct State {
        var connections = 0
        var spoken: Set<Int> = []
        var held: [@Sendable () -> Void] = []
    }

    private let state: Lock<State>

    private init(listener: any Channel, state: Lock<State>) {
        self.listener = listener
        self.state = state
        port = listener.localAddress?.port ?? 0
    }

    /// How many connections came.
    var connections: Int { state.withLock { $0.connections } }

    static func with<Result>(
        to target: Int, _ options: Options, _ body: (DelayingRelay) async throws -> Result
    ) async throws -> Result {
        let state = Lock(State())
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { front in
                let number = state.withLock { state in
                    state.connections += 1
                    return state.connections
                }
                guard !options.swallowed.contains(number) else { return front.eventLoop.makeSucceededVoidFuture() }
                let address = try? SocketAddress(ipAddress: "127.0.0.1", port: target)
                guard let address else { return front.eventLoop.makeFailedFuture(ChannelError.unknownLocalAddress) }
                return ClientBootstrap(group: front.eventLoop)
                    .channelOption(.socketOption(.tcp_nodelay), value: 1)
                    .channelInitializer { back in
                        back.eventLoop.makeCompletedFuture {
                            // The client's first bytes come after the round trip that makes a connection.
                            let requests = Forwarder(to: back, delay: options.oneWay, head: options.oneWay * 2) {
                                released(by: number, state).forEach { $0() }
                            }
                            let answers = Forwarder(to: front, delay: options.oneWay, head: .zero) {}
                            if options.holdsFirst, number == 1 { hold(answers, on: back.eventLoop, state) }
                            try front.pipeline.syncOperations.addHandler(requests)
                            try back.pipeline.syncOperations.addHandler(answers)
                        }
                    }
                    .connect(to: address).map { _ in }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let relay = DelayingRelay(listener: listener, state: state)
        do {
            let result = try await body(relay)
            try await listener.close().get()
            return result
        } catch {
            try? await listener.close().get()
            throw error
        }
    }

    private static func hold(_ forwarder: Forwarder, on loop: any EventLoop, _ state: Lock<State>) {
        forwarder.isHeld = true
        let bound = NIOLoopBound(forwarder, eventLoop: loop)
        state.withLock { $0.held.append { loop.execute { bound.value.release() } } }
    }

    /// The transfers that are released when the client has spoken on a connection.
    private static func released(by number: Int, _ state: Lock<State>) -> [@Sendable () -> Void] {
        state.withLock { state in
            state.spoken.insert(number)
            guard state.spoken.count > 1 else { return [] }
            defer { state.held = [] }
            return state.held
        }
    }

    private final class Forwarder: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let peer: any Channel
        private let delay: TimeAmount
        private let head: TimeAmount
        private let spoke: () -> Void
        private var last = NIODeadline.uptimeNanoseconds(0)
        private var isFirst = true
        private var waiting: [() -> Void] = []
        var isHeld = false

        init(to peer: any Channel, delay: TimeAmount, head: TimeAmount, spoke: @escaping () -> Void) {
            self.peer = peer
            self.delay = delay
            self.head = head
            self.spoke = spoke
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            spoke()
            let buffer = unwrapInboundIn(data)
            forward(on: context.eventLoop) { $0.writeAndFlush(buffer, promise: nil) }
        }

        func channelInactive(context: ChannelHandlerContext) {
            forward(on: context.eventLoop) { $0.close(promise: nil) }
        }

        func release() {
            isHeld = false
            let all = waiting
            waiting = []
            for one in all { one() }
        }

        private func forward(on loop: any EventLoop, _ body: @escaping @Sendable (any Channel) -> Void) {
            let peer = peer
            guard !isHeld else { return waiting.append { body(peer) } }
            let due = max(.now() + delay + (isFirst ? head : .zero), last)
            isFirst = false
            last = due
            loop.scheduleTask(deadline: due) { body(peer) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
