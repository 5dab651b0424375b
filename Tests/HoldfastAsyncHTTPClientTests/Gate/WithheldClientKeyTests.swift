import AsyncHTTPClient
import Crypto
import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOHTTP1
import NIOSSL
import Testing

@testable import HoldfastAsyncHTTPClient

/// A key that the process does not have.
private struct TokenKey: NIOSSLCustomPrivateKey, Hashable {
    let key: [UInt8]
    var signatureAlgorithms: [SignatureAlgorithm] { [.ecdsaSecp256R1Sha256] }

    func sign(channel: any Channel, algorithm: SignatureAlgorithm, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeCompletedFuture {
            let key = try P256.Signing.PrivateKey(derRepresentation: key)
            return ByteBuffer(bytes: try key.signature(for: Array(data.readableBytesView)).derRepresentation)
        }
    }

    func decrypt(channel: any Channel, data: ByteBuffer) -> EventLoopFuture<ByteBuffer> {
        channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
    }
}

@Suite("A client's certificate", .timeLimit(.minutes(15)))
struct WithheldClientKeyTests {
    struct Client {
        let certificate: TestCertificate
        var tls = TLSConfiguration.makeClientConfiguration()

        init(of setting: HTTPSetting, key: TestKey.Choice = .p256) throws {
            certificate = try setting.issuing.leaf(names: ["client"], key: key) {
                $0.extendedKeyUsage = [.clientAuthentication]
            }
            tls.certificateChain = try certificate.chain.map {
                .certificate(try NIOSSLCertificate(bytes: $0, format: .der))
            }
            tls.privateKey = .privateKey(
                try NIOSSLPrivateKey(bytes: certificate.key.privateKeyDER, format: .der))
        }
    }

    private static let versions: [TLSVersion] = [.tlsv12, .tlsv13]

    private func options(_ setting: HTTPSetting, _ version: TLSVersion) -> TestOrigin.Options {
        var options = TestOrigin.Options()
        options.clientRoots = [setting.root.root]
        options.newestVersion = version
        return options
    }

    /// Whether a client's certificate came: with TLS 1.2 it is to be seen. With TLS 1.3 it is encrypted, and then no
    /// encrypted record comes without it but an alert, which is shorter than any handshake message: two bytes, its type
    /// and 16 bytes of the AEAD.
    private func shows(_ wire: [UInt8], _ certificate: [UInt8], _ version: TLSVersion) -> Bool {
        guard version == .tlsv13 else { return wire.contains(certificate) }
        var rest = wire[...]
        // RFC 8446 5.1
        while rest.count >= 5, let kind = rest.first {
            let fields = Array(rest.prefix(5))
            if kind == 23, Int(fields[3]) << 8 + Int(fields[4]) != 2 + 1 + 16 { return true }
            rest = rest.dropFirst(5 + Int(fields[3]) << 8 + Int(fields[4]))
        }
        return false
    }

    @Test("goes to a server that is trusted, by a key of any kind", arguments: versions)
    func trusted(version: TLSVersion) async throws {
        for key in [TestKey.Choice.p256, .p384, .p521, .ed25519, .sharedRSA(bits: 2_048, index: 0)] {
            let setting = try HTTPSetting()
            try setting.trust("www.example.com")
            let own = try Client(of: setting, key: key)
            try await withOrigin(try setting.leaf(), options: options(setting, version)) { origin in
                try await setting.withClient({ $0.tlsConfiguration = own.tls }) {
                    try await $0.expectAnswer(origin.url())
                }
                #expect(origin.counters.clientCertificates == 1, "\(key)")
                let shown = origin.counters.wire.values.filter { shows($0, own.certificate.der, version) }
                #expect(shown.count == 1, "\(key)")
            }
        }
    }

    @Test(
        "is not among what a refused server received, whatever refuses it", arguments: versions,
        ["issuer", "pin", "pin alone", "custom"])
    func refused(version: TLSVersion, reason: String) async throws {
        let setting = try HTTPSetting()
        let host = try HostPattern("www.example.com")
        let pins = try PinSet(pins: [setting.leaf().publicKeyPin()])
        let policy: any TrustPolicy =
            switch reason {
            case "issuer": StandardPolicy(host: host)
            case "pin": try PinnedPolicy(host: host, pins: pins)
            case "pin alone": try PinnedPolicy(host: host, pins: pins, certificatePinOnly: true)
            default: CustomPolicy(host: host) { _ in false }
            }
        setting.manager.add(policy: policy)
        let own = try Client(of: setting)
        let stranger = try TestAuthority.root(name: "Stranger").leaf(names: ["www.example.com"])
        let leaf = reason == "issuer" ? stranger : try setting.leaf()
        try await withOrigin(leaf, options: options(setting, version)) { origin in
            try await setting.withClient({ $0.tlsConfiguration = own.tls }) { client in
                #expect(await client.refusal(origin.url()) != nil)
                try await expectNoRequest(origin)
            }
            #expect(origin.counters.clientCertificates == 0)
            let wires = origin.counters.wire.values
            #expect(wires.count == 2 && wires.allSatisfy { !$0.isEmpty })
            #expect(!wires.contains { shows($0, own.certificate.der, version) })
        }
    }

