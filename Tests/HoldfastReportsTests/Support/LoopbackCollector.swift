import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// A collector on loopback that keeps whole requests and answers each with a status.
final class LoopbackCollector: Sendable {
    /// A request, as it came over the socket.
    struct Request: Sendable {
        let head: HTTPRequestHead
        let body: Data
    }

    let port: Int
    /// Yields each request.
    let requests: AsyncStream<Request>
    private let channel: any Channel

    static func with<Value>(
        serving certificate: TestCertificate, status: HTTPResponseStatus = .accepted,
        _ body: (LoopbackCollector) async throws -> Value
    ) async throws -> Value {
        let collector = try await LoopbackCollector(
            NIOSSLContext(configuration: .testServer(certificate)), status)
        do {
            let value = try await body(collector)
            try? await collector.channel.close()
            return value
        } catch {
            try? await collector.channel.close()
            throw error
        }
    }

    private init(_ tls: NIOSSLContext, _ status: HTTPResponseStatus) async throws {
        let (requests, yield) = AsyncStream.makeStream(of: Request.self)
        self.requests = requests
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: tls))
                    try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
                    try pipeline.addHandler(Handler(status: status, yield: yield))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let status: HTTPResponseStatus
        private let yield: AsyncStream<Request>.Continuation
        private var head: HTTPRequestHead?
        private var body = Data()

        init(status: HTTPResponseStatus, yield: AsyncStream<Request>.Continuation) {
            self.status = status
            self.yield = yield
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): self.head = head
            case .body(let part): body.append(contentsOf: part.readableBytesView)
            case .end:
                let answer = HTTPResponseHead(version: .http1_1, status: status, headers: ["Content-Length": "0"])
                context.write(wrapOutboundOut(.head(answer)), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
                if let head { yield.yield(Request(head: head, body: body)) }
                body = Data()
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
