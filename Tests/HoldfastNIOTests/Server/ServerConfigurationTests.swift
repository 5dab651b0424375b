import Holdfast
import HoldfastTesting
import NIOCore
import NIOSSL
import Testing

@testable import HoldfastNIO

@Suite("The TLS configuration of a server", .timeLimit(.minutes(15)))
struct ServerConfigurationTests {
    typealias Code = TLSAdapterConfigurationError.Code

    private let setting: MutualSetting

    init() throws {
        setting = try MutualSetting()
    }

    private func expectRefusal(
        _ code: Code, sourceLocation: SourceLocation = #_sourceLocation, change: (inout TLSConfiguration) throws -> Void
    ) throws {
        var configuration = try setting.configuration()
        try change(&configuration)
        let error = #expect(throws: TLSAdapterConfigurationError.self, sourceLocation: sourceLocation) {
            _ = try PinnedTLSServer(
                clients: StandardPolicy(clients: "devices"), configuration: configuration,
                validator: setting.validator())
        }
        #expect(error?.code == code, sourceLocation: sourceLocation)
        #expect(error?.remedy.isEmpty == false, sourceLocation: sourceLocation)
    }

    @Test("is refused without verification, as it is without mutual TLS")
    func disabled() throws {
        try expectRefusal(.verificationDisabled) { $0.certificateVerification = .none }
        try expectRefusal(.verificationDisabled) {
            guard let key = $0.privateKey else { return }
            $0 = .makeServerConfiguration(certificateChain: $0.certificateChain, privateKey: key)
        }
    }

    @Test("is refused with optional verification: a client without a certificate would pass unasked")
    func optional() throws {
        try expectRefusal(.verificationOptional) { $0.certificateVerification = .optionalVerification }
    }

    @Test("is refused with keys shared in advance")
    func preSharedKeys() throws {
        try expectRefusal(.preSharedKey) { $0.pskServerProvider = { _ in throw ChannelError.eof } }
        try expectRefusal(.preSharedKey) { $0.pskClientProvider = { _ in throw ChannelError.eof } }
        try expectRefusal(.preSharedKey) { $0.pskHint = "hint" }
    }

    @Test("is refused with trust roots: they belong to the anchors")
    func trustRoots() throws {
        let root = try NIOSSLCertificate(bytes: setting.root.root, format: .der)
        try expectRefusal(.trustRootsGiven) { $0.trustRoots = .certificates([root]) }
        try expectRefusal(.trustRootsGiven) { $0.trustRoots = .file("roots.pem") }
        try expectRefusal(.trustRootsGiven) { $0.additionalTrustRoots = [.certificates([root])] }
    }

    @Test("is refused when it names authorities to clients, whose names would be none")
    func namesOfAuthorities() throws {
        try expectRefusal(.namesOfAuthorities) { $0.sendCANameList = true }
    }

    @Test("is refused without the server's own certificate or key")
    func noCertificate() throws {
        try expectRefusal(.noServerCertificate) { $0.certificateChain = [] }
        try expectRefusal(.noServerCertificate) { $0.privateKey = nil }
        try expectRefusal(.noServerCertificate) { $0 = .makeClientConfiguration() }
    }

    @Test("is refused with a key that is not the certificate's")
    func foreignKey() throws {
        let other = try TestKey()
        try expectRefusal(.refusedByNIOSSL) {
            $0.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: other.privateKeyDER, format: .der))
        }
    }

    @Test("is refused with no version of TLS that is new enough")
    func versions() throws {
        try expectRefusal(.noVersionLeft) {
            $0.minimumTLSVersion = .tlsv1
            $0.maximumTLSVersion = .tlsv11
        }
    }

    @Test("asks every client for a certificate, verifies nothing by itself, and is TLS 1.2 or newer")
    func derived() throws {
        var given = try setting.configuration()
        given.certificateVerification = .fullVerification
        given.minimumTLSVersion = .tlsv1
        given.renegotiationSupport = .always
        given.applicationProtocols = ["h2"]
        given.sslContextCallback = { _, promise in promise.succeed(.noChanges) }
        for derived in [
            try ServerTLSConfiguration.derived(from: given, oldestTLSVersion: .tlsv12),
            try PeerVerification.serverConfiguration(from: given),
        ] {
            #expect(derived.certificateVerification == .noHostnameVerification)
            #expect(derived.trustRoots == .certificates([]))
            #expect(derived.renegotiationSupport == .none)
            #expect(derived.minimumTLSVersion == .tlsv12)
            #expect(derived.verifySignatureAlgorithms?.contains(.rsaPkcs1Sha1) == false)
            #expect(derived.certificateChain == given.certificateChain)
            #expect(derived.privateKey == given.privateKey)
            #expect(derived.applicationProtocols == ["h2"])
            #expect(derived.sslContextCallback != nil)
        }
    }
}
