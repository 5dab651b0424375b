import Foundation
import HoldfastNIOTesting
import HoldfastTesting
import NIOSSL
import Testing

/// A key and signature for every certificate of a chain.
struct ChainKind: Sendable, CustomTestStringConvertible {
    let key: TestKey.Choice
    let signature: TestSignature
    let testDescription: String

    static let all = [
        ChainKind(key: .p256, signature: .automatic, testDescription: "P-256"),
        ChainKind(key: .p384, signature: .automatic, testDescription: "P-384"),
        ChainKind(key: .sharedRSA(bits: 2048, index: 1), signature: .automatic, testDescription: "RSA PKCS #1"),
        ChainKind(key: .sharedRSA(bits: 2048, index: 1), signature: .rsaPSS(.sha256), testDescription: "RSA PSS"),
        ChainKind(key: .ed25519, signature: .automatic, testDescription: "Ed25519"),
    ]

    /// A leaf for `www.example.com` below an intermediate.
    func leaf() throws -> TestCertificate {
        let root = try TestAuthority.root(key: key) { $0.signature = signature }
        let issuing = try root.intermediate(key: key) { $0.signature = signature }
        return try issuing.leaf(names: ["www.example.com"], key: key) { $0.signature = signature }
    }
}

@Suite("The loopback server", .timeLimit(.minutes(15)))
struct LoopbackTLSServerTests {
    @Test(
        "A plain client shakes hands with every kind of chain, and every byte is counted",
        arguments: ChainKind.all, [TLSVersion.tlsv12, .tlsv13])
    func everyKind(kind: ChainKind, version: TLSVersion) async throws {
        let leaf = try kind.leaf()
        try await withLoopbackTLSServer(serving: leaf) { server in
            let client = try PlainClient(trusting: [leaf.root], version: version)
            let bytes = [UInt8](repeating: 7, count: 40_000)
            let outcome = try await client.exchange(bytes, expecting: bytes.count, with: server.address, server.port)
            #expect(outcome.received == bytes)
            #expect(outcome.version == version)
            try await server.waitForDisconnection()
            let statistics = server.statistics
            #expect(statistics.connectionsAccepted == 1)
            #expect(statistics.handshakesCompleted == 1)
            #expect(statistics.handshakesFailed == 0)
            #expect(statistics.plaintextBytesReceived == bytes.count)
            #expect(statistics.plaintextBytesSent == bytes.count)
            #expect(statistics.lastServerName == "www.example.com")
        }
    }

