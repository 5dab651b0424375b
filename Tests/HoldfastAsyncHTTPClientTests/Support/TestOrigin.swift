import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS

/// An HTTP server on the loopback address that answers as a test says and counts what reaches it.
final class TestOrigin: Sendable {
    struct Request: Sendable {
        var method: HTTPMethod
        var uri: String
        var headers: HTTPHeaders
        var body: String = ""
        var bodyBytes = 0
    }

    struct Reply: Sendable {
        var status = HTTPResponseStatus.ok
        var headers: HTTPHeaders = [:]
        var body = "ok"
        /// How many times the body is sent.
        var repetitions = 1
        /// Whether the response never ends.
        var stalls = false
        /// Whether there is no response at all.
        var isSilent = false

        static func redirect(_ status: HTTPResponseStatus, to location: String) -> Reply {
            Reply(status: status, headers: ["location": location])
        }
    }

    struct Counters: Sendable {
        /// The protocols agreed on by ALPN, one per handshake.
        var protocols: [String] = []
        var accepted = 0
        var closed = 0
        var handshakes = 0
        /// Decrypted bytes; over HTTP/2 with preface and settings.
        var plaintextBytes = 0
        var requests: [Request] = []
        var serverName: String?
        var clientCertificates = 0
        /// The first bytes received on each connection, as they are on the wire.
        var wire: [Int: [UInt8]] = [:]
    }

    struct Options: Sendable {
        var isPlain = false
        var protocols: [String] = []
        var newestVersion: TLSVersion?
        /// Roots of client certificates, which are demanded where there are any.
        var clientRoots: [[UInt8]] = []
        /// Signs in the place of the certificate's own key.
        var key: NIOSSLPrivateKey?
        /// Sent behind the server's first SETTINGS.
        var http2Greeting: [HTTP2Frame.FramePayload] = []
        /// Presents a new certificate for each connection.
        var certificate: (@Sendable (_ connection: Int) throws -> TestCertificate)?
    }

    typealias Answer = @Sendable (Request) -> Reply

    private struct State {
        var counters = Counters()
        var waiters: [(condition: @Sendable (Counters) -> Bool, promise: EventLoopPromise<Void>)] = []
        var channels: [ObjectIdentifier: any Channel] = [:]
        var certificate: TestCertificate?
    }

    let port: Int
    private let listener: any Channel
    private let state: StateBox

    final class StateBox: Sendable {
        private let state: Lock<State>
        init(certificate: TestCertificate?) { state = Lock(State(certificate: certificate)) }

        var counters: Counters { state.withLock { $0.counters } }
        var certificate: TestCertificate? {
            get { state.withLock { $0.certificate } }
            set { state.withLock { $0.certificate = newValue } }
        }
        var channels: [any Channel] { state.withLock { Array($0.channels.values) } }

        func opened(_ channel: any Channel) -> Int {
            state.withLock {
                $0.channels[ObjectIdentifier(channel)] = channel
                $0.counters.accepted += 1
                return $0.counters.accepted
            }
        }

        func closed(_ channel: any Channel) {
            state.withLock { $0.channels[ObjectIdentifier(channel)] = nil }
            change { $0.closed += 1 }
        }

        func change(_ body: (inout Counters) -> Void) {
            let satisfied = state.withLock { state in
                body(&state.counters)
                let counters = state.counters
                let satisfied = state.waiters.filter { $0.condition(counters) }
                state.waiters.removeAll { $0.condition(counters) }
                return satisfied
            }
            for waiter in satisfied { waiter.promise.succeed() }
        }

        func wait(on loop: any EventLoop, until condition: @escaping @Sendable (Counters) -> Bool) async throws {
            let promise = loop.makePromise(of: Void.self)
            let isSatisfied = state.withLock { state in
                if condition(state.counters) { return true }
                state.waiters.append((condition, promise))
                return false
            }
            if isSatisfied { promise.succeed() }
            promise.fail(ChannelError.connectTimeout(.minutes(5)), after: .minutes(5))
            try await promise.futureResult.get()
        }
    }

    private init(listener: any Channel, port: Int, state: StateBox) {
        self.listener = listener
        self.port = port
        self.state = state
    }

    var counters: Counters { state.counters }

    func wait(until condition: @escaping @Sendable (Counters) -> Bool) async throws {
        try await state.wait(on: listener.eventLoop, until: condition)
    }

    func waitForDisconnection() async throws { try await wait { $0.accepted == $0.closed } }

    func serve(_ certificate: TestCertificate) { state.certificate = certificate }

    static func start(
        _ certificate: TestCertificate?, options: Options = Options(), answer: @escaping Answer = { _ in Reply() }
    ) async throws -> TestOrigin {
        let state = StateBox(certificate: certificate)
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let number = state.opened(channel)
                    channel.closeFuture.whenComplete { _ in state.closed(channel) }
                    guard !options.isPlain else {
                        try channel.pipeline.syncOperations.addHandler(ByteMonitor(state))
                        return try addHTTP1(to: channel, state, answer)
                    }
                    let served = try options.certificate?(number) ?? state.certificate
                    guard let served else { throw ChannelError.ioOnClosedChannel }
                    try channel.pipeline.syncOperations.addHandler(WireMonitor(state, number))
                    try addTLS(to: channel, serving: served, state, options, answer)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return TestOrigin(listener: listener, port: listener.localAddress?.port ?? 0, state: state)
    }

