import Foundation
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

@testable import HostMonitoring
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore

/// Receives notices over TLS on loopback, and answers as a test wants.
final class WebhookReceiver: Sendable {
    /// A request as it came.
    struct Request: Sendable {
        let head: String
        let body: [UInt8]

        func header(_ name: String) -> String? { RawAnswer(head + "\r\n\r\n").header(name) }
    }

    /// How it answers.
    enum Behavior: Sendable {
        /// With bytes, and ends the connection.
        case answers(String)
        /// Not at all.
        case isSilent
        /// With a status, and a body that has no end.
        case floods
        /// Ends the connection without a word.
        case hangsUp

        static let takes = Behavior.answers("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n")

        static func status(_ code: Int) -> Behavior {
            .answers("HTTP/1.1 \(code) Status\r\nContent-Length: 0\r\n\r\n")
        }
    }

    static let host = "hooks.example.net"
    static let line = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

    let port: Int
    private let behavior: Mutex<Behavior>
    private let received = Mutex<[Request]>([])

    private init(port: Int, _ behavior: Behavior) {
        self.port = port
        self.behavior = Mutex(behavior)
    }

    /// The requests that it has received.
    var requests: [Request] { received.withLock { $0 } }

    func answer(_ behavior: Behavior) { self.behavior.withLock { $0 = behavior } }

    /// Runs a test with a receiver that has a certificate.
    static func run(
        _ certificate: TestCertificate, _ behavior: Behavior = .takes, _ body: (WebhookReceiver) async throws -> Void
    ) async throws {
        let chain = try certificate.chain.map {
            NIOSSLCertificateSource.certificate(try NIOSSLCertificate(bytes: $0, format: .der))
        }
        let key = try NIOSSLPrivateKey(bytes: certificate.key.privateKeyDER, format: .der)
        let context = try NIOSSLContext(
            configuration: .makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(key)))
        let holder = Mutex<WebhookReceiver?>(nil)
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let receiver = holder.withLock({ $0 }) else { throw ChannelError.eof }
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.addHandler(Answering(receiver))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let receiver = WebhookReceiver(port: channel.localAddress?.port ?? 0, behavior)
        holder.withLock { $0 = receiver }
        let result: Result<Void, any Error>
        do { result = .success(try await body(receiver)) } catch { result = .failure(error) }
        try await channel.close()
        try result.get()
    }

    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let receiver: WebhookReceiver
        private var bytes = ByteBuffer()

        init(_ receiver: WebhookReceiver) { self.receiver = receiver }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var read = unwrapInboundIn(data)
            bytes.writeBuffer(&read)
            let text = String(buffer: bytes)
            guard let middle = text.firstRange(of: "\r\n\r\n") else { return }
            let request = Request(
                head: String(text[..<middle.lowerBound]), body: Array(text[middle.upperBound...].utf8))
            guard request.body.count >= Int(request.header("Content-Length") ?? "") ?? 0 else { return }
            bytes.clear()
            receiver.received.withLock { $0.append(request) }
            switch receiver.behavior.withLock({ $0 }) {
            case .isSilent: break
            case .hangsUp: context.close(promise: nil)
            case .floods:
                send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", context)
                flood(context)
            case .answers(let text):
                send(text, context)
                context.close(promise: nil)
            }
        }

        private func send(_ text: String, _ context: ChannelHandlerContext) {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        }

        /// As much as the other side takes, until it ends the connection.
        private func flood(_ context: ChannelHandlerContext) {
            let chunk = "10000\r\n" + String(repeating: "a", count: 0x10000) + "\r\n"
            let written = context.eventLoop.makePromise(of: Void.self)
            // Not from within the write before it: what the kernel takes at once would be on one stack.
            written.futureResult.assumeIsolated().whenSuccess {
                context.eventLoop.assumeIsolated().execute { self.flood(context) }
            }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: chunk)), promise: written)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
