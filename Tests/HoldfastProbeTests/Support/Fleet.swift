import Holdfast
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastTesting
import Testing

/// Servers of one name on several addresses and one port, each with a certificate of its own.
struct Fleet {
    static let name = "api.example.com"

    let servers: [LoopbackTLSServer]

    var port: Int { servers.first?.port ?? 0 }
    var host: DialedHost { get throws { try DialedHost(Self.name, port: port) } }

    private static func start(_ nodes: [(address: String, certificate: TestCertificate)]) async -> Fleet? {
        var servers: [LoopbackTLSServer] = []
        for (address, certificate) in nodes {
            let options = LoopbackTLSServer.Options(address: address, port: servers.first?.port ?? 0)
            guard let server = try? await LoopbackTLSServer.start(serving: certificate, options: options) else {
                for server in servers { await server.shutdown() }
                return nil
            }
            servers.append(server)
        }
        return Fleet(servers: servers)
    }

    static func with(
        _ nodes: [(address: String, certificate: TestCertificate)], _ body: (Fleet) async throws -> Void
    ) async throws {
        var fleet: Fleet?
        // Somebody else may have the port on another address.
        for _ in 0..<10 where fleet == nil { fleet = await start(nodes) }
        let servers = try #require(fleet).servers
        do {
            try await body(Fleet(servers: servers))
        } catch {
            for server in servers { await server.shutdown() }
            throw error
        }
        for server in servers { await server.shutdown() }
    }
}

extension HostProbe {
    /// A probe that trusts one root and has much time, for machines that have much to do.
    init(trusting root: TestAuthority, resolving addresses: [String]? = nil) throws {
        self.init(validator: PathValidator(anchors: try TrustAnchors(der: [root.root])))
        let limit = Duration.seconds(60)
        deadlines = ProbeDeadlines(resolving: limit, connecting: limit, handshake: limit, whole: limit)
        if let addresses { resolver = .fixed(try addresses.map { try IPAddress($0) }) }
    }

    func ask(_ host: DialedHost) async -> HostFindings {
        await ask(host, policy: StandardPolicy(host: HostPattern(host)))
    }
}

extension AddressResolver {
    static func fixed(_ addresses: [IPAddress]) -> AddressResolver {
        AddressResolver { _ throws(ProbeFailure) in addresses }
    }
}