    private static func addTLS(
        to channel: any Channel, serving certificate: TestCertificate, _ state: StateBox, _ options: Options,
        _ answer: @escaping Answer
    ) throws {
        var configuration = try TLSConfiguration.testServer(certificate, protocols: options.protocols)
        configuration.maximumTLSVersion = options.newestVersion
        if let key = options.key { configuration.privateKey = .privateKey(key) }
        if !options.clientRoots.isEmpty {
            configuration.certificateVerification = .noHostnameVerification
            // BoringSSL's own list has neither P-521 nor Ed25519.
            configuration.verifySignatureAlgorithms = [
                .ecdsaSecp256R1Sha256, .ecdsaSecp384R1Sha384, .ecdsaSecp521R1Sha512, .ed25519, .rsaPssRsaeSha256,
                .rsaPkcs1Sha256,
            ]
            configuration.trustRoots = .certificates(
                try options.clientRoots.map { try NIOSSLCertificate(bytes: $0, format: .der) })
        }
        let context = try NIOSSLContext(configuration: configuration)
        let hello = SNIHandler { result in
            if case .hostname(let name) = result { state.change { $0.serverName = name } }
            return channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(NIOSSLServerHandler(context: context))
                try pipeline.addHandler(ByteMonitor(state))
                try pipeline.addHandler(
                    ApplicationProtocolNegotiationHandler { result, channel in
                        channel.eventLoop.makeCompletedFuture {
                            state.change {
                                $0.handshakes += 1
                                if case .negotiated(let name) = result { $0.protocols.append(name) }
                            }
                            if (try? channel.pipeline.syncOperations.nioSSL_peerCertificate()) != nil {
                                state.change { $0.clientCertificates += 1 }
                            }
                            guard result == .negotiated("h2") else { return try addHTTP1(to: channel, state, answer) }
                            try addHTTP2(to: channel, state, options, answer)
                        }
                    })
            }
        }
        try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(hello))
    }

    private static func addHTTP1(to channel: any Channel, _ state: StateBox, _ answer: @escaping Answer) throws {
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
        try channel.pipeline.syncOperations.addHandler(Answerer(state, answer))
    }

    private static func addHTTP2(
        to channel: any Channel, _ state: StateBox, _ options: Options, _ answer: @escaping Answer
    ) throws {
        let greeting = options.http2Greeting
        let multiplexer = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
            mode: .server, connectionConfiguration: .init(), streamConfiguration: .init()
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandler(HTTP2FramePayloadToHTTP1ServerCodec())
                try stream.pipeline.syncOperations.addHandler(Answerer(state, answer))
            }
        }
        _ = multiplexer
        guard !greeting.isEmpty else { return }
        let http2 = try channel.pipeline.syncOperations.context(handlerType: NIOHTTP2Handler.self)
        for payload in greeting {
            http2.channel.write(HTTP2Frame(streamID: .rootStream, payload: payload), promise: nil)
        }
        http2.channel.flush()
    }

    /// Stops listening and cuts every connection without a goodbye of TLS, which a client may not answer.
    func shutdown() async {
        try? await listener.close().get()
        await cutAll()
    }

    /// Cuts every connection without a goodbye of TLS.
    func cutAll() async {
        for channel in state.channels {
            channel.eventLoop.execute {
                let pipeline = channel.pipeline.syncOperations
                if let tls = try? pipeline.context(handlerType: NIOSSLServerHandler.self) {
                    tls.close(promise: nil)
                } else {
                    channel.close(promise: nil)
                }
            }
            try? await channel.closeFuture.get()
        }
    }

    /// Keeps what comes.
    private final class WireMonitor: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let state: StateBox
        private let number: Int

        init(_ state: StateBox, _ number: Int) {
            self.state = state
            self.number = number
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let octets = unwrapInboundIn(data).readableBytesView
            state.change { counters in
                guard counters.wire[number, default: []].count < 1 << 16 else { return }
                counters.wire[number, default: []] += octets
            }
            context.fireChannelRead(data)
        }
    }

    /// Counts plaintext.
    private final class ByteMonitor: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let state: StateBox
        init(_ state: StateBox) { self.state = state }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let count = unwrapInboundIn(data).readableBytes
            state.change { $0.plaintextBytes += count }
            context.fireChannelRead(data)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    private final class Answerer: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart
        private let state: StateBox
        private let answer: Answer
        private var request: Request?

        init(_ state: StateBox, _ answer: @escaping Answer) {
            self.state = state
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head):
                request = Request(method: head.method, uri: head.uri, headers: head.headers)
            case .body(let part):
                request?.bodyBytes += part.readableBytes
                if part.readableBytes < 1_000 { request?.body += String(buffer: part) }
            case .end:
                guard let request else { return }
                state.change { $0.requests.append(request) }
                send(answer(request), to: request, context)
            }
        }

        private func send(_ reply: Reply, to request: Request, _ context: ChannelHandlerContext) {
            guard !reply.isSilent else { return }
            var headers = reply.headers
            let closes = headers["connection"].contains("close")
            if !reply.stalls {
                headers.add(name: "content-length", value: "\(reply.body.utf8.count * reply.repetitions)")
            }
            let head = HTTPResponseHead(version: .http1_1, status: reply.status, headers: headers)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            for _ in 0..<reply.repetitions where request.method != .HEAD {
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: reply.body)))), promise: nil)
            }
            context.flush()
            guard !reply.stalls else { return }
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            if closes { context.close(promise: nil) }
        }
    }
}

/// Starts a server, runs `body` with it, and shuts it down whatever happens.
func withOrigin<Result>(
    _ certificate: TestCertificate?, options: TestOrigin.Options = .init(),
    answer: @escaping TestOrigin.Answer = { _ in .init() }, _ body: (TestOrigin) async throws -> Result
) async throws -> Result {
    let origin = try await TestOrigin.start(certificate, options: options, answer: answer)
    do {
        let result = try await body(origin)
        await origin.shutdown()
        return result
    } catch {
        await origin.shutdown()
        throw error
    }
}
