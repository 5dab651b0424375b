import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

/// Each published property of a policy decides something: a test here fails if one is ignored.
@Suite("Published properties of policies", .quietLog, .timeLimit(.minutes(10)))
struct PublishedPropertiesTests {
    typealias Properties = PublishedGeneration.Properties

    private static let pinning: [ValidationType] = [.pinCertificate, .pinPublicKey]

    private func withBundle(of certificate: TestCertificate, _ body: (Bundle) throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try Data(certificate.der).write(to: folder.appending(path: "pinned.cer"))
            try body(try #require(Bundle(path: folder.path)))
        }
    }

    private func code(_ policy: any TrustPolicy, _ trust: SecTrust) -> TrustFailure.Code? {
        policy.decision(about: trust, at: SystemWallClock().now).failure?.code
    }

    @Test("The certificate must name the host until that is switched off", arguments: PublishedGeneration.allCases)
    func hostName(generation: PublishedGeneration) throws {
        let server = try PublishedServer()
        let trust = server.trust(server.leaf.chain, host: "other.example")
        for type in Self.pinning + [.standard] {
            for value in [nil, true, false] as [Bool?] {
                let policy = generation.policy(
                    type, for: "other.example", Properties(validatesHostName: value, bundle: server.bundle))
                #expect(
                    code(policy, trust) == (value == false ? nil : .hostNameMismatch),
                    "\(type), \(String(describing: value))")
            }
        }
    }

    @Test("Pins alone decide only if that is switched on", arguments: PublishedGeneration.allCases)
    func pinsAlone(generation: PublishedGeneration) async throws {
        let server = try PublishedServer()
        let lone = try TestAuthority.selfSigned(names: [.dns(server.host)])
        let trust = server.trust(lone.chain, host: server.host)
        try await withBundle(of: lone) { bundle in
            for type in Self.pinning + [.standard] {
                for value in [nil, true, false] as [Bool?] {
                    let policy = generation.policy(
                        type, for: server.host, Properties(bundle: bundle, pinsAlone: value))
                    let isTrusted = value == true && type != .standard
                    #expect((code(policy, trust) == nil) == isTrusted, "\(type), \(String(describing: value))")
                }
            }
        }
    }

    @Test("The certificates of the main bundle pin until another is set", arguments: PublishedGeneration.allCases)
    func bundle(generation: PublishedGeneration) async throws {
        let server = try PublishedServer()
        let trust = server.trust(server.leaf.chain, host: server.host)
        let stranger = try server.root.leaf(names: ["stranger.example"])
        for type in Self.pinning {
            // The main bundle of a test process has no certificates.
            #expect(code(generation.policy(type, for: server.host), trust) == .invalidConfiguration)
            for (certificate, expected) in [(server.leaf, nil), (stranger, .pinMismatch)]
                as [(TestCertificate, TrustFailure.Code?)]
            {
                try await withBundle(of: certificate) { bundle in
                    let policy = generation.policy(type, for: server.host, Properties(bundle: bundle))
                    #expect(code(policy, trust) == expected)
                }
            }
        }
    }

    @Test("Both generations begin with the same defaults, those that are published")
    func defaults() {
        let composer = ComposePolicy(withValidation: .standard, forHost: "www.example.com")
        #expect(composer.validateHostName && !composer.allowInsecureServerTrust)
        #expect(composer.certificateBundle == .main && composer.customValidation == nil)
        #expect(composer.trustServer == nil && composer.trustServerCertificate == nil && composer.customer == nil)
        for settings in [ValidationSettings(), .defaultSettings] {
            #expect(settings.sslValidateHostName && !settings.certificatePinOnly)
            #expect(settings.certificateBundle == .main && settings.customValidation == nil)
            #expect(settings.trustServer == nil && settings.trustServerCertificate == nil && settings.customer == nil)
        }
    }

    @Test("A renewed certificate with the same key passes a key pin and no certificate pin")
    func types() throws {
        let server = try PublishedServer()
        let renewed = server.trust(try server.root.renew(server.leaf).chain, host: server.host)
        for generation in PublishedGeneration.allCases {
            for (type, expected) in [(.pinPublicKey, nil), (.pinCertificate, .pinMismatch)]
                as [(ValidationType, TrustFailure.Code?)]
            {
                let policy = generation.policy(type, for: server.host, Properties(bundle: server.bundle))
                #expect(code(policy, renewed) == expected)
            }
        }
    }

    @Test("The closure gets the trust, or nil, and its answer is the verdict", arguments: PublishedGeneration.allCases)
    func customValidation(generation: PublishedGeneration) throws {
        let server = try PublishedServer()
        for answer in [true, false] {
            let seen = Lock<[Bool]>([])
            let policy = generation.policy(
                .custom, for: server.host,
                Properties(customValidation: { trust in
                    seen.withLock { $0.append(trust != nil) }
                    return answer
                }))
            #expect(policy.validate(trust: server.trust(server.leaf.chain, host: server.host)) == answer)
            #expect(policy.validate(trust: nil) == answer)
            #expect(seen.withLock { $0 } == [true, false])
        }
    }

    @Test("The type and the host of a composer can be changed until the policy is made")
    func composer() throws {
        let server = try PublishedServer()
        let renewed = server.trust(try server.root.renew(server.leaf).chain, host: server.host)
        let composer = ComposePolicy(withValidation: .disabled, forHost: "first.example")
        #expect(composer.validationType == .disabled && composer.hostName == "first.example")
        #expect(composer.create().hostName == "first.example")
        composer.certificateBundle = server.bundle
        composer.hostName = "https://\(server.host):8443/path"
        for (type, expected) in [(.pinCertificate, .pinMismatch), (.pinPublicKey, nil)]
            as [(ValidationType, TrustFailure.Code?)]
        {
            composer.validationType = type
            let policy = try composer.makePolicy()
            #expect(policy.hostName == server.host && code(policy, renewed) == expected)
        }
    }

    @Test("A manager makes a policy with settings or without, by name or by URL, and adds none")
    func create() throws {
        let server = try PublishedServer()
        let (manager, url) = (TrustManager(), "https://\(server.host):8443/path")
        let trust = server.trust(server.leaf.chain, host: server.host)
        for policy in [
            manager.create(type: .standard, hostName: url),
            manager.create(type: .standard, hostName: server.host, settings: nil),
            try manager.makePolicy(type: .standard, hostName: url),
        ] {
            #expect(policy.hostName == server.host && policy.validate(trust: trust))
            #expect(try !policy.validate(trust: PublishedServer.invalidTrust()))
        }
        let settings = ValidationSettings()
        settings.customValidation = { _ in true }
        #expect(manager.create(type: .custom, hostName: url, settings: settings).validate(trust: nil))
        #expect(try manager.makePolicy(type: .custom, hostName: url, settings: settings).validate(trust: nil))
        #expect(manager.allNames.isEmpty)
    }

    @Test("Every published call for a verdict gives that of evaluate, and for nil that of no trust")
    func validate() throws {
        let server = try PublishedServer()
        let trust = server.trust(server.leaf.chain, host: server.host)
        let standard = ComposePolicy(withValidation: .standard, forHost: server.host).create()
        let disabled = ComposePolicy(withValidation: .disabled, forHost: server.host).create()
        let invalid = try PublishedServer.invalidTrust()
        for (policy, trust, isTrusted) in [
            (standard, trust, true), (standard, invalid, false), (standard, nil, false), (disabled, invalid, true),
            (disabled, nil, true),
        ] as [(any TrustPolicy, SecTrust?, Bool)] {
            #expect(policy.validate(trust: trust) == isTrusted)
            #expect(policy.validate(with: trust) == isTrusted)
            #expect(policy.validate(withTrust: trust) == isTrusted)
        }
        // By this clock the certificate has expired.
        let clock = ManualClock(now: SystemWallClock().now.addingTimeInterval(100 * 366 * 86_400))
        #expect(!standard.validate(trust: trust, clock: clock))
    }

    /// Trusts, and keeps the times for which it was asked.
    private struct TimedPolicy: TrustPolicy {
        let scope = PolicyScope(hostName: "www.example.com")
        let times = Lock<[Date]>([])
        let told = Lock<[Date]>([])

        func tell(_ decision: TrustDecision) { told.withLock { $0.append(decision.time) } }

        func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision { decision(at: time) }

        func decisionWithoutTrust(at time: Date) -> TrustDecision { decision(at: time) }

        private func decision(at time: Date) -> TrustDecision {
            times.withLock { $0.append(time) }
            return TrustDecision(.trusted, policyName: hostName, host: nil, time: time, chain: nil)
        }
    }

    @Test("A policy of one's own is asked once for each verdict, for the time of the clock, and told of it")
    func time() throws {
        let (policy, clock) = (TimedPolicy(), ManualClock(now: Date(timeIntervalSince1970: 1_900_000_000)))
        let invalid = try PublishedServer.invalidTrust()
        #expect(policy.validate(trust: invalid, clock: clock) && policy.validate(trust: nil, clock: clock))
        #expect(policy.times.withLock { $0 } == [clock.now, clock.now])
        #expect(policy.told.withLock { $0 } == [clock.now])
        let begin = SystemWallClock().now
        for verdict in [
            { policy.validate(trust: $0) }, { policy.validate(with: $0) }, { policy.validate(withTrust: $0) },
        ] as [(SecTrust?) -> Bool] {
            #expect(verdict(invalid) && verdict(nil))
        }
        let times = policy.times.withLock { $0.dropFirst(2) }
        #expect(times.count == 6 && times.allSatisfy { begin <= $0 && $0 <= SystemWallClock().now })
    }

    @Test("A manager has the same policies by each generation's name for them")
    func managers() throws {
        #expect(TrustManager.sharedInstance === TrustManager.shared)
        let policies = ["a.example", "b.example", "*.d.example"].map {
            ComposePolicy(withValidation: .disabled, forHost: $0).create()
        }
        for manager in [
            TrustManager(policies: policies), TrustManager(trustPolicies: policies), TrustManager(with: policies),
        ] {
            #expect(manager.allHostNames().sorted() == ["*.d.example", "a.example", "b.example"])
            #expect(manager.policy(forHost: "A.example")?.hostName == "a.example")
            #expect(manager.policy(forHost: "c.d.example")?.hostName == "*.d.example")
            #expect(manager.policy(forHost: "https://A.example/path")?.hostName == "a.example")
            for name in ["c.example", "c.a.example", "a.c.d.example", "d.example"] {
                #expect(manager.policy(forHost: name) == nil, "\(name)")
            }
            manager.removePolicy(for: "a.example")
            #expect(manager.allNames.sorted() == ["*.d.example", "b.example"])
            // A policy that covers a name is not the one of that name.
            manager.removePolicy(for: "c.d.example")
            #expect(manager.allPolicies.count == 2)
        }
    }

    @Test("The raw values are the published ones")
    func rawValues() {
        #expect(
            ValidationType.allCases.map { "\($0) \($0.rawValue)" } == [
                "disabled 0", "standard 1", "custom 2", "pinCertificate 3", "pinPublicKey 4", "pinCertificateOnline 5",
                "pinPublicKeyOnline 6",
            ])
        #expect(ValidationType(rawValue: 3) == .pinCertificate && ValidationType(rawValue: 4) == .pinPublicKey)
        #expect(
            WultraDebug.VerboseLevel.allCases.map { "\($0) \($0.rawValue)" } == [
                "off 0", "errors 1", "warnings 2", "all 3",
            ])
        #expect(SSLValidationStrategy.allCases.map(\.rawValue) == ["default", "noValidation"])
        #expect(CertStore.UpdateMode.allCases.map(\.rawValue) == ["default", "forced"])
        #expect(CertStore.ValidationResult.allCases.map(\.rawValue) == ["trusted", "untrusted", "empty"])
        #expect(
            CertStore.UpdateResult.allCases.map(\.rawValue) == [
                "ok", "storeIsEmpty", "networkError", "invalidData", "invalidSignature",
            ])
    }
}
