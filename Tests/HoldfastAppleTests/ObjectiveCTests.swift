import Foundation
import HoldfastTesting
import ObjectiveC
import Security
import Testing

@testable import Holdfast
@testable import HoldfastCompatibility

/// Holdfast as the Objective-C runtime knows it: names, methods, and an application's own classes.
@Suite("Holdfast in the Objective-C runtime")
struct ObjectiveCTests {
    private static let instanceMethods: [String: [String]] = [
        "GCXTrustManager": [
            "init", "initWithTrustPolicies:", "initWith:", "createWithType:hostName:settings:", "addWithPolicy:",
            "addWithPolicies:", "policyFor:", "policyForHost:", "removePolicyWithName:", "removePolicyFor:", "policies",
            "setPolicies:", "allPolicies", "allNames", "allHostNames", "prepareWithCompletionHandler:",
        ],
        "GCXComposePolicy": [
            "initWithValidation:forHost:", "validationType", "setValidationType:", "hostName", "setHostName:",
            "validateHostName", "setValidateHostName:", "certificateBundle", "setCertificateBundle:",
            "allowInsecureServerTrust", "setAllowInsecureServerTrust:", "customValidation", "setCustomValidation:",
            "trustServer", "setTrustServer:", "trustServerCertificate", "setTrustServerCertificate:", "customer",
            "setCustomer:", "allowsLegacyDigests", "setAllowsLegacyDigests:", "create",
        ],
        "GCXValidationSettings": [
            "init", "sslValidateHostName", "setSslValidateHostName:", "certificateBundle", "setCertificateBundle:",
            "certificatePinOnly", "setCertificatePinOnly:", "customValidation", "setCustomValidation:",
            "trustServer", "setTrustServer:", "trustServerCertificate", "setTrustServerCertificate:", "customer",
            "setCustomer:", "allowsLegacyDigests", "setAllowsLegacyDigests:",
        ],
        "GCXSwiftPolicy": ["hostName", "validateWithTrust:", "validateWith:", "prepareWithCompletionHandler:"],
        "GCXPinnedSessionDelegate": [
            "initWithManager:", "failureDescriptionForHost:", "URLSession:didReceiveChallenge:completionHandler:",
            "URLSession:task:didReceiveChallenge:completionHandler:",
        ],
        "ISPPinnedNSURLConnectionDelegate": ["init", "connection:willSendRequestForAuthenticationChallenge:"],
    ]

    private static let classMethods: [String: [String]] = [
        "GCXTrustManager": ["shared", "sharedInstance"],
        "GCXValidationSettings": ["defaultSettings"],
        "ISPCertificatePinning": [
            "setupSSLPinsUsingDictionnary:", "verifyPinnedCertificateForTrust:andDomain:",
        ],
    ]

    @Test("Every published class has every published method")
    func names() throws {
        for (name, methods) in Self.instanceMethods {
            let type: AnyClass = try #require(NSClassFromString(name), "\(name)")
            for method in methods {
                #expect(class_respondsToSelector(type, Selector((method))), "-[\(name) \(method)]")
            }
        }
        for (name, methods) in Self.classMethods {
            let type: AnyClass = try #require(NSClassFromString(name), "\(name)")
            for method in methods {
                #expect(class_respondsToSelector(object_getClass(type), Selector((method))), "+[\(name) \(method)]")
            }
        }
        for name in ["GCXTrustPolicy", "GCXTrustManaging", "GCXValidationCustomizable"] {
            #expect(NSProtocolFromString(name) != nil, "\(name)")
        }
    }

    // Policies of the application's own; each has one of the two methods, or none.

    private final class NewerOwn: NSObject, ObjCTrustPolicy {
        @objc let hostName = "own.example"
        @objc(validateWithTrust:) func validate(withTrust trust: SecTrust?) -> Bool { trust != nil }
    }

    private final class OlderOwn: NSObject, ObjCTrustPolicy {
        @objc let hostName = "own.example"
        @objc(validateWith:) func validate(with trust: SecTrust?) -> Bool { trust != nil }
    }

    private final class EmptyOwn: NSObject, ObjCTrustPolicy {
        @objc let hostName = "own.example"
    }

    @Test("A class of the application's own is asked by the method that it has, and trusts nobody without one")
    func ownPolicies() throws {
        let site = try AppleSite()
        let own = try DialedHost("own.example")
        let policies: [(any ObjCTrustPolicy, Bool)] = [(NewerOwn(), true), (OlderOwn(), true), (EmptyOwn(), false)]
        for (policy, isTrusted) in policies {
            let manager = ObjCTrustManager()
            manager.add(policy: policy)
            let decision = manager.manager.evaluate(ServerTrust(try site.secTrust(), host: own))
            #expect(decision.isTrusted == isTrusted, "\(type(of: policy))")
        }
    }

    @Test("A policy that Objective-C composes decides about a trust of the system's, and about none")
    func composed() throws {
        let site = try AppleSite()
        let composer = ObjCComposePolicy(withValidation: .custom, forHost: AppleSite.address)
        composer.customValidation = { $0 != nil }
        let manager = ObjCTrustManager(trustPolicies: [composer.create()])
        let policy = try #require(manager.policy(forHost: AppleSite.address) as? ObjCPolicy)
        #expect(policy.validate(withTrust: try site.secTrust()))
        #expect(!policy.validate(withTrust: nil))
        let standard = ObjCComposePolicy(withValidation: .standard, forHost: AppleSite.address).create()
        let trust = try site.secTrust()
        #expect((standard as? ObjCPolicy)?.validate(with: trust) == false)
        #expect(SecTrustSetAnchorCertificates(trust, try site.secAnchors()) == errSecSuccess)
        #expect((standard as? ObjCPolicy)?.validate(with: trust) == true)
    }

    @Test("The shared manager of Objective-C is the one of Swift")
    func shared() {
        #expect(ObjCTrustManager.shared === ObjCTrustManager.sharedInstance)
        #expect(ObjCTrustManager.shared.manager === TrustManager.shared)
    }
}
