#if Services
package import Holdfast
package import HoldfastTesting
import NIOCore
import NIOPosix

/// Servers of one name on several addresses and one port, each with its own certificate.
package struct LoopbackFleet: Sendable {
    /// The common name.
    package static let name = "api.example.com"

    /// The servers, in the order of their addresses.
    package let servers: [LoopbackTLSServer]

    /// The common port.
    package var port: Int { servers.first?.port ?? 0 }
    /// Their name and port.
    package var host: DialedHost { get throws { try DialedHost(Self.name, port: port) } }

    private static func start(_ nodes: [(address: String, certificate: TestCertificate)]) async -> LoopbackFleet? {
        var servers: [LoopbackTLSServer] = []
        for (address, certificate) in nodes {
            let options = LoopbackTLSServer.Options(address: address, port: servers.first?.port ?? 0)
            guard let server = try? await LoopbackTLSServer.start(serving: certificate, options: options) else {
                for server in servers { await server.shutdown() }
                return nil
            }
            servers.append(server)
        }
        return LoopbackFleet(servers: servers)
    }

    /// Whether a server can listen on ::1.
    package static let hasIPv6 = canListen(on: "::1")
    /// Whether servers can listen on every address of 127.0.0.0/8. A Mac has 127.0.0.1 alone.
    package static let hasWholeBlock = canListen(on: "127.0.0.2")

    private static func canListen(on address: String) -> Bool {
        guard let address = try? SocketAddress(ipAddress: address, port: 0) else { return false }
        let listener = try? ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup).bind(to: address).wait()
        try? listener?.close().wait()
        return listener != nil
    }

    /// Starts a server for each address, and stops them when the body has ended.
    package static func with(
        _ nodes: [(address: String, certificate: TestCertificate)], _ body: (LoopbackFleet) async throws -> Void
    ) async throws {
        var fleet: LoopbackFleet?
        // Another program may have the port on another address.
        for _ in 0..<10 where fleet == nil { fleet = await start(nodes) }
        guard let servers = fleet?.servers else { throw ChannelError.unknownLocalAddress }
        do {
            try await body(LoopbackFleet(servers: servers))
        } catch {
            for server in servers { await server.shutdown() }
            throw error
        }
        for server in servers { await server.shutdown() }
    }
}
#endif
