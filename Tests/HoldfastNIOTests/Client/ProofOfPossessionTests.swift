import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@Suite("Before the handshake has proved the peer's key", .timeLimit(.minutes(15)))
struct ProofOfPossessionTests {
    private static let versions = [TLSVersion.tlsv12, .tlsv13]

    /// The decisions that a manager's observers received.
    private final class Told: Sendable {
        private let decisions = Lock<[TrustDecision]>([])
        var all: [TrustDecision] { decisions.withLock { $0 } }
        var record: @Sendable (TrustDecision) -> Void { { one in self.decisions.withLock { $0.append(one) } } }
    }

    @Test("nobody hears that a server is trusted that replays a chain without its key", arguments: versions)
    func replayedServer(version: TLSVersion) async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.com"])
        let manager = TrustManager(policies: [try setting.policy(for: "www.example.com")])
        let told = Told()
        manager.addObserver(told.record)
        try await ReplayedKey.withServer(presenting: leaf, version) { port in
            for trust in [TrustSource.manager(manager), .policy(try #require(manager.policy(for: "www.example.com")))] {
                let client = try setting.client(for: "www.example.com", trust: trust)
                let attempt = try await ClientAttempt.make(client, address: "127.0.0.1", port: port)
                #expect(attempt.decision.error is NIOSSLError, "\(attempt.decision)")
                #expect(attempt.received.isEmpty)
            }
        }
        #expect(told.all.map(\.isTrusted) == [])
    }

    @Test("nothing is told; after it the decision says so, once", arguments: versions)
    func provedServer(version: TLSVersion) async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.com"])
        let manager = TrustManager(policies: [try setting.policy(for: "www.example.com")])
        let told = Told()
        manager.addObserver(told.record)
        try await withLoopbackTLSServer(serving: leaf, options: .only(version)) { server in
            for trust in [TrustSource.manager(manager), .policy(try #require(manager.policy(for: "www.example.com")))] {
                let attempt = try await ClientAttempt.make(
                    try setting.client(for: "www.example.com", trust: trust), at: server)
                expectTrust(attempt)
                #expect(try attempt.decision.get().hasProofOfPossession)
            }
        }
        #expect(told.all.map(\.isTrusted) == [true, true])
        #expect(told.all.map(\.hasProofOfPossession) == [true, true])
    }

    @Test("a rejection is told, since it ends the handshake", arguments: versions)
    func rejected(version: TLSVersion) async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.net"])
        let manager = TrustManager(policies: [try setting.policy(for: "www.example.com")])
        let told = Told()
        manager.addObserver(told.record)
        try await ReplayedKey.withServer(presenting: leaf, version) { port in
            let client = try setting.client(for: "www.example.com", trust: .manager(manager))
            let attempt = try await ClientAttempt.make(client, address: "127.0.0.1", port: port)
            #expect(attempt.failure?.code == .hostNameMismatch)
        }
        #expect(told.all.map { $0.failure?.code } == [.hostNameMismatch])
        #expect(told.all.map(\.hasProofOfPossession) == [false])
    }

    @Test("a client that replays a chain without its key is nobody, and nobody hears of it", arguments: versions)
    func replayedClient(version: TLSVersion) async throws {
        let setting = try MutualSetting()
        let device = try setting.device()
        let manager = TrustManager(policies: [try setting.pinned(device)])
        let told = Told()
        manager.addObserver(told.record)
        let server = try setting.server(try #require(manager.policy(for: "devices")), version)
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateChain = try device.chain.map {
            .certificate(try NIOSSLCertificate(bytes: $0, format: .der))
        }
        configuration.privateKey = .privateKey(ReplayedKey.privateKey)
        try await MutualServer.with(server) { running in
            _ = try? await ClientAttempt.make(
                try setting.servers.client(for: "localhost", configuration: configuration), address: running.address,
                port: running.port)
            let report = try await running.report()
            #expect(report.client == nil)
            #expect(report.askedClient?.error is NIOSSLError, "\(String(describing: report.askedClient))")
            #expect(told.all.map(\.isTrusted) == [])
            expectTrust(
                try await ClientAttempt.make(
                    try setting.client(presenting: device), address: running.address, port: running.port),
                answer: "got ping\n")
            #expect(try await running.report().client != nil)
        }
        #expect(told.all.map(\.hasProofOfPossession) == [true])
    }

    @Test("a bare callback decides, and its decisions say that nothing is proved", arguments: versions)
    func bareCallback(version: TLSVersion) async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.com"])
        let told = Told()
        let verification = PeerVerification(
            trust: .policy(try setting.policy(for: "www.example.com")), host: try DialedHost("www.example.com"),
            validator: try setting.validator(), onDecision: told.record)
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = .certificates([])
        let context = try NIOSSLContext(configuration: configuration)
        try await ReplayedKey.withServer(presenting: leaf, version) { port in
            let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(
                                context: context, serverHostname: "www.example.com",
                                customVerificationCallback: verification.callback))
                    }
                }
                .connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: port)).get()
            let written = await channel.writeAndFlush(ByteBuffer(string: "ping\n")).result
            #expect(written.error != nil)
            try await channel.closeFuture.inTime()
        }
        #expect(told.all.map(\.isTrusted) == [true])
        #expect(told.all.map(\.hasProofOfPossession) == [false])
    }
}