    @Test("A client that refuses the certificate is a failed handshake, and no byte arrives")
    func refusal() async throws {
        let leaf = try TestAuthority.root().leaf(names: ["www.example.com"])
        let stranger = try TestAuthority.root()
        try await withLoopbackTLSServer(serving: leaf) { server in
            let client = try PlainClient(trusting: [stranger.root])
            await #expect(throws: NIOSSLError.self) {
                try await client.exchange([1, 2, 3], expecting: 3, with: server.address, server.port)
            }
            try await server.waitForFailedHandshakes(1)
            try await server.waitForDisconnection()
            #expect(server.statistics.handshakesCompleted == 0)
            #expect(server.statistics.plaintextBytesReceived == 0)
        }
    }

    @Test("The certificate can be replaced while the server runs")
    func replacement() async throws {
        let (first, second) = (try TestAuthority.root(), try TestAuthority.root())
        try await withLoopbackTLSServer(serving: first.leaf(names: ["www.example.com"])) { server in
            let (old, new) = (try PlainClient(trusting: [first.root]), try PlainClient(trusting: [second.root]))
            _ = try await old.exchange([1], expecting: 1, with: server.address, server.port)
            try server.serve(second.leaf(names: ["www.example.com"]))
            _ = try await new.exchange([1], expecting: 1, with: server.address, server.port)
            await #expect(throws: NIOSSLError.self) {
                try await old.exchange([1], expecting: 1, with: server.address, server.port)
            }
        }
    }

    @Test("Strangers' certificates and any order are served after the leaf")
    func anyChain() async throws {
        let root = try TestAuthority.root()
        let lower = try root.intermediate(name: "Upper").intermediate(name: "Lower")
        let leaf = try lower.leaf(names: ["www.example.com"])
        let stranger = try TestAuthority.root(name: "Stranger")
        let chain = [leaf.der, stranger.root] + leaf.chain.dropFirst().reversed()
        try await withLoopbackTLSServer(chain: chain, key: leaf.key) { server in
            let client = try PlainClient(trusting: [root.root])
            let outcome = try await client.exchange([1], expecting: 1, with: server.address, server.port)
            #expect(outcome.received == [1])
        }
    }

    @Test("A client certificate is asked for and checked", arguments: [TLSVersion.tlsv12, .tlsv13])
    func mutual(version: TLSVersion) async throws {
        let root = try TestAuthority.root()
        let certificate = try root.leaf(names: [], key: .ed25519, purposes: [.clientAuthentication], subject: "client")
        let options = LoopbackTLSServer.Options(clientRoots: [root.root])
        try await withLoopbackTLSServer(serving: root.leaf(names: ["www.example.com"]), options: options) { server in
            var configuration = try PlainClient(trusting: [root.root], version: version).configuration
            let anonymous = PlainClient(configuration)
            await #expect(throws: (any Error).self) {
                try await anonymous.exchange([1], expecting: 1, with: server.address, server.port)
            }
            try await server.waitForFailedHandshakes(1)
            configuration.certificateChain = [.certificate(try NIOSSLCertificate(bytes: certificate.der, format: .der))]
            configuration.privateKey = .privateKey(
                try NIOSSLPrivateKey(bytes: certificate.key.privateKeyDER, format: .der))
            let known = PlainClient(configuration)
            let outcome = try await known.exchange([1], expecting: 1, with: server.address, server.port)
            #expect(outcome.received == [1])
        }
    }

    @Test("An HTTP server answers requests, with and without a body, on one connection")
    func http() async throws {
        let root = try TestAuthority.root()
        let options = LoopbackTLSServer.Options(behavior: .http(body: "hello"))
        try await withLoopbackTLSServer(serving: root.leaf(names: ["www.example.com"]), options: options) { server in
            let requests = """
                POST /a HTTP/1.1\r\nhost: www.example.com\r\ncontent-length: 3\r\n\r\nabc\
                GET /b HTTP/1.1\r\nhost: www.example.com\r\nconnection: close\r\n\r\n
                """
            let outcome = try await PlainClient(trusting: [root.root])
                .exchange(Array(requests.utf8), expecting: .max, with: server.address, server.port)
            let text = String(decoding: outcome.received, as: UTF8.self)
            #expect(text.components(separatedBy: "HTTP/1.1 200 OK\r\n").count == 3)
            #expect(text.components(separatedBy: "\r\n\r\nhello").count == 3)
        }
    }

    @Test("A greeting arrives unasked, a silent server only listens, a closing one closes")
    func behaviors() async throws {
        let root = try TestAuthority.root()
        let leaf = try root.leaf(names: ["www.example.com"])
        let client = try PlainClient(trusting: [root.root])
        try await withLoopbackTLSServer(serving: leaf, options: .init(behavior: .greeting([4, 2]))) { server in
            let outcome = try await client.exchange([], expecting: 2, with: server.address, server.port)
            #expect(outcome.received == [4, 2])
        }
        try await withLoopbackTLSServer(serving: leaf, options: .init(behavior: .closeAfterHandshake)) { server in
            let outcome = try await client.exchange([], expecting: 1, with: server.address, server.port)
            #expect(outcome.received == [])
        }
        try await withLoopbackTLSServer(serving: leaf, options: .init(behavior: .silent)) { server in
            async let outcome = try? client.exchange([1, 2, 3], expecting: 1, with: server.address, server.port)
            try await server.wait { $0.plaintextBytesReceived == 3 }
            #expect(server.statistics.plaintextBytesSent == 0)
            await server.shutdown()
            #expect(await outcome?.received ?? [] == [])
        }
    }

    @Test("Shutting down cuts a client that waits for a stalled server")
    func stalled() async throws {
        let root = try TestAuthority.root()
        let options = LoopbackTLSServer.Options(behavior: .stalled)
        let server = try await LoopbackTLSServer.start(
            serving: root.leaf(names: ["www.example.com"]), options: options)
        let client = try PlainClient(trusting: [root.root])
        let outcome = Task { try await client.exchange([1], expecting: 1, with: server.address, server.port) }
        try await server.wait { $0.connectionsAccepted == 1 }
        await server.shutdown()
        await server.shutdown()
        #expect(server.statistics.handshakesFailed == 1)
        await #expect(throws: (any Error).self) { try await outcome.value }
    }

    @Test("Waiting for what does not happen ends with an error")
    func waiting() async throws {
        try await withLoopbackTLSServer(serving: TestAuthority.selfSigned(names: ["a.example"])) { server in
            let error = await #expect(throws: TestKitError.self) {
                try await server.waitForHandshakes(1, limit: .milliseconds(10))
            }
            #expect(error?.code == .timedOut)
            let task = Task { try await server.waitForHandshakes(1, limit: .seconds(100)) }
            task.cancel()
            await #expect(throws: TestKitError.self) { try await task.value }
        }
    }

    @Test("A key of another certificate and a certificate that cannot be read are refused at the start")
    func refusedCredentials() async throws {
        let leaf = try TestAuthority.selfSigned(names: ["a.example"])
        for (chain, key) in [(leaf.chain, try TestKey()), ([[0x30]], leaf.key)] {
            let error = await #expect(throws: TestKitError.self) {
                _ = try await LoopbackTLSServer.start(chain: chain, key: key)
            }
            #expect(error?.code == .credentialsRefused)
        }
    }

    @Test("Many servers and clients run at the same time")
    func parallel() async throws {
        let root = try TestAuthority.root()
        try await withThrowingTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    let leaf = try root.leaf(names: ["www.example.com"])
                    try await withLoopbackTLSServer(serving: leaf) { server in
                        let client = try PlainClient(trusting: [root.root])
                        try await withThrowingTaskGroup { clients in
                            for _ in 0..<4 {
                                clients.addTask {
                                    let bytes = [UInt8](repeating: UInt8(number), count: 1_000)
                                    let outcome = try await client.exchange(
                                        bytes, expecting: bytes.count, with: server.address, server.port)
                                    #expect(outcome.received == bytes)
                                }
                            }
                            try await clients.waitForAll()
                        }
                        try await server.waitForDisconnection()
                        #expect(server.statistics.handshakesCompleted == 4)
                        #expect(server.statistics.plaintextBytesReceived == 4_000)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
