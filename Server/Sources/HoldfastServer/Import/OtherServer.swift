public import Foundation
import Holdfast
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Another server that answers apps, asked over HTTP/1.1: over TLS, with a certificate that counts for its name, or on this
/// machine without. It is asked only what any app may ask. Redirections are answers like others, and are not followed.
public struct OtherServer: Sendable {
    /// What it answered.
    struct Answer: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let body: [UInt8]

        /// The only value of a header; nil if there is none or more than one.
        func header(_ name: String) -> String? {
            let values = headers[name]
            return values.count == 1 ? values[0] : nil
        }
    }

    /// How it is called in errors.
    let name: String
    private let host: String
    private let port: Int
    private let prefix: String
    private let tls: NIOSSLContext?
    private let group: any EventLoopGroup

    /// As large as any content that this server publishes.
    private static let greatestBody = Content.greatestSize
    private static let limit: TimeAmount = .seconds(20)
    private static let loopback = ["127.0.0.1", "::1", "localhost"]

    /// Names a server.
    /// - Parameters:
    ///   - url: the address below which it has `/app/init`.
    ///   - anchors: DER of the authorities that it must have a certificate of; nil for those of the system.
    /// - Throws: ``ServerError`` `invalidValue` for an address that is none, and for one without TLS beyond this machine.
    public init(_ url: URL, anchors: [[UInt8]]? = nil) throws(ServerError) {
        let host = (url.host() ?? "").trimmingCharacters(in: ["[", "]"])
        let path = url.path(percentEncoded: true)
        guard (1...255).contains(host.utf8.count), ASCIIText.isPrintable(host.utf8, 1...255), url.query() == nil,
            url.user() == nil, path.utf8.count <= 1_024, ["http", "https"].contains(url.scheme ?? "")
        else { throw Self.wrongAddress("another address") }
        let isEncrypted = url.scheme == "https"
        guard isEncrypted || Self.loopback.contains(host) else {
            throw Self.wrongAddress("an address without TLS on another machine")
        }
        self.host = host
        port = url.port ?? (isEncrypted ? 443 : 80)
        prefix = path.hasSuffix("/") ? String(path.dropLast()) : path
        name = "\(host):\(port)"
        tls = isEncrypted ? try Self.context(anchors) : nil
        group = MultiThreadedEventLoopGroup.singleton
    }

    private static func wrongAddress(_ found: String) -> ServerError {
        ServerError(
            .invalidValue, of: "address", expected: "https://HOST/, or http:// and an address of this machine",
            found: found, remedy: "Give the address below which apps ask for /app/init.")
    }

    private static func context(_ anchors: [[UInt8]]?) throws(ServerError) -> NIOSSLContext {
        do {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            if let anchors {
                configuration.trustRoots = .certificates(
                    try anchors.map { try NIOSSLCertificate(bytes: $0, format: .der) })
            }
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw ServerError(
                .invalidValue, of: "authorities", expected: "certificates", found: "others",
                remedy: "Name a file with the authorities that the old server's certificate is of.")
        }
    }

    /// Asks for something.
    /// - Parameter target: the path and the query, behind the address.
    /// - Throws: ``ServerError`` `unreachable` if there is no answer, or nobody that the name belongs to.
    func get(_ target: String, headers: [(name: String, value: String)] = []) async throws(ServerError) -> Answer {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: prefix + target)
        head.headers.add(name: "Host", value: host.contains(":") ? "[\(host)]:\(port)" : name)
        head.headers.add(name: "Connection", value: "close")
        for header in headers { head.headers.add(name: header.name, value: header.value) }
        let answer = group.any().makePromise(of: Answer.self)
        let collector = Collector(asking: head, limit: Self.greatestBody, within: Self.limit, answer)
        do {
            let channel = try await ClientBootstrap(group: group)
                .connectTimeout(Self.limit)
                .channelInitializer { [tls, host] channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        if let tls {
                            let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
                            try pipeline.addHandler(
                                NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : host))
                        }
                        try pipeline.addHTTPClientHandlers()
                        try pipeline.addHandler(collector.handler())
                    }
                }
                .connect(host: host, port: port).get()
            defer { channel.close(promise: nil) }
            return try await answer.futureResult.get()
        } catch let error as ServerError {
            throw error
        } catch {
            // A promise that nobody keeps would be one that was forgotten.
            answer.fail(error)
            let isStranger = error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError
            throw ServerError(
                .unreachable, of: name,
                expected: isStranger ? "a certificate that counts for the name" : "an answer",
                found: isStranger ? "another certificate, or no TLS" : "none",
                remedy: isStranger
                    ? "Name the old server's authorities with --ca, or ask it under the name that apps use." : nil)
        }
    }
}

/// Makes the handler that asks once and collects the answer.
private struct Collector: Sendable {
    let head: HTTPRequestHead
    let limit: Int
    let span: TimeAmount
    let answer: EventLoopPromise<OtherServer.Answer>

    init(
        asking head: HTTPRequestHead, limit: Int, within span: TimeAmount,
        _ answer: EventLoopPromise<OtherServer.Answer>
    ) {
        (self.head, self.limit, self.span, self.answer) = (head, limit, span, answer)
    }

    func handler() -> AnswerHandler { AnswerHandler(self) }
}

/// Asks once, and collects the answer.
private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private struct TooLarge: Error {}
    private struct NoAnswer: Error {}

    private let collector: Collector
    private var head: HTTPResponseHead?
    private var body: [UInt8] = []
    private var hasAnswered = false

    init(_ collector: Collector) { self.collector = collector }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        // Once there is an answer, the channel has ended and this changes nothing.
        context.eventLoop.scheduleTask(in: collector.span) { channel.close(promise: nil) }
        context.write(wrapOutboundOut(.head(collector.head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body(let part):
            guard body.count + part.readableBytes <= collector.limit else {
                finish(.failure(TooLarge()), context)
                return
            }
            body += part.readableBytesView
        case .end:
            guard let head else { return }
            finish(
                .success(
                    OtherServer.Answer(status: Int(head.status.code), headers: head.headers, body: body)), context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { finish(.failure(error), context) }

    func channelInactive(context: ChannelHandlerContext) {
        finish(.failure(NoAnswer()), context)
        context.fireChannelInactive()
    }

    private func finish(_ result: Result<OtherServer.Answer, any Error>, _ context: ChannelHandlerContext) {
        guard !hasAnswered else { return }
        hasAnswered = true
        collector.answer.completeWith(result)
        context.close(promise: nil)
    }
}
