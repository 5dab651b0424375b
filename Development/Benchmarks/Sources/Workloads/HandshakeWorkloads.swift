import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import NIOCore
import NIOEmbedded
import NIOSSL

/// Handshakes of TLS 1.3 between two channels in memory: both ends' work on one thread, without waiting for a network.
public final class HandshakeWorkloads: Sendable {
    private let host: DialedHost
    private let server: NIOSSLContext
    private let boringSSL: NIOSSLContext
    private let callback: NIOSSLContext
    private let chain: ChainMaterial

    /// A server with this chain, and a client with BoringSSL's own verification.
    public init(_ chain: ChainMaterial) throws {
        self.chain = chain
        host = chain.host
        let configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try chain.presented.map {
                .certificate(try NIOSSLCertificate(bytes: $0, format: .der))
            },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: chain.leaf.key.privateKeyDER, format: .der)))
        server = try NIOSSLContext(configuration: configuration)
        boringSSL = try NIOSSLContext(configuration: .testClient(trusting: [chain.root]))
        var asking = TLSConfiguration.makeClientConfiguration()
        asking.certificateVerification = .noHostnameVerification
        asking.trustRoots = .certificates([])
        callback = try NIOSSLContext(configuration: asking)
    }

    /// BoringSSL verifies the chain, NIOSSL the host.
    public func withBoringSSL() -> Workload {
        let (boringSSL, host) = (boringSSL, host)
        return handshake("NIOSSL handshake, BoringSSL verifies") { client in
            try client.pipeline.syncOperations.addHandler(
                try NIOSSLClientHandler(context: boringSSL, serverHostname: host.name))
        }
    }

    /// The callback accepts everything: this is the cost that no verifier can avoid.
    public func withoutVerification() -> Workload {
        let (context, host) = (callback, host)
        return handshake("NIOSSL handshake, nobody verifies") { client in
            try client.pipeline.syncOperations.addHandler(
                try NIOSSLClientHandler(
                    context: context, serverHostname: host.name,
                    customVerificationCallback: { _, promise in promise.succeed(.certificateVerified) }))
        }
    }

    /// The callback verifies only the signatures of the path with swift-crypto: the minimum for a verifier with a
    /// library other than TLS's own.
    public func withBareSignatures() throws -> Workload {
        let signatures = try zip(chain.path, chain.path.dropFirst()).map { try BareSignature(of: $0, by: $1) }
        let (context, host) = (callback, host)
        return handshake("NIOSSL handshake, swift-crypto verifies the bare signatures") { client in
            try client.pipeline.syncOperations.addHandler(
                try NIOSSLClientHandler(
                    context: context, serverHostname: host.name,
                    customVerificationCallback: { _, promise in
                        let isVerified = signatures.allSatisfy { (try? $0.verifies()) == true }
                        promise.succeed(isVerified ? .certificateVerified : .failed)
                    }))
        }
    }

    /// Holdfast verifies, with nothing remembered or with the path in its cache.
    public func withHoldfast(cached: Bool) throws -> Workload {
        let validator = PathValidator(anchors: chain.anchors, cache: cached ? VerifiedPathCache() : nil)
        let client = try PinnedTLSClient(
            trust: .policy(StandardPolicy(host: try HostPattern(host.name))), host: host, validator: validator)
        return handshake("NIOSSL handshake, Holdfast verifies, \(cached ? "cached" : "new") path") { channel in
            try client.addHandlers(to: channel.pipeline.syncOperations)
        }
    }

    /// Holdfast verifies and finds a pin.
    public func withHoldfastPins(cached: Bool) throws -> Workload {
        let validator = PathValidator(anchors: chain.anchors, cache: cached ? VerifiedPathCache() : nil)
        let pins = try PinSet(pins: [try Pin.publicKey(of: chain.root)])
        let policy = try PinnedPolicy(host: try HostPattern(host.name), pins: pins)
        let client = try PinnedTLSClient(trust: .policy(policy), host: host, validator: validator)
        return handshake("NIOSSL handshake, Holdfast with pins, \(cached ? "cached" : "new") path") { channel in
            try client.addHandlers(to: channel.pipeline.syncOperations)
        }
    }

    private func handshake(
        _ name: String, client configure: @escaping @Sendable (EmbeddedChannel) throws -> Void
    ) -> Workload {
        let context = server
        return Workload(name) {
            let loop = EmbeddedEventLoop()
            let client = EmbeddedChannel(loop: loop)
            let server = EmbeddedChannel(loop: loop)
            try server.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
            try configure(client)
            let address = try SocketAddress(ipAddress: "127.0.0.1", port: 443)
            client.connect(to: address, promise: nil)
            server.connect(to: address, promise: nil)
            client.writeAndFlush(ByteBuffer(string: "ping"), promise: nil)
            guard try exchange(client, server) == "ping" else { throw WorkloadError("\(name): nothing arrived") }
            // Close both ends completely, so that the next round does not pay for it.
            client.close(promise: nil)
            _ = try? exchange(client, server)
            server.close(promise: nil)
            _ = try? exchange(client, server)
            try require(!client.isActive && !server.isActive, "\(name): a channel stays open")
        }
    }
}

/// Carries bytes between two channels until the server has received something, or nothing moves anymore.
private func exchange(_ client: EmbeddedChannel, _ server: EmbeddedChannel) throws -> String? {
    var isMoving = true
    while isMoving {
        isMoving = false
        client.embeddedEventLoop.run()
        while let data = try client.readOutbound(as: ByteBuffer.self) {
            isMoving = true
            try server.writeInbound(data)
        }
        while let data = try server.readOutbound(as: ByteBuffer.self) {
            isMoving = true
            try client.writeInbound(data)
        }
        if let received = try server.readInbound(as: ByteBuffer.self) { return String(buffer: received) }
    }
    return nil
}
