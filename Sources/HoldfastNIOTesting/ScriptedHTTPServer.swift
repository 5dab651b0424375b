#if Services
import Holdfast
import NIOCore
import NIOPosix
package import NIOSSL

/// A server that answers every request with bytes from the test, in pieces, and records the heads of all requests.
package final class ScriptedHTTPServer: Sendable {
    package enum Step: Sendable {
        case send(String)
        case sendOctets([UInt8])
        /// This number of bytes, in chunks, as fast as the client reads them.
        case flood(Int)
        /// These characters one by one, with this many milliseconds between them.
        case drip(String, milliseconds: Int64)
        case close
        /// Nothing more: the connection stays open.
        case stall
    }

    package typealias Script = @Sendable (_ path: String) -> [Step]
    /// A script that sees the whole head of the request.
    package typealias HeadScript = @Sendable (_ path: String, _ head: String) -> [Step]

    private let channel: any Channel
    private let heads = Heads()
    package let port: Int

    package var requests: [String] { heads.all }

    package static func with<Value>(
        tls: NIOSSLContext? = nil, _ script: @escaping Script, _ body: (ScriptedHTTPServer) async throws -> Value
    ) async throws -> Value {
        try await with(tls: tls, answering: { path, _ in script(path) }, body)
    }

    package static func with<Value>(
        tls: NIOSSLContext? = nil, answering script: @escaping HeadScript,
        _ body: (ScriptedHTTPServer) async throws -> Value
    ) async throws -> Value {
        let server = try await ScriptedHTTPServer(tls: tls, script)
        do {
            let value = try await body(server)
            try? await server.channel.close()
            return value
        } catch {
            try? await server.channel.close()
            throw error
        }
    }

    private init(tls: NIOSSLContext?, _ script: @escaping HeadScript) async throws {
        let heads = heads
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(Answering(script: script, heads: heads))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    package func url(_ path: String = "/list", scheme: String = "http", host: String = "127.0.0.1") -> String {
        "\(scheme)://\(host):\(port)\(path)"
    }

    private final class Heads: Sendable {
        private let heads = Lock<[String]>([])
        var all: [String] { heads.withLock { $0 } }
        func add(_ head: String) { heads.withLock { $0.append(head) } }
    }

    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let script: HeadScript
        private let heads: Heads
        private var received = ""

        init(script: @escaping HeadScript, heads: Heads) {
            self.script = script
            self.heads = heads
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received += String(buffer: unwrapInboundIn(data))
            guard received.contains("\r\n\r\n") else { return }
            heads.add(received)
            let path = received.split(separator: " ").dropFirst().first.map(String.init) ?? "/"
            let steps = script(path, received)
            received = ""
            run(steps[...], context)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        private func run(_ steps: ArraySlice<Step>, _ context: ChannelHandlerContext) {
            guard let step = steps.first else { return }
            let rest = steps.dropFirst()
            switch step {
            case .send(let text):
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
                run(rest, context)
            case .sendOctets(let octets):
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: octets)), promise: nil)
                run(rest, context)
            case .flood(let count):
                let chunk = min(count, 65_536)
                let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(repeating: 0x20, count: chunk)))
                    .whenSuccess {
                        // If the kernel accepts a write at once, it succeeds at once. A million nested completions
                        // would overflow the stack.
                        let eventLoop = bound.value.1.eventLoop
                        eventLoop.execute {
                            let (handler, context) = bound.value
                            guard context.channel.isActive else { return }
                            handler.run(count > chunk ? [.flood(count - chunk)] + rest : rest, context)
                        }
                    }
            case .drip(let text, let milliseconds):
                guard let first = text.first else { return run(rest, context) }
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: String(first))), promise: nil)
                let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                context.eventLoop.scheduleTask(in: .milliseconds(milliseconds)) {
                    let (handler, context) = bound.value
                    guard context.channel.isActive else { return }
                    handler.run([.drip(String(text.dropFirst()), milliseconds: milliseconds)] + rest, context)
                }
            case .close: context.close(promise: nil)
            case .stall: break
            }
        }
    }
}
#endif
