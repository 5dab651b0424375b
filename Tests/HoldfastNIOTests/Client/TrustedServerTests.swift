import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@Suite("A server that is trusted", .timeLimit(.minutes(15)))
struct TrustedServerTests {
    enum Chain: CaseIterable {
        case p256, p384, rsa, rsaPSS, ed25519

        var key: TestKey.Choice {
            switch self {
            case .p256: .p256
            case .p384: .p384
            case .rsa, .rsaPSS: .sharedRSA(bits: 2048, index: 0)
            case .ed25519: .ed25519
            }
        }
        var signature: TestSignature { self == .rsaPSS ? .rsaPSS(.sha256) : .automatic }
    }

    @Test(
        "is connected to with every kind of key and signature, in TLS 1.2 and 1.3", arguments: Chain.allCases,
        [TLSVersion.tlsv12, .tlsv13])
    func everyKind(chain: Chain, version: TLSVersion) async throws {
        let setting = try ClientSetting(key: chain.key, signature: chain.signature)
        let leaf = try setting.issuing.leaf(names: ["www.example.com"], key: chain.key) {
            $0.signature = chain.signature
        }
        try await withLoopbackTLSServer(serving: leaf, options: .only(version)) { server in
            let client = try setting.client(for: "www.example.com", pins: [try leaf.publicKeyPin()])
            let attempt = try await ClientAttempt.make(client, at: server)
            expectTrust(attempt)
            #expect(attempt.version == version)
            #expect(attempt.errors.isEmpty)
            #expect(server.statistics.lastServerName == "www.example.com")
        }
    }

    @Test("is known by its validated path, root included, to whoever asks NIOSSL")
    func metadata() async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.com"])
        // A stranger's certificate and the wrong order are no part of a path.
        let stranger = try TestAuthority.root(name: "Stranger").certificate
        let chain = [leaf.der, stranger.der, setting.issuing.certificate.der]
        try await withLoopbackTLSServer(chain: chain, key: leaf.key) { server in
            let client = try setting.client(for: "www.example.com")
            for _ in 0..<2 {
                let attempt = try await ClientAttempt.make(client, at: server)
                expectTrust(attempt)
                #expect(attempt.validatedChain == [leaf.der, setting.issuing.certificate.der, setting.root.root])
            }
        }
    }

    @Test("without a path has none to show")
    func noPath() async throws {
        let setting = try ClientSetting()
        let leaf = try TestAuthority.selfSigned(names: ["elsewhere.example"])
        try await withLoopbackTLSServer(serving: leaf) { server in
            let client = try setting.client(
                for: "www.example.com",
                trust: .policy(CustomPolicy(host: try HostPattern("www.example.com")) { _ in true }))
            let attempt = try await ClientAttempt.make(client, at: server)
            expectTrust(attempt)
            #expect(attempt.validatedChain == nil)
        }
    }

    @Test("is spoken to in the protocol that the configuration offers")
    func applicationProtocols() async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.com"])
        try await withLoopbackTLSServer(serving: leaf, options: .init(applicationProtocols: ["b", "a"])) { server in
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.applicationProtocols = ["a"]
            let client = try setting.client(for: "www.example.com", configuration: configuration)
            let attempt = try await ClientAttempt.make(client, at: server)
            expectTrust(attempt)
            #expect(attempt.negotiatedProtocol == "a")
        }
    }

    @Test("that asks for a client's certificate gets the configured one", arguments: [TLSVersion.tlsv12, .tlsv13])
    func mutual(version: TLSVersion) async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.com"])
        let own = try setting.root.leaf(names: ["client.example.com"], purposes: [.clientAuthentication])
        var options = LoopbackTLSServer.Options.only(version)
        options.clientRoots = [setting.root.root]
        try await withLoopbackTLSServer(serving: leaf, options: options) { server in
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.certificateChain = try own.chain.map {
                .certificate(try NIOSSLCertificate(bytes: $0, format: .der))
            }
            configuration.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: own.key.privateKeyDER, format: .der))
            let client = try setting.client(for: "www.example.com", configuration: configuration)
            expectTrust(try await ClientAttempt.make(client, at: server))
        }
    }

    @Test("that misses the client's certificate says so after the handshake; the decision stands")
    func missingClientCertificate() async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.com"])
        var options = LoopbackTLSServer.Options.only(.tlsv13)
        options.clientRoots = [setting.root.root]
        try await withLoopbackTLSServer(serving: leaf, options: options) { server in
            let client = try setting.client(for: "www.example.com")
            let address = try SocketAddress(ipAddress: server.address, port: server.port)
            let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            let channel = try await bootstrap.connect(to: client, at: address) {
                try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: $0)
            }
            // It is connected, so the server was trusted.
            await #expect(throws: BoringSSLError.self) {
                try await channel.executeThenClose { inbound, _ in
                    for try await _ in inbound { Issue.record("the server speaks") }
                }
            }
        }
    }

    @Test("is handed over only with its handlers in place, and its first bytes are not lost")
    func connectConvenience() async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["localhost"])
        let options = LoopbackTLSServer.Options(behavior: .greeting(Array("hello".utf8)))
        try await withLoopbackTLSServer(serving: leaf, options: options) { server in
            let client = try PinnedTLSClient(
                trust: .policy(setting.policy(for: "localhost")), host: DialedHost("localhost", port: server.port),
                validator: setting.validator())
            let address = try SocketAddress(ipAddress: server.address, port: server.port)
            let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            let channel = try await bootstrap.connect(to: client, at: address) {
                try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: $0)
            }
            #expect(try await channel.channel.trustDecision().inTime().isTrusted)
            let text = try await channel.executeThenClose { inbound, _ in
                var text = ""
                for try await buffer in inbound {
                    text += String(buffer: buffer)
                    if text.count >= 5 { break }
                }
                return text
            }
            #expect(text == "hello")
        }
    }

    @Test("is found by the host's own name and port when no address is given")
    func resolvedHost() async throws {
        let setting = try ClientSetting()
        try await withLoopbackTLSServer(serving: try setting.issuing.leaf(names: ["localhost"])) { server in
            let client = try PinnedTLSClient(
                trust: .policy(setting.policy(for: "localhost")), host: DialedHost("localhost", port: server.port),
                validator: setting.validator())
            let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(to: client) { $0 }
            try await channel.close().inTime()
            #expect(server.statistics.lastServerName == "localhost")
        }
    }

    @Test("is not handed over when it is refused: the caller gets the failure")
    func refusedConvenience() async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["elsewhere.example"])
        try await withLoopbackTLSServer(serving: leaf) { server in
            let client = try setting.client(for: "localhost")
            let address = try SocketAddress(ipAddress: server.address, port: server.port)
            let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            let failure = await #expect(throws: TrustFailure.self) {
                try await bootstrap.connect(to: client, at: address) { _ in Issue.record("set up without trust") }
            }
            #expect(failure?.code == .hostNameMismatch)
            try await server.waitForDisconnection()
            #expect(server.statistics.plaintextBytesReceived == 0)
        }
    }
}
