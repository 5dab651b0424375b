import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastCompatibility

@Suite("Policies from the published settings", .timeLimit(.minutes(15)))
struct PublishedPolicyTests {
    /// A bundle with these files.
    private func withBundle<Result>(
        _ files: [String: [UInt8]], _ body: (Bundle) async throws -> Result
    ) async throws -> Result {
        try await withTemporaryFolder { folder in
            for (name, content) in files { try Data(content).write(to: folder.appending(path: name)) }
            return try await body(try #require(Bundle(path: folder.path)))
        }
    }

    private func settings(
        _ bundle: Bundle, host: Bool = true, pinOnly: Bool = false
    ) -> ValidationSettings {
        let settings = ValidationSettings.defaultSettings
        settings.certificateBundle = bundle
        settings.sslValidateHostName = host
        settings.certificatePinOnly = pinOnly
        return settings
    }

    @Test("Every certificate in the bundle pins, by its key or as a whole")
    func bundle() async throws {
        let fixture = try PolicyFixture()
        let manager = TrustManager(clock: fixture.clock)
        let files = ["leaf.cer": fixture.leaf.der, "other.cer": fixture.root.der, "ignored.crt": [1], "a.txt": [2]]
        try await withBundle(files) { bundle in
            let renewed = try fixture.trust(fixture.issuing.renew(fixture.leaf).chain)
            for type in [ValidationType.pinPublicKey, .pinCertificate] {
                let policy = manager.create(type: type, hostName: PolicyFixture.host, settings: settings(bundle))
                let decision = policy.evaluate(try fixture.trust(), at: fixture.now)
                #expect(decision.isTrusted)
                let subject = type == .pinPublicKey ? Pin.Subject.publicKey : .certificate
                #expect(decision.configuredPins.map(\.subject) == [subject, subject])
                // The root is pinned as well, so a renewed leaf passes either way.
                #expect(policy.evaluate(renewed, at: fixture.now).isTrusted)
            }
        }
        try await withBundle(["leaf.cer": fixture.leaf.der]) { bundle in
            let renewed = try fixture.trust(fixture.issuing.renew(fixture.leaf).chain)
            let byKey = manager.create(type: .pinPublicKey, hostName: PolicyFixture.host, settings: settings(bundle))
            #expect(byKey.validate(trust: renewed, clock: fixture.clock))
            let whole = manager.create(type: .pinCertificate, hostName: PolicyFixture.host, settings: settings(bundle))
            #expect(!whole.validate(trust: renewed, clock: fixture.clock))
        }
    }

    @Test("A file in the bundle that cannot be read makes a policy that rejects and names it")
    func unreadable() async throws {
        let fixture = try PolicyFixture()
        try await withBundle(["leaf.cer": fixture.leaf.der, "broken.cer": [0x30, 0x01]]) { bundle in
            let manager = TrustManager()
            let policy = manager.create(type: .pinPublicKey, hostName: PolicyFixture.host, settings: settings(bundle))
            let failure = try #require(policy.evaluate(try fixture.trust(), at: fixture.now).failure)
            #expect(failure.code == .invalidConfiguration)
            #expect(failure.found.contains("broken.cer"))
            let error = try #require(throws: PolicyConfigurationError.self) {
                try manager.makePolicy(
                    type: .pinPublicKey, hostName: PolicyFixture.host, settings: settings(bundle))
            }
            #expect(error.code == .unreadableCertificates && error.hostName == PolicyFixture.host)
            #expect(error.found.contains("broken.cer"))
            #expect(failure.found.contains(error.found))
            #expect(failure.expected == error.expected && failure.remedy == error.remedy)
        }
    }

