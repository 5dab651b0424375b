import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// A TLS server on the loopback address that sends bytes as a test wrote them, after the handshake and after each
/// request, whatever HTTP says of their order.
final class ScriptedOrigin: Sendable {
    struct Script: Sendable {
        /// The part of a request that is answered.
        enum Place: CaseIterable, Sendable {
            case head
            /// The first part of a body behind the head; over HTTP/1.1 what comes with a second read.
            case body
        }

        var place = Place.head
        /// Sent behind the handshake, each with a flush of its own.
        var greeting: [[UInt8]] = []
        var closesAfterGreeting = false
        /// Sent after each request, given its stream; HTTP/1.1 has none.
        var answer: @Sendable (_ stream: UInt32) -> [[UInt8]] = { _ in [] }
        var closesAfterAnswer = false
        /// Frames under way on a stream when the client reset it. They are sent before a PING is answered, or once the
        /// client has reset as many streams as the limit below allows.
        var late: @Sendable (_ stream: UInt32) -> [[UInt8]] = { _ in [] }
        var mostResets = Int.max
        /// Holds the first answer of all back.
        var held: HeldAnswer?
        /// When the server closes the connection at the latest; nil leaves that to the client.
        var lifetime: TimeAmount?
    }

    private struct State {
        /// Connections with a complete handshake; one that only reads certificates has none.
        var connections = 0
        /// The connection of each.
        var requests: [Int] = []
        var channels: [ObjectIdentifier: any Channel] = [:]
        var waiters: [(connections: Int, promise: EventLoopPromise<Void>)] = []
    }

    let port: Int
    private let listener: any Channel
    private let state: StateBox

    private final class StateBox: Sendable {
        private let state = Lock(State())
        var connections: Int { state.withLock { $0.connections } }
        var requests: [Int] { state.withLock { $0.requests } }
        var channels: [any Channel] { state.withLock { Array($0.channels.values) } }

        func opened(_ channel: any Channel) {
            state.withLock { $0.channels[ObjectIdentifier(channel)] = channel }
        }

        func handshaken() -> Int {
            let (number, satisfied) = state.withLock { state in
                state.connections += 1
                let number = state.connections
                let satisfied = state.waiters.filter { $0.connections <= number }.map(\.promise)
                state.waiters.removeAll { $0.connections <= number }
                return (number, satisfied)
            }
            for promise in satisfied { promise.succeed() }
            return number
        }

        func wait(for connections: Int, on loop: any EventLoop) async throws {
            let promise = loop.makePromise(of: Void.self)
            let isSatisfied = state.withLock { state in
                if state.connections >= connections { return true }
                state.waiters.append((connections, promise))
                return false
            }
            if isSatisfied { promise.succeed() }
            promise.fail(ChannelError.connectTimeout(.minutes(5)), after: .minutes(5))
            try await promise.futureResult.get()
        }

        func closed(_ channel: any Channel) { state.withLock { $0.channels[ObjectIdentifier(channel)] = nil } }
        func requested(on connection: Int) { state.withLock { $0.requests.append(connection) } }
    }

    private init(listener: any Channel, port: Int, state: StateBox) {
        self.listener = listener
        self.port = port
        self.state = state
    }

    var connections: Int { state.connections }
    /// Of these and of those that only read certificates.
    var openConnections: Int { state.channels.count }
    var requests: Int { state.requests.count }
    /// The number of the connection that each request came on.
    var requestConnections: [Int] { state.requests }

    static func context(_ certificate: TestCertificate, protocols: [String]) throws -> NIOSSLContext {
        try NIOSSLContext(configuration: .testServer(certificate, protocols: protocols))
    }

    /// - Parameter script: what happens on a connection, counted from 1 by their handshakes.
    static func start(
        _ context: NIOSSLContext, script: @escaping @Sendable (_ connection: Int) -> Script
    ) async throws -> ScriptedOrigin {
        let state = StateBox()
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    state.opened(channel)
                    channel.closeFuture.whenComplete { _ in state.closed(channel) }
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.addHandler(Player(state, script))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return ScriptedOrigin(listener: listener, port: listener.localAddress?.port ?? 0, state: state)
    }

    func waitForConnections(_ count: Int) async throws {
        try await state.wait(for: count, on: listener.eventLoop)
    }

    func url(_ path: String = "/", host: String = "www.example.com") -> String { "https://\(host):\(port)\(path)" }

    /// Stops listening and cuts every connection.
    func shutdown() async {
        try? await listener.close().get()
        for channel in state.channels {
            channel.eventLoop.execute { channel.cut() }
            try? await channel.closeFuture.get()
        }
    }

