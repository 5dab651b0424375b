#if Services
import Holdfast
public import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS

/// A TLS server on this machine's loopback address, on a free port, that counts the data that reaches it.
///
/// ```swift
/// let leaf = try TestAuthority.root().leaf(names: ["localhost"])
/// try await withLoopbackTLSServer(serving: leaf) { server in
///     // connect to 127.0.0.1 at server.port
///     #expect(server.statistics.plaintextBytesReceived == 0)
/// }
/// ```
///
/// Any number of servers can run at the same time. All methods may be called from any thread.
public final class LoopbackTLSServer: Sendable {
    /// The address on which it listens.
    public let address: String
    /// The port on which it listens.
    public let port: Int

    private let options: Options
    private let state: LoopbackServerState
    private let listener: any Channel

    private init(options: Options, state: LoopbackServerState, listener: any Channel, port: Int) {
        self.address = options.address
        self.port = port
        self.options = options
        self.state = state
        self.listener = listener
    }

    /// Starts a server that presents the chain of a certificate, without its root.
    ///
    /// Throws `credentialsRefused` or `serverFailed`.
    public static func start(
        serving certificate: TestCertificate, options: Options = Options()
    ) async throws(TestKitError) -> LoopbackTLSServer {
        try await start(chain: certificate.chain, key: certificate.key, options: options)
    }

    /// Starts a server that presents any certificates, in DER. The first must belong to the key. The others may be
    /// anything that BoringSSL can parse, in any order.
    ///
    /// Throws `credentialsRefused` or `serverFailed`.
    public static func start(
        chain: [[UInt8]], key: TestKey, options: Options = Options()
    ) async throws(TestKitError) -> LoopbackTLSServer {
        let state = LoopbackServerState(context: try context(chain: chain, key: key, options: options))
        let bootstrap = ServerBootstrap(group: options.group)
            .serverChannelOption(.backlog, value: 256)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try setUp(channel, state: state, options: options) }
            }
        do {
            let listener = try await bootstrap.bind(host: options.address, port: options.port).get()
            guard let port = listener.localAddress?.port else {
                throw ChannelError.unknownLocalAddress
            }
            return LoopbackTLSServer(options: options, state: state, listener: listener, port: port)
        } catch {
            throw TestKitError(
                .serverFailed, expected: "a socket listening on \(options.address)", found: "\(error)",
                remedy: "Listen on 127.0.0.1, or on ::1 where the machine has IPv6.")
        }
    }

    /// The counters so far, all read at the same moment.
    public var statistics: Statistics { state.statistics }

    /// Presents the chain of another certificate from the next connection on. Throws `credentialsRefused`.
    public func serve(_ certificate: TestCertificate) throws(TestKitError) {
        try serve(chain: certificate.chain, key: certificate.key)
    }

    /// Presents other certificates from the next connection on. Earlier sessions cannot be resumed. Throws
    /// `credentialsRefused`.
    public func serve(chain: [[UInt8]], key: TestKey) throws(TestKitError) {
        state.replaceContext(try Self.context(chain: chain, key: key, options: options))
    }

    /// Waits, without polling, until the counters satisfy a condition. Throws `timedOut` after `limit`, or if the task
    /// is canceled.
    public func wait(
        limit: Duration = .seconds(120), until condition: @escaping @Sendable (Statistics) -> Bool
    ) async throws(TestKitError) {
        try await state.wait(limit: limit, on: listener.eventLoop, until: condition)
    }

    /// Waits until this many handshakes have succeeded since the start. Throws `timedOut`.
    public func waitForHandshakes(_ count: Int, limit: Duration = .seconds(120)) async throws(TestKitError) {
        try await wait(limit: limit) { $0.handshakesCompleted >= count }
    }

    /// Waits until this many handshakes have failed since the start. Throws `timedOut`.
    public func waitForFailedHandshakes(_ count: Int, limit: Duration = .seconds(120)) async throws(TestKitError) {
        try await wait(limit: limit) { $0.handshakesFailed >= count }
    }

    /// Waits until every connection that was accepted has ended. Throws `timedOut`.
    public func waitForDisconnection(limit: Duration = .seconds(120)) async throws(TestKitError) {
        try await wait(limit: limit) { $0.connectionsClosed == $0.connectionsAccepted }
    }

    /// Stops listening, cuts every connection without a close_notify, and returns when all connections are closed. May
    /// be called twice.
    public func shutdown() async {
        // The only possible error is that it is closed already.
        try? await listener.close().get()
        for channel in state.shutDown() {
            LoopbackServerState.cut(channel)
            try? await channel.closeFuture.get()
        }
    }

    private static func context(
        chain: [[UInt8]], key: TestKey, options: Options
    ) throws(TestKitError) -> NIOSSLContext {
        let certificates = try TLSConfiguration.certificates(chain)
        let clientRoots = try TLSConfiguration.certificates(options.clientRoots)
        do {
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: certificates.map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: key.privateKeyDER, format: .der)))
            configuration.minimumTLSVersion = options.oldestTLSVersion
            configuration.maximumTLSVersion = options.newestTLSVersion
            configuration.applicationProtocols = options.applicationProtocols
            configuration.verifySignatureAlgorithms = SignatureAlgorithm.acceptedInTests
            if !clientRoots.isEmpty {
                configuration.certificateVerification = .noHostnameVerification
                configuration.trustRoots = .certificates(clientRoots)
            }
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw TestKitError(
                .credentialsRefused, expected: "a chain whose first certificate belongs to the key", found: "\(error)",
                remedy: "Put the certificate of the key first.")
        }
    }

    private static func setUp(_ channel: any Channel, state: LoopbackServerState, options: Options) throws {
        let context = try state.accepted(channel)
        channel.closeFuture.whenComplete { _ in state.closed(channel) }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(ConnectionGate())
        guard options.behavior != .stalled else { return }
        let hello = SNIHandler { result in
            channel.eventLoop.makeCompletedFuture {
                if case .hostname(let name) = result { state.saw(serverName: name) } else { state.saw(serverName: nil) }
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(NIOSSLServerHandler(context: context))
                try pipeline.addHandler(ConnectionMonitor(state: state))
                try pipeline.addBehavior(options.behavior)
            }
        }
        try pipeline.addHandler(ByteToMessageHandler(hello))
    }
}

/// Starts a server that presents the chain of a certificate, runs `body` with it, and always shuts it down.
public func withLoopbackTLSServer<Result>(
    serving certificate: TestCertificate, options: LoopbackTLSServer.Options = .init(),
    _ body: (LoopbackTLSServer) async throws -> Result
) async throws -> Result {
    try await withLoopbackTLSServer(chain: certificate.chain, key: certificate.key, options: options, body)
}

/// Starts a server that presents any certificates, runs `body` with it, and always shuts it down.
public func withLoopbackTLSServer<Result>(
    chain: [[UInt8]], key: TestKey, options: LoopbackTLSServer.Options = .init(),
    _ body: (LoopbackTLSServer) async throws -> Result
) async throws -> Result {
    let server = try await LoopbackTLSServer.start(chain: chain, key: key, options: options)
    do {
        let result = try await body(server)
        await server.shutdown()
        return result
    } catch {
        await server.shutdown()
        throw error
    }
}
#endif
