import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// A server on the loopback address that answers each request with the bytes that it was last given.
final class AnsweringPeer: Sendable {
    /// The protocol that it speaks.
    enum Speech: String, CaseIterable, Sendable {
        /// HTTP/1.1 without TLS.
        case plain = "http"
        case http1 = "http/1.1"
        case http2 = "h2"
    }

    /// The server's response to a request.
    struct Script: Sendable {
        /// Sent with the first frames of a connection, behind SETTINGS.
        var greeting: [UInt8] = []
        /// Sent at once for a request; HTTP/1.1 has no streams.
        var answer: @Sendable (_ stream: UInt32) -> [UInt8] = { _ in [] }
        /// Whether the connection ends with the answer.
        var closes = false
    }

    private struct State {
        var script = Script()
        var requests = 0
        var channels: [ObjectIdentifier: any Channel] = [:]
    }

    let port: Int
    private let listener: any Channel
    private let state: Lock<State>

    /// How many requests have come.
    var requests: Int { state.withLock { $0.requests } }

    var script: Script {
        get { state.withLock { $0.script } }
        set { state.withLock { $0.script = newValue } }
    }

    init(_ speech: Speech, certificate: TestCertificate) async throws {
        let context =
            speech == .plain
            ? nil : try NIOSSLContext(configuration: .testServer(certificate, protocols: [speech.rawValue]))
        let state = Lock(State())
        listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    state.withLock { $0.channels[ObjectIdentifier(channel)] = channel }
                    channel.closeFuture.whenComplete { _ in
                        state.withLock { $0.channels[ObjectIdentifier(channel)] = nil }
                    }
                    let pipeline = channel.pipeline.syncOperations
                    if let context { try pipeline.addHandler(NIOSSLServerHandler(context: context)) }
                    try pipeline.addHandler(Player(state, isHTTP2: speech == .http2))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = listener.localAddress?.port ?? 0
        self.state = state
    }

    func shutdown() async {
        try? await listener.close()
        for channel in state.withLock({ Array($0.channels.values) }) {
            channel.eventLoop.execute { channel.cut() }
        }
    }

    private final class Player: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let state: Lock<State>
        private let isHTTP2: Bool
        private var received = ByteBuffer()

        init(_ state: Lock<State>, isHTTP2: Bool) {
            self.state = state
            self.isHTTP2 = isHTTP2
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .handshakeCompleted? = event as? TLSUserEvent, isHTTP2 {
                let greeting = HTTP2Octets.settings() + state.withLock { $0.script.greeting }
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: greeting)), promise: nil)
            }
            context.fireUserInboundEventTriggered(event)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received.writeImmutableBuffer(unwrapInboundIn(data))
            while let stream = isHTTP2 ? nextStream() : nextHead() {
                let script = state.withLock { state in
                    state.requests += 1
                    return state.script
                }
                let answer = ByteBuffer(bytes: script.answer(stream))
                context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
                if script.closes { context.close(promise: nil) }
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.channel.cut() }

        private func nextHead() -> UInt32? {
            guard let end = received.readableBytesView.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
            received.moveReaderIndex(to: end.upperBound)
            received.discardReadBytes()
            return 0
        }

        /// The stream of the next HEADERS frame (RFC 9113 4.1), past the client's preface.
        private func nextStream() -> UInt32? {
            if received.readableBytesView.starts(with: Array("PRI * HTTP/2.0".utf8)) {
                guard received.readableBytes >= 24 else { return nil }
                received.moveReaderIndex(forwardBy: 24)
            }
            while let start = Optional(received.readerIndex),
                let head = received.getInteger(at: start, as: UInt32.self),
                let stream = received.getInteger(at: start + 5, as: UInt32.self),
                received.readableBytes >= 9 + Int(head >> 8)
            {
                received.moveReaderIndex(forwardBy: 9 + Int(head >> 8))
                received.discardReadBytes()
                if head & 0xFF == 1 { return stream }
            }
            return nil
        }
    }
}
