import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

/// GCXTrustPolicy's published samples of the newer generation: the code between the marks is the published one, with
/// the corrections of Corrections.md.
@Suite("Published usage, newer generation", .quietLog, .serialized)
struct NewerGenerationTests {
    @Test("Create and add policies")
    func create() {
        let trustManager = TrustManager()
        // Published:
        // Create a simple policy:
        let pinPolicy = trustManager.create(type: .pinPublicKey, hostName: "pinnedHost.com")

        // Create a customised policy:
        let settings = ValidationSettings.defaultSettings
        settings.sslValidateHostName = false
        let noHostCheckPolicy = trustManager.create(
            type: .pinPublicKey, hostName: "otherPinnedHost.com", settings: settings)

        // Add policies to trust manager:
        trustManager.add(policies: [pinPolicy, noHostCheckPolicy])
        // End.
        #expect(trustManager.allNames.sorted() == ["otherpinnedhost.com", "pinnedhost.com"])
        #expect(trustManager.policy(for: "pinnedHost.com") != nil)
        #expect(trustManager.policies["pinnedhost.com"] != nil)
    }

    @Test("A session's delegate answers its challenge")
    func challenge() throws {
        let server = try PublishedServer()
        defer { TrustManager.shared.removePolicy(name: server.host) }
        let settings = ValidationSettings.defaultSettings
        settings.certificateBundle = server.bundle
        TrustManager.shared.add(
            policy: TrustManager.shared.create(type: .pinPublicKey, hostName: server.host, settings: settings))

        func urlSession(
            didReceive challenge: AuthenticationChallenge,
            completionHandler: @escaping (AuthChallengeDisposition, SecTrust?) -> Void
        ) {
            // Published:
            let challengedHost = challenge.protectionSpace.host

            // Validate remote trust
            if let serverTrust = challenge.protectionSpace.serverTrust {
                var isTrusted = false

                // Retrieve a matching policy for the challenged host
                if let policy = TrustManager.shared.policy(for: challengedHost) {
                    isTrusted = policy.validate(trust: serverTrust)

                    if isTrusted {
                        // Success! Server trust has been established.
                        let credential = serverTrust
                        completionHandler(.useCredential, credential)
                        return
                    }
                }

                // Cancel the challenge
                completionHandler(.cancelAuthenticationChallenge, nil)
            }
            // End.
        }
        var answers: [AuthChallengeDisposition] = []
        for space in server.protectionSpaces {
            urlSession(didReceive: AuthenticationChallenge(protectionSpace: space)) { answer, _ in
                answers.append(answer)
            }
        }
        #expect(answers == server.expectedAnswers)
    }

    @Test("Policies of every type are created, managed, retrieved and asked")
    func integration() throws {
        let testTrust = try PublishedServer.invalidTrust()
        // Published:
        // Trust policy creation tests for each trust validation type
        let trustManager = TrustManager()

        let defaultPolicy = trustManager.create(type: .standard, hostName: "*.defaultHost.com")

        let pinCertificatePolicy = trustManager.create(type: .pinCertificate, hostName: "*.pinCertHost.com")

        let pinPublicKeyPolicy = trustManager.create(type: .pinPublicKey, hostName: "*.pinPubKey.com")

        let disabledPolicy = trustManager.create(type: .disabled, hostName: "*.disabledHost.com")

        let settings = ValidationSettings.defaultSettings
        settings.customValidation = { trust -> Bool in
            /* more sophistic validataion checks should go here... */
            return false
        }
        let customPolicy = trustManager.create(type: .custom, hostName: "*.customHost.com", settings: settings)

        // Trust policy management tests
        #expect(trustManager.allPolicies.count == 0)
        #expect(trustManager.allNames.count == 0)

        let allCreatedPolicies = [
            defaultPolicy, pinCertificatePolicy, pinPublicKeyPolicy, disabledPolicy, customPolicy,
        ]
        let allNames = allCreatedPolicies.compactMap { $0.hostName }

        trustManager.add(policies: allCreatedPolicies)

        #expect(trustManager.allPolicies.count == allCreatedPolicies.count)
        #expect(trustManager.allNames.count == allNames.count)

        let removedPolicy = try #require(trustManager.removePolicy(name: "*.disabledHost.com"))

        #expect(!trustManager.allPolicies.contains { $0.hostName == removedPolicy.hostName })
        #expect(trustManager.allPolicies.count == allCreatedPolicies.count - 1)
        #expect(trustManager.allNames.count == allNames.count - 1)

        trustManager.add(policy: removedPolicy)

        #expect(trustManager.allPolicies.count == allCreatedPolicies.count)
        #expect(trustManager.allNames.count == allNames.count)

        // Trust policy retrieval and validation tests
        let defaultHostPolicy = try #require(trustManager.policy(for: "*.defaultHost.com"))
        var isTrusted = defaultHostPolicy.validate(trust: testTrust)
        #expect(!isTrusted)

        let pinCertHostPolicy = try #require(trustManager.policy(for: "*.pinCertHost.com"))
        isTrusted = pinCertHostPolicy.validate(trust: testTrust)
        #expect(!isTrusted)

        let pinPubKeyPolicy = try #require(trustManager.policy(for: "*.pinPubKey.com"))
        isTrusted = pinPubKeyPolicy.validate(trust: testTrust)
        #expect(!isTrusted)

        let disabledHostPolicy = try #require(trustManager.policy(for: "*.disabledHost.com"))
        isTrusted = disabledHostPolicy.validate(trust: testTrust)
        #expect(isTrusted)

        let customHostPolicy = try #require(trustManager.policy(for: "*.customHost.com"))
        isTrusted = customHostPolicy.validate(trust: testTrust)
        #expect(!isTrusted)
        // End.
    }

    /// The code of an application that takes any manager.
    private func pin(_ hostName: String, in manager: any TrustManaging) -> (any TrustPolicy)? {
        manager.add(policy: manager.create(type: .pinPublicKey, hostName: hostName, settings: nil))
        return manager.policy(for: hostName)
    }

    @Test("A manager is used by its protocol, and settings may be nil")
    func managing() throws {
        let trustManager = TrustManager()
        let policy = try #require(pin("www.example.com", in: trustManager))
        #expect(policy.hostName == "www.example.com")
        // The main bundle of a test process has no certificates: the policy rejects, as with settings of the same content.
        #expect(!policy.validate(trust: nil))
        let managing: any TrustManaging = trustManager
        #expect(managing.allNames == ["www.example.com"] && managing.allPolicies.count == 1)
        managing.add(policies: [trustManager.create(type: .standard, hostName: "b.example.com", settings: nil)])
        #expect(managing.removePolicy(name: "www.example.com") != nil)
        #expect(managing.policies.keys.sorted() == ["b.example.com"])
        managing.policies = [:]
        #expect(trustManager.allPolicies.isEmpty)
    }

    @Test("Settings are changed by their protocol")
    func customizable() throws {
        func harden(_ settings: any ValidationCustomizable) {
            settings.sslValidateHostName = true
            settings.certificatePinOnly = false
            settings.certificateBundle = .main
            settings.customValidation = { $0 != nil }
        }
        let settings = ValidationSettings.defaultSettings
        settings.sslValidateHostName = false
        harden(settings)
        #expect(settings.sslValidateHostName && settings.customValidation?(nil) == false)
    }
}
