#if Services
import Holdfast
package import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// A server on the loopback address that follows a script in plaintext, and speaks TLS from where the script begins it.
package final class ScriptedServer: Sendable {
    /// A line of a script.
    package enum Line: Sendable {
        case say([UInt8])
        /// The client must send exactly these bytes.
        case hear([UInt8])
        /// TLS from here on, with any bytes that have arrived already.
        case tls
        case close

        package static func say(_ text: String) -> Line { .say(Array(text.utf8)) }
        package static func hear(_ text: String) -> Line { .hear(Array(text.utf8)) }
    }

    /// The actions of clients.
    package struct Record: Sendable {
        package var connections = 0
        /// The bytes that clients sent in place of the script's.
        package var surprises: [String] = []
        /// Bytes that arrived although the script had ended without TLS.
        package var bytesAfterEnd = 0
        package var handshakes = 0
    }

    package let port: Int
    private let listener: any Channel
    private let values: Records

    private final class Records: Sendable {
        private let record = Lock(Record())
        let channels = Lock<[any Channel]>([])
        func change(_ body: (inout Record) -> Void) { record.withLock { body(&$0) } }
        var value: Record { record.withLock { $0 } }
    }

    package var record: Record { values.value }

    private init(port: Int, listener: any Channel, values: Records) {
        self.port = port
        self.listener = listener
        self.values = values
    }

    package static func start(_ script: [Line], serving certificate: TestCertificate) async throws -> ScriptedServer {
        let context = try NIOSSLContext(configuration: .testServer(certificate))
        let values = Records()
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    values.change { $0.connections += 1 }
                    values.channels.withLock { $0.append(channel) }
                    try channel.pipeline.syncOperations.addHandler(
                        Actor(script: script, context: context, values: values))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let port = listener.localAddress?.port else { throw ChannelError.unknownLocalAddress }
        return ScriptedServer(port: port, listener: listener, values: values)
    }

    /// Ends when all clients have disconnected, so that the record is complete.
    package func shutdown() async {
        try? await listener.close().get()
        for channel in values.channels.withLock({ $0 }) { try? await channel.closeFuture.get() }
    }

    private final class Actor: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private var script: ArraySlice<Line>
        private let tls: NIOSSLContext
        private let values: Records
        private var heard: [UInt8] = []

        init(script: [Line], context: NIOSSLContext, values: Records) {
            self.script = script[...]
            tls = context
            self.values = values
        }

        func channelActive(context: ChannelHandlerContext) { act(context) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            heard += Array(unwrapInboundIn(data).readableBytesView)
            if script.isEmpty { values.change { $0.bytesAfterEnd += heard.count } }
            act(context)
        }

        private func act(_ context: ChannelHandlerContext) {
            while let line = script.first {
                switch line {
                case .say(let bytes):
                    context.writeAndFlush(
                        wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
                case .hear(let expected):
                    let said = Array(heard.prefix(expected.count))
                    guard said == Array(expected.prefix(said.count)) else {
                        values.change { $0.surprises.append(String(decoding: said, as: UTF8.self)) }
                        context.close(promise: nil)
                        return
                    }
                    guard said.count == expected.count else { return }
                    heard.removeFirst(said.count)
                case .tls:
                    begin(context)
                    return
                case .close:
                    context.close(promise: nil)
                    return
                }
                script = script.dropFirst()
            }
        }

        private func begin(_ context: ChannelHandlerContext) {
            script = []
            do {
                let pipeline = context.pipeline.syncOperations
                try pipeline.addHandler(NIOSSLServerHandler(context: tls))
                try pipeline.addHandler(Monitor(values: values))
                if !heard.isEmpty {
                    context.fireChannelRead(wrapInboundIn(context.channel.allocator.buffer(bytes: heard)))
                    context.fireChannelReadComplete()
                }
                pipeline.removeHandler(context: context, promise: nil)
            } catch {
                context.close(promise: nil)
            }
        }

        private func wrapInboundIn(_ buffer: ByteBuffer) -> NIOAny { NIOAny(buffer) }
    }

    private final class Monitor: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let values: Records

        init(values: Records) {
            self.values = values
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .handshakeCompleted? = event as? TLSUserEvent { values.change { $0.handshakes += 1 } }
            context.fireUserInboundEventTriggered(event)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
#endif
