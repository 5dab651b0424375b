import Foundation
import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTesting
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import Testing

@Suite("A Hummingbird server", .timeLimit(.minutes(15)))
struct HummingbirdTests {
    /// The ways to have its clients judged.
    enum Way: CaseIterable {
        case callback, asyncCallback, pinnedServer
    }

    private static let versions: [TLSVersion] = [.tlsv12, .tlsv13]
    private static let request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    private static let answer = "trusted by hummingbird"

    private let servers: TestAuthority
    private let clients: TestAuthority
    private let leaf: TestCertificate
    private let device: TestCertificate

    init() throws {
        servers = try TestAuthority.root(name: "Server Root")
        clients = try TestAuthority.root(name: "Client Root").intermediate()
        leaf = try servers.leaf(names: ["localhost"])
        device = try clients.leaf(names: ["device.example"], purposes: [.clientAuthentication])
    }

    private func builder(_ way: Way, _ policy: any TrustPolicy, _ version: TLSVersion?) throws -> HTTPServerBuilder {
        var configuration = TLSConfiguration.makeServerConfigurationWithMTLS(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: leaf.der, format: .der))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: leaf.key.privateKeyDER, format: .der)),
            trustRoots: .default)
        configuration.minimumTLSVersion = version ?? .tlsv12
        configuration.maximumTLSVersion = version
        let validator = PathValidator(anchors: try TrustAnchors(der: [clients.root]))
        let verification = PeerVerification(clients: policy, validator: validator)
        switch way {
        case .callback:
            return try .tls(
                configuration: TLSChannelConfiguration(
                    tlsConfiguration: try PeerVerification.serverConfiguration(from: configuration),
                    customVerificationCallback: verification.callback))
        case .asyncCallback:
            return try .tls(
                configuration: TLSChannelConfiguration(
                    tlsConfiguration: try PeerVerification.serverConfiguration(from: configuration),
                    customAsyncVerificationCallback: verification.asyncCallback))
        case .pinnedServer:
            let server = try PinnedTLSServer(clients: policy, configuration: configuration, validator: validator)
            return makeBuilder(server: server)
        }
    }

    private func withServer(
        _ way: Way, _ policy: any TrustPolicy, _ version: TLSVersion? = nil, _ body: (Int) async throws -> Void
    ) async throws {
        let router = Router()
        router.get("/") { _, _ in Self.answer }
        let (ports, continuation) = AsyncStream.makeStream(of: Int?.self)
        let application = Application(
            router: router, server: try builder(way, policy, version),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { continuation.yield($0.localAddress?.port) },
            logger: Logger(label: "hummingbird") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                // It ends by being canceled.
                try? await application.run()
                continuation.finish()
            }
            for await port in ports {
                try await body(try #require(port))
                break
            }
            group.cancelAll()
        }
    }

    /// The server's answer to our own client.
    private func answer(to certificate: TestCertificate?, at port: Int) async throws -> String {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let certificate {
            configuration.certificateChain = try certificate.chain.map {
                .certificate(try NIOSSLCertificate(bytes: $0, format: .der))
            }
            configuration.privateKey = .privateKey(
                try NIOSSLPrivateKey(bytes: certificate.key.privateKeyDER, format: .der))
        }
        let client = try PinnedTLSClient(
            trust: .policy(StandardPolicy(host: HostPattern("localhost"))), host: DialedHost("localhost"),
            configuration: configuration, validator: PathValidator(anchors: TrustAnchors(der: [servers.root])))
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connect(
            to: client, at: try SocketAddress(ipAddress: "127.0.0.1", port: port)
        ) { try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: $0) }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: Self.request))
            var text = ""
            for try await buffer in inbound { text += String(buffer: buffer) }
            return text
        }
    }

    private func pinned(_ certificate: TestCertificate) throws -> PinnedPolicy {
        try PinnedPolicy(
            clients: "devices", pins: PinSet(pins: [X509Certificate(der: certificate.der).publicKeyPin]))
    }

    @Test("answers a client with a pinned key", arguments: Way.allCases, versions)
    func trusted(way: Way, version: TLSVersion) async throws {
        try await withServer(way, pinned(device), version) { port in
            let text = try await answer(to: device, at: port)
            #expect(text.contains(Self.answer), "\(text)")
        }
    }

    @Test("refuses a client with another key, and one without a certificate", arguments: Way.allCases, versions)
    func refused(way: Way, version: TLSVersion) async throws {
        let other = try clients.impersonate(device)
        try await withServer(way, pinned(device), version) { port in
            await #expect(throws: (any Error).self) { try await answer(to: other, at: port) }
            await #expect(throws: (any Error).self) { try await answer(to: nil, at: port) }
        }
    }

    @Test(
        "lets a resumed session in unasked behind a callback, and judges it again as a PinnedTLSServer",
        .enabled(if: OpenSSLClient.isAvailable, "needs OpenSSL 3"), arguments: Way.allCases, versions)
    func resumed(way: Way, version: TLSVersion) async throws {
        let policy = ExchangeablePolicy(StandardPolicy(clients: "devices"))
        let stricter = try pinned(try clients.impersonate(device))
        try await withServer(way, policy, version) { port in
            try await withTemporaryFolder { folder in
                let client = OpenSSLClient(folder: folder, port: port, version: version)
                let first = try await client.send(Self.request, presenting: device)
                #expect(first.isNew && first.text.contains(Self.answer), "\(first.text)")
                policy.exchange(for: stricter)
                let second = try await client.send(Self.request, presenting: device, resuming: true)
                #expect(second.isResumed, "\(second.text)")
                // A callback cannot evaluate a resumed session again, as its documentation says.
                #expect(second.text.contains(Self.answer) == (way != .pinnedServer), "\(second.text)")
            }
        }
    }
}

/// A policy that may be exchanged behind the server's back, as one is that fetches its pins.
private final class ExchangeablePolicy: TrustPolicy {
    private let base: Mutex<any TrustPolicy>

    init(_ base: any TrustPolicy) {
        self.base = Mutex(base)
    }

    let scope = PolicyScope.clients("exchangeable")

    func exchange(for policy: any TrustPolicy) {
        base.withLock { $0 = policy }
    }

    func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        base.withLock { $0 }.evaluate(trust, at: time)
    }
}