    @Test(
        "does not go to a server that shows a trusted certificate only where no key is proved", arguments: versions)
    func otherCertificate(version: TLSVersion) async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let own = try Client(of: setting)
        let honest = try setting.leaf()
        let stranger = try TestAuthority.root(name: "Stranger").leaf(names: ["www.example.com"])
        try await withOrigin(stranger, options: options(setting, version)) { origin in
            try await setting.withClient({ $0.tlsConfiguration = own.tls }) { client in
                // As if the handshakes for evidence had been passed on to the true server.
                let chain = PresentedChain(honest.chain)
                let look = client.evaluator.look(at: try DialedHost("www.example.com"))
                let decision = client.evaluator.unprovedDecision(about: chain, under: look)
                #expect(decision.isTrusted)
                _ = client.evidence.remember(decision, about: chain, anchors: look.anchors)
                #expect(await client.refusal(origin.url())?.code == .unknownIssuer)
                try await expectNoRequest(origin)
            }
            #expect(!origin.counters.wire.values.contains { shows($0, own.certificate.der, version) })
        }
        // And one that shows the true certificate in each, without its key.
        var options = options(setting, version)
        options.key = ReplayedKey.privateKey
        try await withOrigin(honest, options: options) { origin in
            try await setting.withClient({ $0.tlsConfiguration = own.tls }) { client in
                _ = await #expect(throws: NIOSSLError.self) { try await client.text(origin.url()) }
                try await expectNoRequest(origin)
            }
            #expect(!origin.counters.wire.values.contains { shows($0, own.certificate.der, version) })
        }
    }

    @Test("may have its key outside the process, and a custom key in the configuration is refused")
    func outsideKey() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        var own = try Client(of: setting)
        let token = TokenKey(key: own.certificate.key.privateKeyDER)
        own.tls.privateKey = nil
        var configuration = setting.configuration
        configuration.tlsConfiguration = own.tls
        let client = try PinnedHTTPClient(
            manager: setting.manager, validator: PathValidator(anchors: setting.anchors()),
            configuration: configuration, clock: setting.clock, clientKey: token)
        try await withOrigin(try setting.leaf(), options: options(setting, .tlsv13)) { origin in
            try await client.expectAnswer(origin.url())
            #expect(origin.counters.clientCertificates == 1)
        }
        try await client.shutdown()
        own.tls.privateKey = .privateKey(NIOSSLPrivateKey(customPrivateKey: token))
        let error = #expect(throws: PinnedHTTPClientError.self) {
            _ = try setting.client { $0.tlsConfiguration = own.tls }
        }
        #expect(error?.code == .tlsConfigurationRefused && error?.remedy.contains("clientKey") == true)
    }

    @Test("may come with a request, by a key of any kind in memory or in a file", arguments: [true, false])
    func ofRequest(isFile: Bool) async throws {
        for key in [TestKey.Choice.p256, .ed25519, .sharedRSA(bits: 2_048, index: 0)] {
            let setting = try HTTPSetting()
            try setting.trust("www.example.com")
            var own = try Client(of: setting, key: key)
            try await withTemporaryFolder { folder in
                if isFile {
                    let path = folder.appending(path: "client.pem").path
                    try Data(own.certificate.key.privateKeyPEM.utf8).write(to: URL(filePath: path))
                    own.tls = (own.tls as any KeyFiles).reading(key: path)
                }
                let tls = own.tls
                try await withOrigin(try setting.leaf(), options: options(setting, .tlsv13)) { origin in
                    try await setting.withClient { client in
                        for _ in 0..<2 {
                            var request = HTTPClientRequest(url: origin.url())
                            request.tlsConfiguration = tls
                            let response = try await client.execute(request, timeout: .seconds(60))
                            _ = try await response.body.collect(upTo: 1 << 16)
                            #expect(response.status == .ok, "\(key)")
                        }
                    }
                    #expect(origin.counters.clientCertificates == 1, "\(key)")
                }
            }
        }
    }

    @Test("with another's key is refused when the client is made")
    func anotherKey() throws {
        let setting = try HTTPSetting()
        var own = try Client(of: setting)
        own.tls.privateKey = .privateKey(
            try NIOSSLPrivateKey(bytes: TestKey().privateKeyDER, format: .der))
        let error = #expect(throws: PinnedHTTPClientError.self) {
            _ = try setting.client { $0.tlsConfiguration = own.tls }
        }
        #expect(error?.code == .tlsConfigurationRefused)
    }

    @Test("is used with no cipher suite that lets a server wait with the proof of its key")
    func suites() async throws {
        let setting = try HTTPSetting()
        var own = try Client(of: setting)
        // The second is the only one that BoringSSL offers only if it is asked for.
        own.tls.cipherSuites =
            "TLS_RSA_WITH_AES_128_GCM_SHA256:TLS_RSA_WITH_3DES_EDE_CBC_SHA:TLS_RSA_WITH_AES_256_CBC_SHA"
        let error = #expect(throws: PinnedHTTPClientError.self) {
            _ = try setting.client { $0.tlsConfiguration = own.tls }
        }
        #expect(error?.code == .tlsConfigurationRefused && error?.found.contains("none") == true)
        own.tls.certificateChain = []
        own.tls.privateKey = nil
        let client = try setting.client { $0.tlsConfiguration = own.tls }
        try await client.shutdown()
    }
}

/// Deprecated by NIOSSL, and in use all the same.
private protocol KeyFiles {
    func reading(key: String) -> TLSConfiguration
}

extension TLSConfiguration: KeyFiles {
    @available(*, deprecated, message: "names a file")
    func reading(key: String) -> TLSConfiguration {
        var configuration = self
        configuration.privateKey = .file(key)
        return configuration
    }
}
