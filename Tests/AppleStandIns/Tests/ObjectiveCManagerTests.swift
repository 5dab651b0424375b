import HoldfastTesting
import ObjectiveC
import Security
import Testing

@testable import Holdfast
@testable import HoldfastCompatibility

/// Arguments and results of the manager for Objective-C: a test here fails if one is ignored.
@Suite("The manager for Objective-C")
struct ObjectiveCManagerTests {
    private func disabled(_ hosts: String...) -> [any ObjCTrustPolicy] {
        hosts.map { ObjCComposePolicy(withValidation: .disabled, forHost: $0).create() }
    }

    @Test("A manager makes a policy of the given type and settings, and does not add it")
    func create() throws {
        let fixture = try AppleFixture()
        let manager = ObjCTrustManager()
        let accepting = manager.create(type: .disabled, hostName: "a.example", settings: nil)
        #expect(accepting.validate(withTrust: nil) && accepting.validate(with: nil))
        let settings = ObjCValidationSettings()
        settings.customValidation = { $0 == nil }
        let custom = manager.create(type: .custom, hostName: fixture.host, settings: settings)
        #expect(custom.validate(withTrust: nil) && !custom.validate(withTrust: fixture.secTrust()))
        #expect(manager.allNames.isEmpty)
    }

    @Test("A policy is found by a name that its pattern covers, and by a URL, by either generation's name")
    func lookup() {
        let manager = ObjCTrustManager(trustPolicies: disabled("**.a.example", "*.b.example"))
        for (name, found) in [
            ("c.d.a.example", "**.a.example"), ("https://A.example/path", "**.a.example"),
            ("c.b.example", "*.b.example"), ("c.d.b.example", nil), ("b.example", nil),
        ] as [(String, String?)] {
            #expect(manager.policy(for: name)?.hostName == found, "\(name)")
            #expect(manager.policy(forHost: name)?.hostName == found, "\(name)")
        }
    }

    @Test("Every policy is kept and listed, exact hosts first, whichever initializer or list it came by")
    func lists() {
        let policies = disabled("**.a.example", "b.a.example", "c.a.example")
        let names = ["b.a.example", "c.a.example", "**.a.example"]
        let added = ObjCTrustManager()
        added.add(policies: policies)
        for manager in [ObjCTrustManager(trustPolicies: policies), ObjCTrustManager(with: policies), added] {
            #expect(manager.allPolicies.map(\.hostName) == names)
            #expect(manager.allNames == names && manager.allHostNames() == names)
            #expect(manager.policies.keys.sorted() == names.sorted())
        }
    }

    @Test("Removing a host leaves the pattern that covers it, and assigning removes all that is not assigned")
    func removal() {
        let manager = ObjCTrustManager(with: disabled("**.a.example", "b.a.example"))
        #expect(manager.removePolicy(name: "c.a.example") == nil)
        manager.removePolicy(for: "c.a.example")
        #expect(manager.allNames == ["b.a.example", "**.a.example"])
        #expect(manager.removePolicy(name: "b.a.example")?.hostName == "b.a.example")
        #expect(manager.policy(for: "b.a.example")?.hostName == "**.a.example")
        manager.policies = ["d.example": ObjCComposePolicy(withValidation: .disabled, forHost: "d.example").create()]
        #expect(manager.allNames == ["d.example"])
    }
}
