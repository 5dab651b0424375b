import Foundation
import FoundationNetworking
import HoldfastTesting
import ObjectiveC
import Security
import Testing

@testable import Holdfast
@testable import HoldfastCompatibility

/// The façades without their Objective-C: that each does what its Swift type does.
@Suite("The classes for Objective-C")
struct ObjectiveCTests {
    @Test("The numbers of the validation types are those of Swift")
    func types() {
        for type in ValidationType.allCases {
            #expect(ObjCValidationType(rawValue: type.rawValue)?.swiftType == type)
        }
        let named: [ObjCValidationType] = [
            .disabled, .standard, .custom, .pinCertificate, .pinPublicKey, .pinCertificateOnline, .pinPublicKeyOnline,
        ]
        #expect(named.map(\.swiftType) == ValidationType.allCases && named.map { Int($0.rawValue) } == Array(0...6))
        // Any number is possible; one without a name rejects.
        #expect(ObjCValidationType(rawValue: 7)?.swiftType == .custom)
    }

    @Test("The older generation makes, adds, finds and asks policies")
    func olderGeneration() throws {
        let fixture = try AppleFixture()
        let composer = ObjCComposePolicy(withValidation: .standard, forHost: "https://\(fixture.host)")
        #expect(composer.validateHostName && !composer.allowInsecureServerTrust)
        let policy = composer.create()
        let manager = ObjCTrustManager(trustPolicies: [policy])
        let disabled = ObjCComposePolicy(withValidation: .disabled, forHost: "off.example")
        let custom = ObjCComposePolicy(withValidation: .custom, forHost: "custom.example")
        custom.customValidation = { $0 == nil }
        manager.add(policies: [disabled.create(), custom.create()])
        let found = try #require(manager.policy(forHost: fixture.host))
        #expect(found.hostName == fixture.host)
        #expect(found.validate(with: fixture.secTrust()))
        #expect(!found.validate(with: fixture.secTrust(systemAnchors: [])))
        #expect(!found.validate(with: nil))
        #expect(manager.policy(forHost: "off.example")?.validate(with: nil) == true)
        #expect(manager.policy(forHost: "custom.example")?.validate(with: nil) == true)
        #expect(manager.policy(forHost: "unknown.example") == nil)
    }

    @Test("The newer generation makes, lists and removes policies")
    func newerGeneration() throws {
        let fixture = try AppleFixture()
        let manager = ObjCTrustManager()
        let settings = ObjCValidationSettings.defaultSettings
        settings.sslValidateHostName = false
        #expect(ObjCValidationSettings.defaultSettings.sslValidateHostName, "a change reaches no other settings")
        let policy = manager.create(type: .standard, hostName: fixture.host, settings: settings)
        manager.add(policy: policy)
        #expect(manager.allNames == [fixture.host])
        #expect(manager.allPolicies.map(\.hostName) == [fixture.host])
        #expect(manager.policies[fixture.host]?.validate(withTrust: fixture.secTrust()) == true)
        #expect(manager.policy(for: fixture.host)?.hostName == fixture.host)
        #expect(manager.removePolicy(name: fixture.host)?.hostName == fixture.host)
        #expect(manager.allNames.isEmpty)
    }

    @Test("Settings may be nil, policies are replaced by assignment, and managers and settings have their protocols")
    func protocols() throws {
        let fixture = try AppleFixture()
        let manager: any ObjCTrustManaging = ObjCTrustManager()
        let policy = manager.create(type: .standard, hostName: fixture.host, settings: nil)
        #expect(policy.validate(withTrust: fixture.secTrust()))
        #expect(!policy.validate(withTrust: fixture.secTrust(systemAnchors: [])))
        manager.policies = [fixture.host: policy, "b.example": policy]
        #expect(manager.allNames.sorted() == ["b.example", fixture.host].sorted())
        let settings: any ObjCValidationCustomizable = ObjCValidationSettings.defaultSettings
        settings.customValidation = { $0 == nil }
        #expect(settings.sslValidateHostName && !settings.certificatePinOnly)
        #expect(settings.customValidation?(nil) == true)
    }

    @Test("The oldest generation's names list and remove policies")
    func oldest() {
        let manager = ObjCTrustManager(
            trustPolicies: ["a.example", "b.example"].map {
                ObjCComposePolicy(withValidation: .disabled, forHost: $0).create()
            })
        manager.removePolicy(for: "a.example")
        #expect(manager.allHostNames() == ["b.example"])
        #expect(ObjCTrustManager(with: manager.allPolicies).allHostNames() == ["b.example"])
    }