    @Test("Pinning with an empty bundle, custom validation without a closure and a name that is no host are errors")
    func errors() async throws {
        try await withBundle([:]) { bundle in
            let manager = TrustManager()
            let cases: [(ValidationType, String, PolicyConfigurationError.Code)] = [
                (.pinPublicKey, "A.example", .noPins), (.pinCertificate, "a.example", .noPins),
                (.custom, "https://A.example/", .missingCustomValidation), (.standard, "A b", .invalidHostName),
                (.disabled, "", .invalidHostName), (.standard, "*.com", .invalidHostName),
                (.disabled, "127.1", .invalidHostName), (.standard, "https://", .invalidHostName),
            ]
            for (type, host, expected) in cases {
                let error = #expect(throws: PolicyConfigurationError.self) {
                    try manager.makePolicy(type: type, hostName: host, settings: settings(bundle))
                }
                // A name that is no host is named as it was given.
                let name = expected == .invalidHostName ? host : "a.example"
                #expect(error?.code == expected && error?.hostName == name)
                #expect(expected != .noPins || error?.found.contains(bundle.bundlePath) == true)
                let composer = ComposePolicy(withValidation: type, forHost: host)
                composer.certificateBundle = bundle
                #expect(code { try composer.makePolicy() } == expected)
                let policy = composer.create()
                #expect(policy.hostName == name)
                #expect(policy.decisionWithoutTrust(at: .distantPast).failure?.code == .invalidConfiguration)
            }
        }
    }

    @Test("An online type without its server, certificate or customer rejects and names all that is missing")
    func onlineParameters() throws {
        let fixture = try PolicyFixture()
        let signer = try TestAuthority.root(name: "gcx")
        let url = try #require(URL(string: "https://pins.example.com/gcx.json.signed"))
        for type in [ValidationType.pinCertificateOnline, .pinPublicKeyOnline] {
            for missing in [
                ["trustServer"], ["trustServerCertificate"], ["customer"],
                ["trustServer", "trustServerCertificate", "customer"],
            ] {
                let settings = ValidationSettings.defaultSettings
                settings.onlinePinning.secureDataStore = InMemoryDataStore()
                settings.trustServer = missing.contains("trustServer") ? nil : url
                settings.trustServerCertificate =
                    missing.contains("trustServerCertificate") ? nil : Data(signer.certificate.der)
                settings.customer = missing.contains("customer") ? (missing.count == 1 ? "" : nil) : "gcx"
                let composer = ComposePolicy(withValidation: type, forHost: PolicyFixture.host)
                composer.onlinePinning = settings.onlinePinning
                composer.trustServer = settings.trustServer
                composer.trustServerCertificate = settings.trustServerCertificate
                composer.customer = settings.customer
                let manager = TrustManager()
                for policy in [
                    manager.create(type: type, hostName: PolicyFixture.host, settings: settings), composer.create(),
                ] {
                    let failure = try #require(policy.evaluate(try fixture.trust(), at: fixture.now).failure)
                    #expect(failure.code == .invalidConfiguration)
                    #expect(failure.expected == missing.joined(separator: ", "))
                    #expect(!policy.validate(trust: nil))
                }
                for make in [
                    { try manager.makePolicy(type: type, hostName: PolicyFixture.host, settings: settings) },
                    { try composer.makePolicy() },
                ] {
                    let error = try #require(throws: PolicyConfigurationError.self) { _ = try make() }
                    #expect(error.code == .missingParameter && error.expected == missing.joined(separator: ", "))
                    #expect(error.hostName == PolicyFixture.host && error.found == "none")
                    #expect(missing.allSatisfy(error.remedy.contains))
                }
            }
        }
    }

    @Test("A trust server's certificate that is none, and settings that cannot be meant, are configuration errors")
    func onlineConfiguration() throws {
        let signer = try TestAuthority.root(name: "gcx")
        let composer = ComposePolicy(withValidation: .pinPublicKeyOnline, forHost: PolicyFixture.host)
        composer.onlinePinning.secureDataStore = InMemoryDataStore()
        composer.trustServer = URL(string: "https://pins.example.com/gcx.json.signed")
        composer.customer = "gcx"
        composer.trustServerCertificate = Data("no certificate".utf8)
        let reason = try #require(throws: DocumentError.self) {
            try TrustServerSigner(certificate: Data("no certificate".utf8))
        }
        let error = try #require(throws: PolicyConfigurationError.self) { try composer.makePolicy() }
        #expect(error.code == .invalidParameter && error.hostName == PolicyFixture.host)
        #expect(error.expected == "trustServerCertificate: \(reason.expected)")
        #expect(error.found == reason.found && error.remedy == reason.remedy)
        #expect(!composer.create().validate(trust: nil))
        composer.trustServerCertificate = Data(signer.certificate.der)
        #expect(code { try composer.makePolicy() } == nil)
        for maximumAge in [.zero, .seconds(-1)] as [Duration] {
            composer.onlinePinning.maximumAge = maximumAge
            let error = try #require(throws: PolicyConfigurationError.self) { try composer.makePolicy() }
            #expect(error.code == .invalidParameter && error.hostName == PolicyFixture.host)
            let reason = try #require(throws: StoreError.self) {
                try TrustServerStore(
                    checking: TrustServerConfiguration(
                        url: try #require(composer.trustServer),
                        signer: TrustServerSigner(certificate: Data(signer.certificate.der)), customer: "gcx",
                        settings: composer.onlinePinning))
            }
            #expect(error.expected == reason.expected && error.expected.contains("maximumAge"))
            #expect(error.found == reason.found && error.remedy == reason.remedy)
        }
    }

    @Test("Settings are copied: what changes after create does not reach the policy")
    func copied() throws {
        let settings = ValidationSettings.defaultSettings
        settings.customValidation = { _ in false }
        let policy = TrustManager().create(type: .custom, hostName: "a.example", settings: settings)
        settings.customValidation = { _ in true }
        #expect(!policy.validate(trust: nil))
        #expect(ValidationSettings.defaultSettings.customValidation == nil)
        #expect(ValidationSettings.defaultSettings !== ValidationSettings.defaultSettings)
    }

    @Test("Without host checking the certificate need not name the host")
    func withoutHostCheck() async throws {
        let fixture = try PolicyFixture()
        try await withBundle(["leaf.cer": fixture.leaf.der]) { bundle in
            let manager = TrustManager(clock: fixture.clock)
            for host in [true, false] {
                let policy = manager.create(
                    type: .pinPublicKey, hostName: "other.example", settings: settings(bundle, host: host))
                let trust = try fixture.trust(host: "other.example")
                #expect(policy.validate(trust: trust, clock: fixture.clock) == !host)
                let bare = try fixture.trust(host: nil)
                #expect(policy.validate(trust: bare, clock: fixture.clock) == !host)
                let standard = manager.create(
                    type: .standard, hostName: "other.example", settings: settings(bundle, host: host))
                #expect(standard.validate(trust: trust, clock: fixture.clock) == !host)
            }
        }
    }

    @Test("allowInsecureServerTrust is pins alone, for the pinning types only")
    func insecure() async throws {
        let fixture = try PolicyFixture()
        let lone = try TestAuthority.selfSigned(names: [.dns(PolicyFixture.host)], clock: fixture.clock)
        let trust = try fixture.trust(lone.chain)
        try await withBundle(["lone.cer": lone.der]) { bundle in
            for type in [ValidationType.standard, .pinCertificate, .pinPublicKey] {
                for insecure in [true, false] {
                    let composer = ComposePolicy(withValidation: type, forHost: "https://\(PolicyFixture.host)/path")
                    composer.certificateBundle = bundle
                    composer.allowInsecureServerTrust = insecure
                    let policy = composer.create()
                    #expect(policy.hostName == PolicyFixture.host)
                    let expected = insecure && type != .standard
                    #expect(policy.evaluate(trust, at: fixture.now).isTrusted == expected)
                }
            }
        }
    }

    @Test("Two hosts that share a bundle are told so once")
    func sharedBundle() async throws {
        let fixture = try PolicyFixture()
        let log = RecordingLog()
        let policyLog = log.policyLog
        try await withBundle(["leaf.cer": fixture.leaf.der]) { bundle in
            for host in ["a.example", "https://A.example/", "B.example", "c.example"] {
                _ = PublishedPolicy(
                    type: .pinCertificate, hostName: host, validatesHostName: true, bundle: bundle,
                    certificatePinOnly: false, customValidation: nil,
                    online: PublishedPolicy.OnlinePinning(
                        trustServer: nil, trustServerCertificate: nil, customer: nil,
                        settings: OnlinePinningSettings()),
                    log: policyLog
                ).create()
            }
        }
        #expect(log.lines.count == 1)
        #expect(log.lines.first?.contains("a.example, b.example") == true)
    }
}
