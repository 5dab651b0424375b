import Foundation
import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTesting
import NIOCore
import NIOSSL
import Testing

/// From the signer to the socket: a list that HoldfastSigning signs, downloaded over HTTP, enforced on TLS connections.
@Suite("A client whose pins come from a store", .timeLimit(.minutes(15)))
struct PinnedByStoreTests {
    private final class Published: Sendable {
        private let document = Lock("")

        var response: String {
            let body = document.withLock { $0 }
            return "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
        }

        func publish(_ certificates: [TestCertificate], by key: SigningKey) throws {
            let expires = Int64(SystemWallClock().now.timeIntervalSince1970) + 86_400
            let entries = try certificates.map {
                try FingerprintEntry(name: "www.example.com", pin: Pin.certificate($0.der), expires: expires)
            }
            let text = String(decoding: try PinListDraft(entries).signed(by: key), as: UTF8.self)
            document.withLock { $0 = text }
        }
    }

    @Test(
        "It is refused while the store is empty, connects with the signed list, and recovers from a renewal by a new one"
    )
    func story() async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.com"])
        let renewed = try setting.issuing.renew(leaf)
        let (key, published) = (SigningKey(), Published())
        try await ScriptedHTTPServer.with({ _ in [.send(published.response), .close] }) { pins in
            let configuration = CertStoreConfiguration(
                serviceURL: try #require(URL(string: pins.url())), publicKey: try key.publicKey.base64)
            let store = try CertStore(
                checking: configuration, secureDataStore: InMemoryDataStore(),
                remoteDataProvider: URLSessionDataProvider(allowsPlainHTTPToLoopback: true),
                logger: RecordingLog().logger)
            let policy = try store.policy(for: "www.example.com")
            let client = try setting.client(for: "www.example.com", trust: .policy(policy))

            try await withLoopbackTLSServer(serving: leaf) { server in
                try await expectRefusal(try await ClientAttempt.make(client, at: server), .noUsablePins, at: server)
            }
            try published.publish([leaf], by: key)
            try await store.update()
            try await withLoopbackTLSServer(serving: leaf) { server in
                expectTrust(try await ClientAttempt.make(client, at: server))
            }
            try await withLoopbackTLSServer(serving: renewed) { server in
                try await expectRefusal(try await ClientAttempt.make(client, at: server), .pinMismatch, at: server)
            }
            // A list signed with another key changes nothing.
            try published.publish([renewed], by: SigningKey())
            await #expect(throws: StoreError.self) { try await store.update(mode: .forced) }
            try await withLoopbackTLSServer(serving: renewed) { server in
                try await expectRefusal(try await ClientAttempt.make(client, at: server), .pinMismatch, at: server)
            }
            try published.publish([renewed], by: key)
            try await store.update(mode: .forced)
            try await withLoopbackTLSServer(serving: renewed) { server in
                expectTrust(try await ClientAttempt.make(client, at: server))
            }
        }
    }
}
