import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import HoldfastNIO

@Suite("A chain that is only read", .timeLimit(.minutes(15)))
struct PresentedChainReaderTests {
    private static let versions = [TLSVersion.tlsv12, .tlsv13]
    private let setting: ClientSetting

    init() throws {
        setting = try ClientSetting()
    }

    private func read(
        _ configuration: TLSConfiguration = .makeClientConfiguration(), port: Int
    ) async throws -> PresentedChain {
        let reader = try PresentedChainReader(
            host: DialedHost("www.example.com"), configuration: configuration, oldestTLSVersion: .tlsv12)
        let (channel, chain) = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: port)) { channel in
                channel.eventLoop.makeCompletedFuture {
                    (channel, try reader.addHandlers(to: channel.pipeline.syncOperations))
                }
            }
        let result = await chain.result
        try await channel.closeFuture.inTime()
        return try result.get()
    }

    @Test("comes from any server, and the handshake goes no further", arguments: versions)
    func anybody(version: TLSVersion) async throws {
        let leaf = try TestAuthority.root(name: "Stranger").intermediate().leaf(names: ["elsewhere.example"])
        try await withLoopbackTLSServer(serving: leaf, options: .only(version)) { server in
            #expect(try await read(port: server.port).certificates == leaf.chain)
            try await server.waitForDisconnection()
            #expect(server.statistics.handshakesCompleted == 0)
            #expect(server.statistics.handshakesFailed == 1)
            #expect(server.statistics.lastServerName == "www.example.com")
        }
    }

    @Test("comes from a server that asks for a client's certificate, and shows it none", arguments: versions)
    func mutual(version: TLSVersion) async throws {
        let setting = try MutualSetting()
        let device = try setting.device()
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateChain = try device.chain.map {
            .certificate(try NIOSSLCertificate(bytes: $0, format: .der))
        }
        configuration.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: device.key.privateKeyDER, format: .der))
        let policy = ExchangeablePolicy(try setting.pinned(device))
        try await MutualServer.with(try setting.server(policy, version)) { server in
            #expect(try await read(configuration, port: server.port).certificates == setting.leaf.chain)
            let report = try await server.report()
            #expect(report.client == nil && report.failure == nil)
        }
        #expect(policy.evaluations == 0)
    }

    @Test("is not there when the server ends the handshake, or speaks no TLS")
    func noChain() async throws {
        let leaf = try setting.issuing.leaf(names: ["www.example.com"])
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv13
        try await withLoopbackTLSServer(serving: leaf, options: .only(.tlsv12)) { server in
            _ = await #expect(throws: NIOSSLError.self) { try await read(configuration, port: server.port) }
        }
    }
}
