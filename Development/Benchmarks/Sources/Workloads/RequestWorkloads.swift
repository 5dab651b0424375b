import AsyncHTTPClient
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL

/// HTTPS requests to a server on the loopback address, with `PinnedHTTPClient` and with AsyncHTTPClient alone.
public final class RequestWorkloads: Sendable {
    /// The server's own thread: on a client's thread, an answer would not need to wake another thread.
    private let serverLoops: MultiThreadedEventLoopGroup
    private let server: LoopbackTLSServer
    private let root: [UInt8]
    private let manager: TrustManager
    private let validator: PathValidator
    private let plain: HTTPClient
    private let pinned: PinnedHTTPClient

    /// Starts a server and two clients; end them with ``shutdown()``.
    public init() async throws {
        let leaf = try TestAuthority.root(name: "Benchmark Root").intermediate().leaf(names: ["localhost"])
        root = leaf.root
        serverLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        server = try await LoopbackTLSServer.start(
            serving: leaf, options: .init(behavior: .http(), applicationProtocols: ["http/1.1"], group: serverLoops))
        let pins = try PinSet(pins: [try Pin.publicKey(of: leaf.root)])
        manager = TrustManager(policies: [try PinnedPolicy(host: HostPattern("localhost"), pins: pins)])
        validator = PathValidator(anchors: try TrustAnchors(der: [leaf.root]), cache: VerifiedPathCache())
        plain = try Self.plainClient(trusting: root)
        pinned = try Self.pinnedClient(manager, validator)
    }

    /// Ends clients and server.
    public func shutdown() async throws {
        try await pinned.shutdown()
        try await plain.shutdown()
        await server.shutdown()
        try await serverLoops.shutdownGracefully()
    }

    /// GETs with AsyncHTTPClient: each with another client, and so over a new connection, or all over one.
    public func withAsyncHTTPClient(newConnection: Bool) -> Workload {
        let (client, root, url) = (plain, root, url)
        return workload("AsyncHTTPClient", newConnection) {
            let used = newConnection ? try Self.plainClient(trusting: root) : client
            try await Self.read(try await used.execute(HTTPClientRequest(url: url), timeout: .seconds(30)))
            if newConnection { try await used.shutdown() }
        }
    }

    /// GETs with `PinnedHTTPClient`: each with another client, which needs a second handshake to get the chain, or all
    /// over one connection.
    public func withPinnedHTTPClient(newConnection: Bool) -> Workload {
        let (client, manager, validator, url) = (pinned, manager, validator, url)
        return workload("PinnedHTTPClient", newConnection) {
            let used = newConnection ? try Self.pinnedClient(manager, validator) : client
            try await Self.read(try await used.execute(HTTPClientRequest(url: url), timeout: .seconds(30)))
            if newConnection { try await used.shutdown() }
        }
    }

    private var url: String { "https://localhost:\(server.port)/" }

    private func workload(
        _ name: String, _ newConnection: Bool, once: @escaping @Sendable () async throws -> Void
    ) -> Workload {
        let name = "\(name), \(newConnection ? "first request of a new client" : "pooled connection")"
        return Workload(name, clock: .wall) { times in for _ in 0..<times { try await once() } }
    }

    private static func plainClient(trusting root: [UInt8]) throws -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = try .testClient(trusting: [root])
        configuration.httpVersion = .http1Only
        return HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
    }

    private static func pinnedClient(
        _ manager: TrustManager, _ validator: PathValidator
    ) throws -> PinnedHTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.httpVersion = .http1Only
        return try PinnedHTTPClient(manager: manager, validator: validator, configuration: configuration)
    }

    private static func read(_ response: HTTPClientResponse) async throws {
        let body = try await response.body.collect(upTo: 1_024)
        try require(response.status == .ok && body.readableBytes > 0, "status \(response.status)")
    }
}
