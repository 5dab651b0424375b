import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import HoldfastNIO

@Suite("A client that a server refuses", .timeLimit(.minutes(15)))
struct RefusedClientTests {
    private let setting: MutualSetting

    init() throws {
        setting = try MutualSetting()
    }

    /// The application sees nothing of it but the reason; the client learns of it, with TLS 1.3 on its first read.
    private func expectRefusal(
        _ code: TrustFailure.Code, of certificate: TestCertificate?, by policy: any TrustPolicy, _ version: TLSVersion,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await MutualServer.with(try setting.server(policy, version)) { server in
            let client = try setting.client(presenting: certificate)
            if version == .tlsv12 {
                let attempt = try await ClientAttempt.make(client, address: server.address, port: server.port)
                #expect(attempt.decision.error is NIOSSLError, sourceLocation: sourceLocation)
                #expect(attempt.writeError != nil, sourceLocation: sourceLocation)
            } else {
                await #expect(throws: (any Error).self, sourceLocation: sourceLocation) {
                    try await ClientAttempt.make(client, address: server.address, port: server.port)
                }
            }
            let report = try await server.report()
            #expect(report.failure?.code == code, "\(String(describing: report))", sourceLocation: sourceLocation)
            #expect(report.errors.map { ($0 as? TrustFailure)?.code } == [code], sourceLocation: sourceLocation)
            #expect((report.askedClient?.error as? TrustFailure)?.code == code, sourceLocation: sourceLocation)
            #expect(report.client == nil, sourceLocation: sourceLocation)
            #expect(report.received.isEmpty, sourceLocation: sourceLocation)
            #expect(!report.sawHandshake, sourceLocation: sourceLocation)
        }
    }

    @Test("has another key than the pinned one", arguments: TrustedClientTests.versions)
    func otherKey(version: TLSVersion) async throws {
        let device = try setting.device()
        try await expectRefusal(
            .pinMismatch, of: try setting.issuing.impersonate(device), by: try setting.pinned(device), version)
    }

    /// Pins of one device, and what was found before others.
    private final class ToldPins: PinSource {
        let pins: PinSet
        let told = Lock<[(isTrusted: Bool, findings: [PinFinding])]>([])

        init(_ pins: PinSet) { self.pins = pins }

        func answer(to question: PinQuestion) -> PinAnswer { .required(pins, at: question.time) }

        func tell(_ decision: TrustDecision) {
            told.withLock { $0.append((decision.isTrusted, decision.findings)) }
        }
    }

    @Test("is told to the source of the pins, and so is one that it accepts, once each")
    func sourceIsTold() async throws {
        let device = try setting.device()
        let source = ToldPins(try PinSet(pins: [device.publicKeyPin()]))
        let policy = PinnedPolicy(scope: .clients("devices"), source: source)
        try await expectRefusal(.pinMismatch, of: try setting.issuing.impersonate(device), by: policy, .tlsv13)
        #expect(source.told.withLock { $0 }.map(\.findings) == [[.mismatch(.enforce)]])
        try await MutualServer.with(try setting.server(policy)) { server in
            _ = try? await ClientAttempt.make(
                try setting.client(presenting: device), address: server.address, port: server.port)
            let report = try await server.report()
            #expect(report.client != nil)
        }
        #expect(source.told.withLock { $0 }.map(\.isTrusted) == [false, true])
    }

    @Test("or accepts is told to the policy that decided, although another has taken its place meanwhile")
    func replacedMeanwhile() throws {
        let device = try setting.device()
        let sources = try (0..<2).map { _ in ToldPins(try PinSet(pins: [device.publicKeyPin()])) }
        let policies = sources.map { PinnedPolicy(scope: .clients("devices"), source: $0) }
        let current = Lock(0)
        let verification = PeerVerification(
            trust: { .policy(policies[current.withLock { $0 }]) }, purpose: .client,
            validator: try setting.validator(), clock: SystemWallClock())
        let (decision, source) = verification.judgment(of: PresentedChain(device.chain))
        #expect(decision.isTrusted && sources.allSatisfy { $0.told.withLock { $0.isEmpty } })
        current.withLock { $0 = 1 }
        verification.tell(decision.provedByHandshake, by: source)
        #expect(sources.map { $0.told.withLock { $0.count } } == [1, 0])
    }

    @Test("has no certificate", arguments: TrustedClientTests.versions)
    func noCertificate(version: TLSVersion) async throws {
        try await expectRefusal(.emptyChain, of: nil, by: try setting.pinned(try setting.device()), version)
    }

    @Test("has no certificate, even when the policy accepts everybody", arguments: TrustedClientTests.versions)
    func noCertificateForAnybody(version: TLSVersion) async throws {
        try await expectRefusal(
            .emptyChain, of: nil, by: CustomPolicy(host: try HostPattern("anybody.example")) { _ in true }, version)
    }

    @Test("is good for servers only", arguments: TrustedClientTests.versions)
    func wrongPurpose(version: TLSVersion) async throws {
        let certificate = try setting.issuing.leaf(names: ["device.example"])
        try await expectRefusal(
            .wrongExtendedKeyUsage, of: certificate, by: StandardPolicy(clients: "devices"), version)
    }

    @Test("has a key that may only decipher, which TLS 1.3 refuses by itself")
    func keyUsage() async throws {
        let device = try setting.device(key: .sharedRSA(bits: 2_048, index: 0)) { $0.keyUsage = [.keyEncipherment] }
        try await expectRefusal(.keyUsageForbidsTLS, of: device, by: try setting.pinned(device), .tlsv13)
    }

    @Test("has an expired certificate", arguments: TrustedClientTests.versions)
    func expired(version: TLSVersion) async throws {
        let device = try setting.device {
            $0.notBefore = .hours(-2)
            $0.notAfter = .hours(-1)
        }
        try await expectRefusal(.expired, of: device, by: try setting.pinned(device), version)
    }

    @Test("appends a pinned certificate to its own chain", arguments: TrustedClientTests.versions)
    func appended(version: TLSVersion) async throws {
        let device = try setting.device()
        let stranger = try setting.device("stranger")
        let policy = try setting.pinned(device)
        try await MutualServer.with(try setting.server(policy, version)) { server in
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.certificateChain = try (stranger.chain + [device.der]).map {
                .certificate(try NIOSSLCertificate(bytes: $0, format: .der))
            }
            configuration.privateKey = .privateKey(
                try NIOSSLPrivateKey(bytes: stranger.key.privateKeyDER, format: .der))
            let client = try setting.servers.client(for: "localhost", configuration: configuration)
            _ = try? await ClientAttempt.make(client, address: server.address, port: server.port)
            let report = try await server.report()
            #expect(report.failure?.code == .pinMismatch)
            #expect(report.client == nil)
        }
    }

    @Test("names a host whose policy would accept it: a certificate does not choose who judges it")
    func namesNoPolicy() async throws {
        let device = try setting.device("chosen")
        // This policy accepts any client under the name that the certificate claims, and is never asked.
        let manager = TrustManager(policies: [DisabledPolicy(host: try HostPattern("chosen.example"))])
        #expect(manager.policy(for: "chosen.example") != nil)
        try await expectRefusal(.pinMismatch, of: device, by: try setting.pinned(try setting.device()), .tlsv13)
    }

    @Test("sends something else than TLS")
    func noTLS() async throws {
        try await MutualServer.with(try setting.server(setting.pinned(setting.device()))) { server in
            let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(to: try SocketAddress(ipAddress: server.address, port: server.port)).get()
            try await channel.writeAndFlush(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n")).inTime()
            let report = try await server.report()
            #expect(report.decision?.error is NIOSSLError)
            #expect(report.received.isEmpty)
            try? await channel.close().inTime()
        }
    }

    @Test("completes a handshake in which nobody was asked and no certificate shown: no decision, no bytes")
    func noDecision() async throws {
        let sessions = try ClientSessions(
            configuration: ServerTLSConfiguration.derived(from: setting.configuration(), oldestTLSVersion: .tlsv12))
        let verification = PeerVerification(
            clients: try setting.pinned(setting.device()), validator: try setting.validator())
        var lax = try setting.configuration()
        lax.certificateVerification = .none
        let context = try NIOSSLContext(configuration: lax)
        let failures = AsyncStream.makeStream(of: (any Error).self)
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let decision = try TrustGateHandler.add(
                        behind: NIOSSLServerHandler(context: context),
                        judge: PeerJudge(verification, sessions: sessions), timeout: .seconds(60),
                        to: channel.pipeline.syncOperations, position: .last)
                    decision.whenFailure { failures.continuation.yield($0) }
                    decision.whenSuccess { Issue.record("decided \($0)") }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        _ = try? await ClientAttempt.make(
            try setting.client(presenting: nil), address: "127.0.0.1", port: port)
        for await error in failures.stream {
            #expect((error as? TLSAdapterError)?.code == .noDecision, "\(error)")
            break
        }
        try await listener.close().inTime()
    }
}
