import Holdfast
import HoldfastNIO
import HoldfastTesting
import NIOCore
import NIOSSL
import Testing

@Suite("A TLS configuration", .timeLimit(.minutes(15)))
struct RefusedConfigurationTests {
    typealias Code = TLSAdapterConfigurationError.Code

    private let setting: ClientSetting

    init() throws {
        setting = try ClientSetting()
    }

    private func expectRefusal(
        _ code: Code, of configuration: TLSConfiguration, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: TLSAdapterConfigurationError.self, sourceLocation: sourceLocation) {
            _ = try setting.client(for: "www.example.com", configuration: configuration)
        }
        #expect(error?.code == code, sourceLocation: sourceLocation)
        #expect(error?.remedy.isEmpty == false, sourceLocation: sourceLocation)
    }

    private func expectRefusal(
        _ code: Code, sourceLocation: SourceLocation = #_sourceLocation, change: (inout TLSConfiguration) throws -> Void
    ) rethrows {
        var configuration = TLSConfiguration.makeClientConfiguration()
        try change(&configuration)
        expectRefusal(code, of: configuration, sourceLocation: sourceLocation)
    }

    @Test("without verification is refused, since NIOSSL then ignores a rejection")
    func disabled() {
        expectRefusal(.verificationDisabled) { $0.certificateVerification = .none }
    }

    @Test("with optional verification is refused")
    func optional() {
        expectRefusal(.verificationOptional) { $0.certificateVerification = .optionalVerification }
    }

    @Test("made for a server is refused")
    func server() throws {
        let leaf = try setting.root.leaf(names: ["www.example.com"])
        let configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: leaf.der, format: .der))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: leaf.key.privateKeyDER, format: .der)))
        expectRefusal(.verificationDisabled, of: configuration)
    }

    @Test("with a server's settings is refused")
    func serverSettings() {
        expectRefusal(.serverSetting) { $0.sendCANameList = true }
        expectRefusal(.serverSetting) { $0.sslContextCallback = { _, promise in promise.succeed(.noChanges) } }
    }

    @Test("with keys shared in advance is refused, on either side and with a hint alone")
    func preSharedKeys() {
        expectRefusal(.preSharedKey) { $0.pskClientProvider = { _ in throw ChannelError.eof } }
        expectRefusal(.preSharedKey) { $0.pskServerProvider = { _ in throw ChannelError.eof } }
        expectRefusal(.preSharedKey) { $0.pskHint = "hint" }
    }

    @Test("with keys shared in advance by the deprecated spellings is refused")
    func preSharedKeyCallbacks() {
        expectRefusal(.preSharedKey) { configuration in
            let settings: any DeprecatedSettings = configuration
            settings.setClientCallback(on: &configuration)
        }
        expectRefusal(.preSharedKey) { configuration in
            let settings: any DeprecatedSettings = configuration
            settings.setServerCallback(on: &configuration)
        }
    }

    @Test("with trust roots is refused: they belong to the anchors")
    func trustRoots() throws {
        let root = try NIOSSLCertificate(bytes: setting.root.root, format: .der)
        expectRefusal(.trustRootsGiven) { $0.trustRoots = .certificates([root]) }
        expectRefusal(.trustRootsGiven) { $0.trustRoots = .file("roots.pem") }
        expectRefusal(.trustRootsGiven) { $0.additionalTrustRoots = [.certificates([root])] }
        expectRefusal(.trustRootsGiven) { $0.additionalTrustRoots = [.file("roots.pem")] }
    }

    @Test("with no version of TLS that is new enough is refused")
    func versions() {
        expectRefusal(.noVersionLeft) { $0.maximumTLSVersion = .tlsv11 }
        expectRefusal(.noVersionLeft) {
            $0.minimumTLSVersion = .tlsv13
            $0.maximumTLSVersion = .tlsv12
        }
    }

    @Test("with a key that is not the certificate's is refused")
    func foreignKey() throws {
        let leaf = try setting.root.leaf(names: ["client.example.com"])
        let other = try TestKey()
        try expectRefusal(.refusedByNIOSSL) {
            $0.certificateChain = [.certificate(try NIOSSLCertificate(bytes: leaf.der, format: .der))]
            $0.privateKey = .privateKey(try NIOSSLPrivateKey(bytes: other.privateKeyDER, format: .der))
        }
    }

    @Test("without the check of the name is accepted; the name is checked all the same")
    func noHostnameVerification() throws {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .noHostnameVerification
        configuration.trustRoots = nil
        _ = try setting.client(for: "www.example.com", configuration: configuration)
    }
}

/// Deprecated settings can only be reached without a warning by way of a protocol.
private protocol DeprecatedSettings {
    func setClientCallback(on configuration: inout TLSConfiguration)
    func setServerCallback(on configuration: inout TLSConfiguration)
}

extension TLSConfiguration: DeprecatedSettings {
    @available(*, deprecated, message: "sets a deprecated setting")
    fileprivate func setClientCallback(on configuration: inout TLSConfiguration) {
        configuration.pskClientCallback = { _ in throw ChannelError.eof }
    }

    @available(*, deprecated, message: "sets a deprecated setting")
    fileprivate func setServerCallback(on configuration: inout TLSConfiguration) {
        configuration.pskServerCallback = { _, _ in throw ChannelError.eof }
    }
}
