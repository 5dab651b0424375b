#if os(macOS) || os(Linux)
import Holdfast
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting
import NIOSSL
import Testing

@Suite(
    "The foreign server", .needs(.openSSL),
    .timeLimit(.minutes(15)))
struct OpenSSLServerTests {
    @Test(
        "A plain client shakes hands with openssl for every kind of chain",
        arguments: ChainKind.all, [OpenSSLServer.Version.tls12, .tls13])
    func everyKind(kind: ChainKind, version: OpenSSLServer.Version) async throws {
        let leaf = try kind.leaf()
        let server = try await OpenSSLServer.start(serving: leaf, version: version)
        let client = try PlainClient(trusting: [leaf.root])
        let outcome = try await client.exchange(Array("abc\n".utf8), expecting: 4, with: server.address, server.port)
        #expect(String(decoding: outcome.received, as: UTF8.self) == "cba\n")
        #expect(outcome.version == (version == .tls12 ? .tlsv12 : .tlsv13))
        await server.stop()
        await server.stop()
        await #expect(throws: (any Error).self) {
            try await client.exchange([10], expecting: 1, with: server.address, server.port)
        }
    }

    @Test("A chain that openssl cannot read is an error that says so")
    func unreadable() async throws {
        let error = await #expect(throws: TestKitError.self) {
            _ = try await OpenSSLServer.start(chain: [[0x30]], key: TestKey())
        }
        #expect(error?.code == .serverFailed)
        #expect(error?.found.contains("leaf.pem") == true)
    }

    @Test("A certificate that BoringSSL does not serve is served by openssl")
    func unusual() async throws {
        let root = try TestAuthority.root()
        let leaf = try root.leaf(names: ["www.example.com"]) { $0.faults = [.duplicatedExtension(.keyUsage)] }
        let server = try await OpenSSLServer.start(serving: leaf)
        var configuration = try TLSConfiguration.testClient(trusting: [root.root])
        configuration.certificateVerification = .none
        let outcome = try await PlainClient(configuration)
            .exchange(Array("ab\n".utf8), expecting: 3, with: server.address, server.port)
        #expect(outcome.received.count == 3)
        await server.stop()
    }
}
#endif
