import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL
import Testing

/// BoringSSL itself refuses some peers for their keyUsage, with TLS 1.3 before it asks anybody.
@Suite("A peer whose keyUsage TLS refuses", .timeLimit(.minutes(15)))
struct RefusedKeyUsageTests {
    /// A use of a server's key that its certificate's keyUsage does not allow.
    enum Misuse: CaseIterable, Sendable {
        /// It would sign, and may only decipher.
        case rsaSigns13, rsaSigns12
        /// It would decipher, and may only sign: static RSA.
        case rsaDeciphers

        var version: TLSVersion {
            switch self {
            case .rsaSigns13: .tlsv13
            case .rsaSigns12, .rsaDeciphers: .tlsv12
            }
        }

        func leaf(of issuer: TestAuthority) throws -> TestCertificate {
            try issuer.leaf(names: ["www.example.com"], key: .sharedRSA(bits: 2_048, index: 0)) {
                $0.keyUsage = self == .rsaDeciphers ? [.digitalSignature] : [.keyEncipherment]
            }
        }

        var configuration: TLSConfiguration {
            var configuration = TLSConfiguration.makeClientConfiguration()
            if self == .rsaDeciphers { configuration.cipherSuiteValues = [.TLS_RSA_WITH_AES_128_GCM_SHA256] }
            return configuration
        }
    }

    @Test(
        "is refused with a TrustFailure, as a decision, an error of the channel and to observers",
        arguments: Misuse.allCases)
    func server(misuse: Misuse) async throws {
        let setting = try ClientSetting()
        let host = "www.example.com"
        let manager = TrustManager(policies: [try setting.policy(for: host)])
        let seen = Lock<[TrustDecision]>([])
        manager.addObserver { decision in seen.withLock { $0.append(decision) } }
        try await withLoopbackTLSServer(serving: misuse.leaf(of: setting.issuing), options: .only(misuse.version)) {
            server in
            let client = try setting.client(
                for: host, trust: .manager(manager), configuration: misuse.configuration)
            let attempt = try await ClientAttempt.make(client, at: server)
            try await expectRefusal(attempt, .keyUsageForbidsTLS, at: server)
            #expect(attempt.failure?.host?.name == host)
            let error = await #expect(throws: TrustFailure.self) {
                try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connect(
                    to: client, at: SocketAddress(ipAddress: server.address, port: server.port)
                ) { $0.close(promise: nil) }
            }
            #expect(error?.code == .keyUsageForbidsTLS)
        }
        let decisions = seen.withLock { $0 }
        #expect(decisions.map { $0.failure?.code } == [.keyUsageForbidsTLS, .keyUsageForbidsTLS])
        #expect(decisions.allSatisfy { $0.policyName == host && $0.host?.name == host })
    }

    @Test("is told to a policy of its own, and pins of another server are no reason to say less")
    func pinned() async throws {
        let setting = try ClientSetting()
        let pin = try setting.issuing.leaf(names: ["other.example"]).publicKeyPin()
        let leaf = try Misuse.rsaSigns13.leaf(of: setting.issuing)
        try await withLoopbackTLSServer(serving: leaf, options: .only(.tlsv13)) { server in
            let client = try setting.client(for: "www.example.com", pins: [pin])
            let attempt = try await ClientAttempt.make(client, at: server)
            #expect(attempt.failure != nil && attempt.errors.allSatisfy { $0 is TrustFailure }, "\(attempt.errors)")
            #expect(attempt.writeError is TrustFailure)
        }
    }
}
