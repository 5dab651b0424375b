import Foundation
import HoldfastTesting
import Security
import Testing

@testable import Holdfast

/// The façades without their Objective-C: that each does what its Swift type does.
@Suite("The classes for Objective-C")
struct ObjectiveCTests {
    @Test("The numbers of the validation types are those of Swift")
    func types() {
        for type in ValidationType.allCases {
            #expect(ObjCValidationType(rawValue: type.rawValue)?.swiftType == type)
        }
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

    @Test("The shared manager is Swift's")
    func shared() throws {
        let fixture = try AppleFixture()
        ObjCTrustManager.sharedInstance.add(
            policy: ObjCComposePolicy(withValidation: .standard, forHost: fixture.host).create())
        defer { TrustManager.shared.removePolicy(name: fixture.host) }
        #expect(TrustManager.shared.policy(for: fixture.host) != nil)
        #expect(ObjCTrustManager.shared === ObjCTrustManager.sharedInstance)
    }

    @Test("A class of the application's own is asked, and only about its host")
    func foreignPolicy() throws {
        final class Own: NSObject, ObjCTrustPolicy {
            let hostName = "own.example"
            func validate(withTrust trust: SecTrust?) -> Bool { trust != nil }
            func validate(with trust: SecTrust?) -> Bool { validate(withTrust: trust) }
        }
        let fixture = try AppleFixture()
        let manager = ObjCTrustManager()
        manager.add(policy: Own())
        let own = try fixture.dialled("own.example")
        #expect(manager.manager.evaluate(ServerTrust(fixture.secTrust(), host: own)).isTrusted)
        #expect(manager.policy(for: "own.example")?.validate(withTrust: nil) == false)
        #expect(!manager.manager.evaluate(ServerTrust(fixture.secTrust(), host: try fixture.dialled())).isTrusted)
    }
}
