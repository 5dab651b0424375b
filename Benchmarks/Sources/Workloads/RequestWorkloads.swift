import AsyncHTTPClient
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOSSL

/// HTTPS requests to a server on the loopback address, with `PinnedHTTPClient` and with AsyncHTTPClient alone.
public final class RequestWorkloads: Sendable {
    private let server: LoopbackTLSServer
    private let plain: HTTPClient
    private let pinned: PinnedHTTPClient
    private let url: String

    /// Starts a server and both clients; end them with ``shutdown()``.
    public init() async throws {
        let leaf = try TestAuthority.root(name: "Benchmark Root").intermediate().leaf(names: ["localhost"])
        server = try await LoopbackTLSServer.start(
            serving: leaf, options: .init(behaviour: .http(), applicationProtocols: ["http/1.1"]))
        url = "https://localhost:\(server.port)/"
        var configuration = HTTPClient.Configuration()
        configuration.tlsConfiguration = try .testClient(trusting: [leaf.root])
        configuration.httpVersion = .http1Only
        plain = HTTPClient(eventLoopGroup: .singletonMultiThreadedEventLoopGroup, configuration: configuration)
        var pinnedConfiguration = HTTPClient.Configuration()
        pinnedConfiguration.httpVersion = .http1Only
        let pins = try PinSet(pins: [try Pin.publicKey(of: leaf.root)])
        let manager = TrustManager(policies: [try PinnedPolicy(host: HostPattern("localhost"), pins: pins)])
        pinned = try PinnedHTTPClient(
            trust: manager,
            validator: PathValidator(
                anchors: try TrustAnchors(der: [leaf.root]), cache: VerifiedPathCache()),
            configuration: pinnedConfiguration)
    }

    /// Ends clients and server.
    public func shutdown() async throws {
        try await pinned.shutdown()
        try await plain.shutdown()
        await server.shutdown()
    }

    /// A GET with AsyncHTTPClient.
    public func withAsyncHTTPClient(newConnection: Bool) -> Workload {
        let client = plain
        return requests("AsyncHTTPClient", newConnection) { try await client.execute($0, timeout: .seconds(30)) }
    }

    /// A GET with `PinnedHTTPClient`.
    public func withPinnedHTTPClient(newConnection: Bool) -> Workload {
        let client = pinned
        return requests("PinnedHTTPClient", newConnection) { try await client.execute($0, timeout: .seconds(30)) }
    }

    private func requests(
        _ name: String, _ newConnection: Bool,
        by execute: @escaping @Sendable (HTTPClientRequest) async throws -> HTTPClientResponse
    ) -> Workload {
        let (request, server) = (request(newConnection: newConnection), server)
        return Workload("\(name), \(newConnection ? "new" : "pooled") connection", clock: .wall) { times in
            let before = server.statistics.handshakesCompleted
            for _ in 0..<times { try await Self.read(try await execute(request)) }
            let handshakes = server.statistics.handshakesCompleted - before
            try require(!newConnection || handshakes >= times, "\(handshakes) handshakes for \(times) requests")
        }
    }

    private func request(newConnection: Bool) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        if newConnection { request.headers.add(name: "connection", value: "close") }
        return request
    }

    private static func read(_ response: HTTPClientResponse) async throws {
        let body = try await response.body.collect(upTo: 1_024)
        try require(response.status == .ok && body.readableBytes > 0, "status \(response.status)")
    }
}
