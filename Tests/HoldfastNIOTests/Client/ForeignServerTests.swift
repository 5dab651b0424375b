#if os(macOS) || os(Linux)
import Holdfast
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting
import NIOCore
import NIOSSL
import Testing

@testable import HoldfastNIO

@Suite("OpenSSL's server", .needs(.openSSL), .timeLimit(.minutes(15)))
struct ForeignServerTests {
    private static let versions = [OpenSSLServer.Version.tls12, .tls13]
    private static let answer = "gnip\n"

    @Test("is trusted with every kind of key", arguments: TrustedServerTests.Chain.allCases, versions)
    func everyKind(chain: TrustedServerTests.Chain, version: OpenSSLServer.Version) async throws {
        let setting = try ClientSetting(key: chain.key, signature: chain.signature)
        let leaf = try setting.issuing.leaf(names: ["www.example.com"], key: chain.key) {
            $0.signature = chain.signature
        }
        let server = try await OpenSSLServer.start(serving: leaf, version: version)
        let client = try setting.client(for: "www.example.com", pins: [try leaf.publicKeyPin()])
        let attempt = try await ClientAttempt.make(client, address: server.address, port: server.port)
        await server.stop()
        expectTrust(attempt, answer: Self.answer)
    }

    @Test("is refused under pinning with another key, and told so by an alert", arguments: versions)
    func machineInTheMiddle(version: OpenSSLServer.Version) async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.com"])
        let server = try await OpenSSLServer.start(
            serving: try setting.issuing.impersonate(leaf), version: version)
        let client = try setting.client(for: "www.example.com", pins: [try leaf.publicKeyPin()])
        let attempt = try await ClientAttempt.make(client, address: server.address, port: server.port)
        await server.stop()
        expectRefusal(attempt, .pinMismatch)
        #expect(server.output.contains("alert certificate unknown"), "\(server.output)")
    }

    @Test("is judged anew although it offers sessions and would resume them", arguments: versions)
    func resumption(version: OpenSSLServer.Version) async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.com"])
        let decisions = Lock(0)
        let manager = TrustManager(policies: [try setting.policy(for: "www.example.com")])
        manager.addObserver { _ in decisions.withLock { $0 += 1 } }
        let server = try await OpenSSLServer.start(serving: leaf, version: version)
        let client = try setting.client(for: "www.example.com", trust: .manager(manager))
        for _ in 0..<2 {
            expectTrust(
                try await ClientAttempt.make(client, address: server.address, port: server.port), answer: Self.answer)
        }
        await server.stop()
        #expect(decisions.withLock { $0 } == 2)
    }
}

@Suite("A served chain that cannot all be read", .needs(.openSSL), .timeLimit(.minutes(15)))
struct UnreadableChainTests {
    /// SubjectPublicKeyInfo of kinds that we do not know (RFC 8410, RFC 4055 1.2): Ed448 and id-RSASSA-PSS.
    enum ForeignKey: CaseIterable {
        case ed448, rsaPSS, rsa1024

        func certificate() throws -> TestCertificate {
            switch self {
            case .ed448:
                return try stranger(
                    [0x30, 0x43, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x71, 0x03, 0x3A, 0x00]
                        + (1...57).map { UInt8($0) })
            case .rsaPSS:
                let plain = try TestKey(.sharedRSA(bits: 2048, index: 0)).subjectPublicKeyInfoDER
                let algorithm: [UInt8] = [
                    0x30, 0x0B, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0A,
                ]
                return try stranger([0x30, 0x82, 0x01, 0x20] + algorithm + plain.dropFirst(19))
            case .rsa1024:
                return try TestAuthority.root(name: "Stranger", key: .sharedRSA(bits: 1024, index: 0)).certificate
            }
        }

        private func stranger(_ key: [UInt8]) throws -> TestCertificate {
            try TestAuthority.root(name: "Stranger") { $0.subjectPublicKeyInfo = key }.certificate
        }
    }

    @Test(
        "is trusted when only a certificate with a foreign key stands beside the path", arguments: ForeignKey.allCases)
    func foreignKey(kind: ForeignKey) async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.com"])
        let chain = [leaf.der, try kind.certificate().der, setting.issuing.certificate.der]
        // OpenSSL serves no small keys by default.
        let server = try await OpenSSLServer.start(
            chain: chain, key: leaf.key, arguments: ["-cipher", "DEFAULT:@SECLEVEL=0"])
        let attempt = try await ClientAttempt.make(
            try setting.client(for: "www.example.com"), address: server.address, port: server.port)
        await server.stop()
        expectTrust(attempt, answer: "gnip\n")
    }

    @Test("is refused with a leaf that repeats an extension")
    func unreadableLeaf() async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.com"]) {
            $0.faults = [.duplicatedExtension(.keyUsage)]
        }
        let server = try await OpenSSLServer.start(serving: leaf)
        let attempt = try await ClientAttempt.make(
            try setting.client(for: "www.example.com"), address: server.address, port: server.port)
        await server.stop()
        expectRefusal(attempt, .unreadableCertificate)
    }

    @Test("is refused by TLS itself, without a decision, when BoringSSL cannot read a certificate")
    func unreadableForBoringSSL() async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.com"])
        let other = try TestAuthority.root(name: "Stranger") { $0.version = 9 }.certificate
        #expect(throws: (any Error).self) { try NIOSSLCertificate(bytes: other.der, format: .der) }
        let server = try await OpenSSLServer.start(
            chain: [leaf.der, setting.issuing.certificate.der, other.der], key: leaf.key)
        let attempt = try await ClientAttempt.make(
            try setting.client(for: "www.example.com"), address: server.address, port: server.port)
        await server.stop()
        #expect(attempt.decision.error is NIOSSLError, "\(attempt.decision)")
        #expect(attempt.writeError is NIOSSLError)
        #expect(attempt.received.isEmpty)
        #expect(!attempt.sawHandshake)
    }

    @Test("keeps the place of a certificate that gives no DER, so that a leaf is refused and others are left out")
    func conversion() throws {
        struct Unreadable: Error {}
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.com"])
        let served = try leaf.chain.map { try NIOSSLCertificate(bytes: $0, format: .der) }
        #expect(PresentedChain(served).certificates == leaf.chain)

        let trust: (PresentedChain) throws -> TrustDecision = { chain in
            try setting.policy(for: "www.example.com").evaluate(
                ServerTrust(
                    chain: chain, purpose: .server(identity: try DialedHost("www.example.com")),
                    validator: try setting.validator()),
                at: SystemWallClock().now)
        }
        let withoutLeaf = PresentedChain(served) { certificate in
            guard certificate != served[0] else { throw Unreadable() }
            return try certificate.toDERBytes()
        }
        #expect(withoutLeaf.certificates.count == 2)
        #expect(try trust(withoutLeaf).failure?.code == .unreadableCertificate)

        let withoutIssuer = PresentedChain(served) { certificate in
            guard certificate == served[0] else { throw Unreadable() }
            return try certificate.toDERBytes()
        }
        let failure = try trust(withoutIssuer).failure
        #expect(failure?.code == .unknownIssuer)
        #expect(failure?.unusable.map(\.position) == [1])
        #expect(try trust(PresentedChain([])).failure?.code == .emptyChain)
    }
}
#endif
