import Foundation
import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTesting
import Hummingbird
import Logging
import NIOSSL
import Testing

@Suite("The document about Hummingbird", .timeLimit(.minutes(15)))
struct HummingbirdExampleTests {
    private static let request = "GET /billing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

    private let servers: TestAuthority
    private let clients: TestAuthority
    private let leaf: TestCertificate

    init() throws {
        servers = try TestAuthority.root(name: "Server Root")
        clients = try TestAuthority.root(name: "Client Root")
        leaf = try servers.leaf(names: ["localhost"])
    }

    @Test("Every line of its examples stands in code that compiles")
    func everyLineCompiles() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let document = try String(
            contentsOf: folder.appending(path: "../../../../docs/services.md").standardizedFileURL, encoding: .utf8)
        let example = try String(contentsOf: folder.appending(path: "HummingbirdExample.swift"), encoding: .utf8)
        let compiled = Set(example.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
        let lines = document.components(separatedBy: "```swift hummingbird\n").dropFirst()
            .flatMap { $0.components(separatedBy: "```")[0].split(separator: "\n") }
        #expect(lines.count > 10)
        for line in lines {
            #expect(compiled.contains(line.trimmingCharacters(in: .whitespaces)), "not compiled: \(line)")
        }
    }

    private func device(_ uri: String) throws -> TestCertificate {
        try clients.leaf(names: [.uri(uri)], purposes: [.clientAuthentication])
    }

    private func server() throws -> PinnedTLSServer {
        try makeServer(
            certificates: [NIOSSLCertificate(bytes: leaf.der, format: .der)],
            key: NIOSSLPrivateKey(bytes: leaf.key.privateKeyDER, format: .der),
            clients: StandardPolicy(clients: "devices"), authorities: TrustAnchors(der: [clients.root]))
    }

    private func withApplication(_ server: PinnedTLSServer, _ body: (Int) async throws -> Void) async throws {
        let (ports, continuation) = AsyncStream.makeStream(of: Int?.self)
        let application = Application(
            router: makeRouter(), server: makeBuilder(server: server),
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

    @Test(
        "A client is authorized by its name, also when it resumes, and a new policy ends its session",
        .enabled(if: OpenSSLClient.isAvailable, "needs OpenSSL 3"), arguments: [TLSVersion.tlsv12, .tlsv13])
    func resumption(version: TLSVersion) async throws {
        let server = try server()
        let (billing, other) = (try device("spiffe://example.org/billing"), try device("spiffe://example.org/other"))
        try await withApplication(server) { port in
            try await withTemporaryFolder { folder in
                let client = OpenSSLClient(folder: folder, port: port, version: version)
                let stranger = try await client.send(Self.request, presenting: other)
                #expect(stranger.text.contains("403"), "\(stranger.text)")
                let first = try await client.send(Self.request, presenting: billing)
                #expect(first.isNew && first.text.contains("welcome, billing"), "\(first.text)")
                let resumed = try await client.send(Self.request, presenting: billing, resuming: true)
                #expect(resumed.isResumed && resumed.text.contains("welcome, billing"), "\(resumed.text)")
                try rollOver(server, pins: PinSet(pins: [X509Certificate(der: other.der).publicKeyPin]))
                let refused = try await client.send(Self.request, presenting: billing, resuming: true)
                #expect(!refused.isResumed && !refused.text.contains("welcome"), "\(refused.text)")
            }
        }
    }

    @Test(
        "A certificate that was renewed ends sessions and keeps trusted clients",
        .enabled(if: OpenSSLClient.isAvailable, "needs OpenSSL 3"), arguments: [TLSVersion.tlsv12, .tlsv13])
    func renewal(version: TLSVersion) async throws {
        let server = try server()
        let billing = try device("spiffe://example.org/billing")
        try await withApplication(server) { port in
            try await withTemporaryFolder { folder in
                let client = OpenSSLClient(folder: folder, port: port, version: version)
                let first = try await client.send(Self.request, presenting: billing)
                #expect(first.isNew && first.text.contains("welcome, billing"), "\(first.text)")
                try renewCertificate(server)
                let second = try await client.send(Self.request, presenting: billing, resuming: true)
                #expect(!second.isResumed && second.text.contains("welcome, billing"), "\(second.text)")
            }
        }
    }
}
