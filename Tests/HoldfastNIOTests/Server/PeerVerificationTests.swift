import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@Suite("A callback for servers and clients that make their pipelines themselves", .timeLimit(.minutes(15)))
struct PeerVerificationTests {
    enum Shape: CaseIterable {
        case plain, metadata, async
    }

    private let setting: MutualSetting

    init() throws {
        setting = try MutualSetting()
    }

    private final class Decisions: Sendable {
        private let state = Lock<[TrustDecision]>([])
        var all: [TrustDecision] { state.withLock { $0 } }
        var record: @Sendable (TrustDecision) -> Void { { decision in self.state.withLock { $0.append(decision) } } }
    }

    private func handler(_ shape: Shape, _ verification: PeerVerification) throws -> NIOSSLServerHandler {
        let context = try NIOSSLContext(
            configuration: PeerVerification.serverConfiguration(from: setting.configuration(.tlsv12)))
        switch shape {
        case .plain:
            return NIOSSLServerHandler(context: context, customVerificationCallback: verification.callback)
        case .metadata:
            return NIOSSLServerHandler(
                context: context, customVerificationCallbackWithMetadata: verification.callbackWithMetadata)
        case .async:
            let callback = verification.asyncCallback
            return NIOSSLServerHandler(context: context) { certificates, promise in
                promise.completeWithTask { try await callback(certificates) }
            }
        }
    }

    private func withServer(
        _ shape: Shape, _ verification: PeerVerification, _ body: (Int) async throws -> Void
    ) async throws {
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(handler(shape, verification))
                    try channel.pipeline.syncOperations.addHandler(Answering())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            try await body(try #require(listener.localAddress?.port))
            try await listener.close().inTime()
        } catch {
            try? await listener.close().inTime()
            throw error
        }
    }

    @Test("lets a pinned client in, and tells of the decision", arguments: Shape.allCases)
    func trusted(shape: Shape) async throws {
        let device = try setting.device()
        let decisions = Decisions()
        let verification = PeerVerification(
            clients: try setting.pinned(device), validator: try setting.validator(), onDecision: decisions.record)
        try await withServer(shape, verification) { port in
            let attempt = try await ClientAttempt.make(
                try setting.client(presenting: device), address: "127.0.0.1", port: port)
            expectTrust(attempt, answer: "got ping\n")
        }
        #expect(decisions.all.map(\.matchedPins) == [[try device.publicKeyPin()]])
        #expect(decisions.all.first?.host == nil)
    }

    @Test("keeps a client with another key out, and tells why", arguments: Shape.allCases)
    func refused(shape: Shape) async throws {
        let device = try setting.device()
        let decisions = Decisions()
        let verification = PeerVerification(
            clients: try setting.pinned(device), validator: try setting.validator(), onDecision: decisions.record)
        try await withServer(shape, verification) { port in
            let attempt = try await ClientAttempt.make(
                try setting.client(presenting: try setting.issuing.impersonate(device)), address: "127.0.0.1",
                port: port)
            #expect(attempt.decision.error is NIOSSLError)
            #expect(attempt.received.isEmpty)
        }
        #expect(decisions.all.map { $0.failure?.code } == [.pinMismatch])
    }

    @Test("judges a server for the host that it was made with, and hands on the validated path")
    func clientSide() async throws {
        let other = try setting.servers.issuing.leaf(names: ["elsewhere.example"])
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        let context = try NIOSSLContext(configuration: configuration)
        let verification = PeerVerification(
            trust: .policy(try setting.servers.policy(for: "localhost")), host: try DialedHost("localhost"),
            validator: try setting.servers.validator())
        try await withLoopbackTLSServer(serving: setting.leaf) { server in
            func connect() async throws -> [[UInt8]]? {
                let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                    .channelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try channel.pipeline.syncOperations.addHandler(
                                NIOSSLClientHandler(
                                    context: context, serverHostname: "localhost",
                                    customVerificationCallbackWithMetadata: verification.callbackWithMetadata))
                        }
                    }
                    .connect(to: try SocketAddress(ipAddress: server.address, port: server.port)).get()
                try await channel.writeAndFlush(ByteBuffer(string: "ping\n")).inTime()
                let chain = try await channel.nioSSL_peerValidatedCertificateChain().inTime()
                try await channel.close().inTime()
                return try chain?.map { try $0.toDERBytes() }
            }
            let leaf = setting.leaf.der
            let chain = try await connect()
            #expect(chain == [leaf, setting.servers.issuing.certificate.der, setting.servers.root.root])
            try server.serve(other)
            await #expect(throws: (any Error).self) { try await connect() }
        }
        let served = try other.chain.map { try NIOSSLCertificate(bytes: $0, format: .der) }
        #expect(verification.evaluate(served).failure?.code == .hostNameMismatch)
    }
}
