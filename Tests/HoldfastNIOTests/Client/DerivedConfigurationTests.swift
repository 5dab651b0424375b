import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOSSL
import Testing

@testable import HoldfastNIO

@Suite("The configuration that Holdfast connects with", .timeLimit(.minutes(15)))
struct DerivedConfigurationTests {
    @Test("verifies nothing by itself, never renegotiates, and is TLS 1.2 or newer")
    func replaced() throws {
        var given = TLSConfiguration.makeClientConfiguration()
        given.renegotiationSupport = .always
        let derived = try ClientTLSConfiguration.derived(from: given, oldestTLSVersion: .tlsv12)
        #expect(derived.certificateVerification == .noHostnameVerification)
        #expect(derived.trustRoots == .certificates([]))
        #expect(derived.renegotiationSupport == .none)
        #expect(derived.minimumTLSVersion == .tlsv12)
        #expect(derived.verifySignatureAlgorithms?.contains(.rsaPkcs1Sha1) == false)
        #expect(derived.verifySignatureAlgorithms?.contains(.ecdsaSha1) == false)
    }

    @Test("keeps what does not concern trust")
    func kept() throws {
        var given = TLSConfiguration.makeClientConfiguration()
        given.cipherSuites = "ECDHE+AESGCM"
        given.curves = [.x25519]
        given.verifySignatureAlgorithms = [.ecdsaSecp256R1Sha256]
        given.signingSignatureAlgorithms = [.ecdsaSecp256R1Sha256]
        given.minimumTLSVersion = .tlsv13
        given.maximumTLSVersion = .tlsv13
        given.applicationProtocols = ["h2", "http/1.1"]
        given.shutdownTimeout = .seconds(1)
        given.keyLogCallback = { _ in }
        let derived = try ClientTLSConfiguration.derived(from: given, oldestTLSVersion: .tlsv12)
        #expect(derived.cipherSuites == given.cipherSuites)
        #expect(derived.curves == given.curves)
        #expect(derived.verifySignatureAlgorithms == given.verifySignatureAlgorithms)
        #expect(derived.signingSignatureAlgorithms == given.signingSignatureAlgorithms)
        #expect(derived.minimumTLSVersion == .tlsv13)
        #expect(derived.maximumTLSVersion == .tlsv13)
        #expect(derived.applicationProtocols == given.applicationProtocols)
        #expect(derived.shutdownTimeout == .seconds(1))
        #expect(derived.keyLogCallback != nil)
    }

    @Test("is older than TLS 1.2 only when that is asked for by name")
    func oldVersions() async throws {
        let setting = try ClientSetting()
        let leaf = try setting.issuing.leaf(names: ["www.example.com"])
        try await withLoopbackTLSServer(
            serving: leaf, options: .init(oldestTLSVersion: .tlsv1, newestTLSVersion: .tlsv11)
        ) { server in
            func client(_ oldest: TLSVersion) throws -> PinnedTLSClient {
                try PinnedTLSClient(
                    trust: .policy(setting.policy(for: "www.example.com")),
                    host: DialedHost("www.example.com"), validator: setting.validator(), oldestTLSVersion: oldest)
            }
            let refused = try await ClientAttempt.make(try client(.tlsv12), at: server)
            #expect(refused.errors.first is NIOSSLError)
            #expect(refused.decision.error is NIOSSLError)
            let attempt = try await ClientAttempt.make(try client(.tlsv1), at: server)
            expectTrust(attempt)
            #expect(attempt.version == .tlsv11)
        }
    }
}
