import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Holdfast
import HoldfastNIO
import HoldfastTesting
import NIOCore
import Synchronization
import Testing

@Suite("gRPC over NIO", .timeLimit(.minutes(15)))
struct GRPCTests {
    private let servers: TestAuthority
    private let clients: TestAuthority
    private let leaf: TestCertificate
    private let device: TestCertificate

    init() throws {
        servers = try TestAuthority.root(name: "Server Root").intermediate()
        clients = try TestAuthority.root(name: "Client Root").intermediate()
        leaf = try servers.leaf(names: ["localhost"])
        device = try clients.leaf(names: ["device.example"], purposes: [.clientAuthentication])
    }

    /// Calls the service once, from a client that verifies its server with `client`, at a server that verifies its
    /// clients with `server`.
    private func call(
        presenting certificate: TestCertificate?, client: PeerVerification, server: PeerVerification
    ) async throws -> String {
        let transport = HTTP2ServerTransport.Posix(
            address: .ipv4(host: "127.0.0.1", port: 0),
            transportSecurity: .mTLS(
                certificateChain: [.bytes(Array(leaf.chainPEM.utf8), format: .pem)],
                privateKey: .bytes(leaf.key.privateKeyDER, format: .der)
            ) {
                $0.customVerificationCallback = server.callbackWithMetadata
            })
        return try await withGRPCServer(transport: transport, services: [Greeter()]) { _ in
            let port = try #require(try await transport.listeningAddress.ipv4?.port)
            let security = HTTP2ClientTransport.Posix.TransportSecurity.tls { configuration in
                if let certificate {
                    configuration.certificateChain = [.bytes(Array(certificate.chainPEM.utf8), format: .pem)]
                    configuration.privateKey = .bytes(certificate.key.privateKeyDER, format: .der)
                }
                configuration.serverCertificateVerification = .noHostnameVerification
                configuration.customVerificationCallback = client.callbackWithMetadata
            }
            return try await withGRPCClient(
                transport: .http2NIOPosix(target: .ipv4(address: "127.0.0.1", port: port), transportSecurity: security)
            ) { client in
                var options = CallOptions.defaults
                options.waitForReady = false
                options.timeout = .seconds(300)
                return try await client.unary(
                    request: ClientRequest(message: [UInt8]()), descriptor: Greeter.method, serializer: Bytes(),
                    deserializer: Bytes(), options: options
                ) { response in String(decoding: try response.message, as: UTF8.self) }
            }
        }
    }

    private func pinned(_ certificate: TestCertificate) throws -> PinSet {
        try PinSet(pins: [X509Certificate(der: certificate.der).publicKeyPin])
    }

    private func server(_ certificate: TestCertificate, _ log: DecisionLog = .init()) throws -> PeerVerification {
        PeerVerification(
            clients: try PinnedPolicy(clients: "devices", pins: pinned(certificate)),
            validator: PathValidator(anchors: try TrustAnchors(der: [clients.root])), onDecision: log.record)
    }

    private func client(
        _ certificate: TestCertificate, host: String = "localhost", _ log: DecisionLog = .init()
    ) throws -> PeerVerification {
        let host = try DialedHost(host)
        return PeerVerification(
            trust: .policy(try PinnedPolicy(host: HostPattern(host), pins: pinned(certificate))), host: host,
            validator: PathValidator(anchors: try TrustAnchors(der: [servers.root])), onDecision: log.record)
    }

    @Test("answers a client with a pinned key that pins its server, and the service is given the validated path")
    func trusted() async throws {
        let (atServer, atClient) = (DecisionLog(), DecisionLog())
        let answer = try await call(
            presenting: device, client: try client(leaf, atClient), server: try server(device, atServer))
        #expect(answer == Greeter.knownByPath)
        #expect(atServer.decisions.map(\.isTrusted) == [true])
        #expect(atServer.decisions.first?.path?.certificates.count == 3)
        #expect(atClient.decisions.map(\.isTrusted) == [true])
    }

    @Test("refuses a client with another key")
    func refusedClient() async throws {
        let log = DecisionLog()
        let other = try clients.impersonate(device)
        await #expect(throws: RPCError.self) {
            try await call(presenting: other, client: try client(leaf), server: try server(device, log))
        }
        #expect(log.decisions.first?.failure?.code == .pinMismatch)
        #expect(log.decisions.allSatisfy { !$0.isTrusted })
    }

    @Test("refuses a client without a certificate; the callback is not asked")
    func noCertificate() async throws {
        let log = DecisionLog()
        await #expect(throws: RPCError.self) {
            try await call(presenting: nil, client: try client(leaf), server: try server(device, log))
        }
        #expect(log.decisions.isEmpty)
    }

    @Test("is refused by a client that pins another key of its server")
    func refusedServer() async throws {
        let (atServer, atClient) = (DecisionLog(), DecisionLog())
        let other = try servers.impersonate(leaf)
        await #expect(throws: RPCError.self) {
            try await call(
                presenting: device, client: try client(other, atClient), server: try server(device, atServer))
        }
        #expect(atClient.decisions.first?.failure?.code == .pinMismatch)
        #expect(atServer.decisions.isEmpty)
    }

    @Test("is refused by a client for another host than the one the callback was made for")
    func otherHost() async throws {
        let log = DecisionLog()
        await #expect(throws: RPCError.self) {
            try await call(
                presenting: device, client: try client(leaf, host: "elsewhere.example", log),
                server: try server(device))
        }
        #expect(log.decisions.first?.failure?.code == .hostNameMismatch)
    }
}

private final class DecisionLog: Sendable {
    private let state = Mutex<[TrustDecision]>([])
    var decisions: [TrustDecision] { state.withLock { $0 } }
    var record: @Sendable (TrustDecision) -> Void { { decision in self.state.withLock { $0.append(decision) } } }
}

private struct Greeter: RegistrableRPCService {
    static let method = MethodDescriptor(fullyQualifiedService: "holdfast.Greeter", method: "Greet")
    static let knownByPath = "known by a path"

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        router.registerHandler(forMethod: Self.method, deserializer: Bytes(), serializer: Bytes()) { _, context in
            let peer = context.transportSpecific as? HTTP2ServerTransport.Posix.Context
            let answer = peer?.peerCertificateChain == nil ? "unknown" : Self.knownByPath
            return StreamingServerResponse(single: ServerResponse(message: Array(answer.utf8)))
        }
    }
}

private struct Bytes: MessageSerializer, MessageDeserializer {
    func serialize<Output: GRPCContiguousBytes>(_ message: [UInt8]) throws -> Output { Output(message) }

    func deserialize<Input: GRPCContiguousBytes>(_ bytes: Input) throws -> [UInt8] {
        unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    }
}