    private struct Waiting: TrustPolicy {
        let scope: PolicyScope
        let reason: TrustFailure?
        let count: Lock<Int>
        var needsPreparation: Bool { count.withLock { $0 == 0 } }
        func prepare() async throws {
            count.withLock { $0 += 1 }
            if let reason { throw reason }
        }
        func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
            TrustDecision(.trusted, policyName: hostName, host: trust.host, time: time, chain: trust.chain)
        }
    }

    @Test(
        "Objective-C waits for what policies wait for, one by one and by the manager, and learns why one cannot decide")
    func prepare() async throws {
        let reason = TrustFailure(.noUsablePins, expected: "a document", found: "none")
        func waiting(_ name: String, _ reason: TrustFailure? = nil) -> Waiting {
            Waiting(scope: PolicyScope(hostName: name), reason: reason, count: Lock(0))
        }
        let (one, two, bad) = (waiting("a.example"), waiting("b.example"), waiting("c.example", reason))
        let manager = ObjCTrustManager(TrustManager(policies: [one, two]))
        func error(_ prepare: (@escaping @Sendable ((any Error)?) -> Void) -> Void) async -> (any Error)? {
            await withCheckedContinuation { continuation in prepare { continuation.resume(returning: $0) } }
        }
        let policy = try #require(manager.policy(for: "a.example"))
        #expect(await error { policy.prepare(completionHandler: $0) } == nil)
        #expect(one.count.withLock { $0 } == 1 && two.count.withLock { $0 } == 0)
        #expect(await error { manager.prepare(completionHandler: $0) } == nil)
        #expect(one.count.withLock { $0 } == 1 && two.count.withLock { $0 } == 1)
        manager.manager.add(policy: bad)
        #expect(await error { manager.prepare(completionHandler: $0) } as? TrustFailure == reason)
        let last = waiting("d.example", reason)
        #expect(await error { ObjCPolicy(last).prepare(completionHandler: $0) } as? TrustFailure == reason)
    }

    @Test("Settings and composers take a trust server, its certificate, a customer and older digests")
    func trustServer() throws {
        let settings = ObjCValidationSettings.defaultSettings
        let composer = ObjCComposePolicy(withValidation: .pinPublicKeyOnline, forHost: "a.example")
        #expect(!settings.allowsLegacyDigests && !composer.allowsLegacyDigests && settings.trustServer == nil)
        settings.trustServer = URL(string: "https://pins.example.com/a.signed")
        settings.trustServerCertificate = Data([1])
        settings.customer = "a"
        (settings.allowsLegacyDigests, composer.allowsLegacyDigests) = (true, true)
        #expect(settings.settings.trustServer == settings.trustServer && settings.trustServer != nil)
        #expect(settings.settings.trustServerCertificate == Data([1]) && settings.settings.customer == "a")
        #expect(settings.settings.onlinePinning.allowsLegacyDigests)
        #expect(composer.composer.onlinePinning.allowsLegacyDigests)
        #expect(settings.allowsLegacyDigests && composer.allowsLegacyDigests)
    }

    @Test("Each property of settings is read from Swift's object and written to it")
    func settings() async throws {
        try await withTemporaryFolder { folder in
            let settings = ObjCValidationSettings()
            let swift = settings.settings
            let bundle = try #require(Bundle(path: folder.path))
            #expect(settings.sslValidateHostName && !settings.certificatePinOnly && settings.customValidation == nil)
            #expect(settings.certificateBundle == .main && settings.trustServerCertificate == nil)
            #expect(settings.trustServer == nil && settings.customer == nil && !settings.allowsLegacyDigests)
            settings.sslValidateHostName = false
            settings.certificatePinOnly = true
            settings.certificateBundle = bundle
            settings.customValidation = { $0 == nil }
            settings.trustServer = URL(string: "https://pins.example.com/a.signed")
            settings.trustServerCertificate = Data([1])
            settings.customer = "a"
            #expect(!swift.sslValidateHostName && swift.certificatePinOnly && swift.certificateBundle == bundle)
            #expect(swift.customValidation?(nil) == true && swift.trustServerCertificate == Data([1]))
            #expect(swift.trustServer?.absoluteString == "https://pins.example.com/a.signed" && swift.customer == "a")
            #expect(!settings.sslValidateHostName && settings.certificatePinOnly)
            #expect(settings.certificateBundle == bundle && settings.customValidation?(nil) == true)
            #expect(settings.trustServer == swift.trustServer && settings.customer == "a")
            #expect(settings.trustServerCertificate == Data([1]))
        }
    }

    @Test("Each property of a composer is read from Swift's object and written to it")
    func composer() async throws {
        try await withTemporaryFolder { folder in
            let composer = ObjCComposePolicy(withValidation: .standard, forHost: "a.example")
            let swift = composer.composer
            let bundle = try #require(Bundle(path: folder.path))
            #expect(swift.validationType == .standard && swift.hostName == "a.example")
            composer.validationType = .pinPublicKey
            composer.hostName = "b.example"
            composer.validateHostName = false
            composer.certificateBundle = bundle
            composer.allowInsecureServerTrust = true
            composer.customValidation = { $0 == nil }
            composer.trustServer = URL(string: "https://pins.example.com/a.signed")
            composer.trustServerCertificate = Data([1])
            composer.customer = "a"
            #expect(swift.validationType == .pinPublicKey && swift.hostName == "b.example" && !swift.validateHostName)
            #expect(swift.certificateBundle == bundle && swift.allowInsecureServerTrust)
            #expect(swift.customValidation?(nil) == true && swift.trustServerCertificate == Data([1]))
            #expect(swift.trustServer?.absoluteString == "https://pins.example.com/a.signed" && swift.customer == "a")
            #expect(composer.validationType == .pinPublicKey && composer.hostName == "b.example")
            #expect(!composer.validateHostName && composer.certificateBundle == bundle)
            #expect(composer.allowInsecureServerTrust && composer.customValidation?(nil) == true)
            #expect(composer.trustServer == swift.trustServer && composer.customer == "a")
            #expect(composer.trustServerCertificate == Data([1]))
        }
    }

    @Test("A session's delegate answers by the policies of its manager, and says why it refused")
    func sessionDelegate() async throws {
        let fixture = try AppleFixture()
        let manager = ObjCTrustManager()
        manager.add(policy: ObjCComposePolicy(withValidation: .standard, forHost: fixture.host).create())
        let (delegate, session) = (ObjCPinnedSessionDelegate(manager: manager), URLSession(configuration: .ephemeral))
        func ask(_ trust: SecTrust) async -> Answer {
            await answer {
                delegate.urlSession(session, didReceive: fixture.challenge(trust), completionHandler: $0)
            }
        }
        #expect(await ask(fixture.secTrust()) == .trusted)
        #expect(delegate.failureText(forHost: fixture.host) == nil)
        #expect(await ask(fixture.secTrust(systemAnchors: [])) == .cancelled)
        let failure = try #require(delegate.failure(forHost: fixture.host))
        #expect(delegate.failureText(forHost: fixture.host) == failure.description)
        #expect(delegate.failureText(forHost: "other.example") == nil)
    }

    @Test("The shared manager is Swift's")
    func shared() throws {
        let fixture = try AppleFixture()
        ObjCTrustManager.sharedInstance.add(
            policy: ObjCComposePolicy(withValidation: .standard, forHost: fixture.host).create())
        defer { TrustManager.shared.removePolicy(name: fixture.host) }
        #expect(TrustManager.shared.policy(for: fixture.host) != nil)
        #expect(ObjCTrustManager.shared === ObjCTrustManager.sharedInstance)
    }

    // Policies of the application's own; which of the two methods each has, the runtime says.

    private final class NewerOwn: NSObject, ObjCTrustPolicy, StandInResponder {
        let hostName = "own.example"
        let implemented: Set<Selector> = [.validateWithTrust]
        func validate(withTrust trust: SecTrust?) -> Bool { trust != nil }
    }

    private final class OlderOwn: NSObject, ObjCTrustPolicy, StandInResponder {
        let hostName = "own.example"
        let implemented: Set<Selector> = [.validateWith]
        func validate(with trust: SecTrust?) -> Bool { trust != nil }
    }

    private final class BothOwn: NSObject, ObjCTrustPolicy, StandInResponder {
        let hostName = "own.example"
        let implemented: Set<Selector> = [.validateWithTrust, .validateWith]
        func validate(withTrust trust: SecTrust?) -> Bool { trust != nil }
        func validate(with trust: SecTrust?) -> Bool { false }
    }

    private final class EmptyOwn: NSObject, ObjCTrustPolicy, StandInResponder {
        let hostName = "own.example"
        let implemented: Set<Selector> = []
    }

    @Test("A class of the application's own is asked by its method, the newer one of two, and only about its host")
    func foreignPolicy() throws {
        let fixture = try AppleFixture()
        let own = try fixture.dialed("own.example")
        let policies: [(any ObjCTrustPolicy, Bool)] = [
            (NewerOwn(), true), (OlderOwn(), true), (BothOwn(), true), (EmptyOwn(), false),
        ]
        for (policy, isTrusted) in policies {
            let manager = ObjCTrustManager()
            manager.add(policy: policy)
            #expect(manager.manager.evaluate(ServerTrust(fixture.secTrust(), host: own)).isTrusted == isTrusted)
            #expect(manager.policy(for: "own.example")?.validate(withTrust: nil) == false)
            #expect(manager.policy(forHost: "own.example")?.validate(with: nil) == false)
            #expect(!manager.manager.evaluate(ServerTrust(fixture.secTrust(), host: try fixture.dialed())).isTrusted)
        }
    }
}