    private final class Player: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let state: StateBox
        private let makeScript: @Sendable (Int) -> Script
        private var script = Script()
        private var number = 0
        private var isHTTP2 = false
        private var received = ByteBuffer()
        /// Streams whose body was answered, and of HTTP/1.1 the one request that is.
        private var answered: Set<UInt32> = []
        private var hasHead = false
        private var resets: [UInt32] = []
        private var context: ChannelHandlerContext?

        init(_ state: StateBox, _ makeScript: @escaping @Sendable (Int) -> Script) {
            self.state = state
            self.makeScript = makeScript
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .handshakeCompleted(let name)? = event as? TLSUserEvent {
                isHTTP2 = name == "h2"
                number = state.handshaken()
                script = makeScript(number)
                let channel = context.channel
                if let lifetime = script.lifetime {
                    channel.eventLoop.scheduleTask(in: lifetime) { channel.cut() }
                }
                send(script.greeting, closes: script.closesAfterGreeting, context)
            }
            context.fireUserInboundEventTriggered(event)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received.writeImmutableBuffer(unwrapInboundIn(data))
            while let stream = isHTTP2 ? nextStream() : nextRequest() {
                state.requested(on: number)
                let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                let answer: @Sendable () -> Void = {
                    let (player, context) = bound.value
                    let script = player.script
                    player.send(script.answer(stream), closes: script.closesAfterAnswer, context)
                }
                if let held = script.held {
                    let loop = context.eventLoop
                    held.hold { loop.execute(answer) }
                } else {
                    answer()
                }
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        private func sendLate() {
            for stream in resets { script.late(stream).forEach(reply) }
            resets = []
        }

        private func reply(_ octets: [UInt8]) {
            context?.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: octets)), promise: nil)
        }

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }

        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

        private func send(_ parts: [[UInt8]], closes: Bool, _ context: ChannelHandlerContext) {
            for part in parts {
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: part)), promise: nil)
            }
            if closes { context.close(promise: nil) }
        }

        /// The whole head, and the beginning of the body where that is answered.
        private func nextRequest() -> UInt32? {
            if script.place == .head { return nextHead() }
            if !hasHead { hasHead = nextHead() != nil }
            guard hasHead, received.readableBytes > 0 else { return nil }
            received.clear()
            return answered.insert(0).inserted ? 0 : nil
        }

        private func nextHead() -> UInt32? {
            guard let end = received.readableBytesView.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
            received.moveReaderIndex(to: end.upperBound)
            return 0
        }

        /// The stream of the next frame that is answered (RFC 9113 4.1), past the client's preface.
        private func nextStream() -> UInt32? {
            if received.readableBytesView.starts(with: Array("PRI * HTTP/2.0".utf8)) {
                guard received.readableBytes >= 24 else { return nil }
                received.moveReaderIndex(forwardBy: 24)
            }
            while received.readableBytes >= 9 {
                let start = received.readerIndex
                guard let high = received.getInteger(at: start, as: UInt16.self),
                    let low = received.getInteger(at: start + 2, as: UInt8.self),
                    let kind = received.getInteger(at: start + 3, as: UInt8.self),
                    let stream = received.getInteger(at: start + 5, as: UInt32.self)
                else { return nil }
                let length = Int(high) << 8 | Int(low)
                guard received.readableBytes >= 9 + length else { return nil }
                let payload = received.getBytes(at: start + 9, length: length) ?? []
                received.moveReaderIndex(forwardBy: 9 + length)
                if kind == 3 {
                    resets.append(stream)
                    if resets.count >= script.mostResets { sendLate() }
                }
                if kind == 6, received.getInteger(at: start + 4, as: UInt8.self) == 0 {
                    sendLate()
                    reply(HTTP2Octets.frame(6, flags: 1, payload))
                }
                if kind == 1, script.place == .head { return stream }
                if kind == 0, script.place == .body, answered.insert(stream).inserted { return stream }
            }
            return nil
        }
    }
}

/// Starts a server, runs `body` with it, and shuts it down whatever happens.
func withScriptedOrigin<Result>(
    _ context: NIOSSLContext, script: @escaping @Sendable (_ connection: Int) -> ScriptedOrigin.Script,
    _ body: (ScriptedOrigin) async throws -> Result
) async throws -> Result {
    let origin = try await ScriptedOrigin.start(context, script: script)
    do {
        let result = try await body(origin)
        await origin.shutdown()
        return result
    } catch {
        await origin.shutdown()
        throw error
    }
}
