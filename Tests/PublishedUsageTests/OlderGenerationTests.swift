// swift-format-ignore-file: NeverForceUnwrap

import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

/// GCXTrustPolicy's published samples of the older generation: the code between the marks is the published one, with
/// the corrections of Corrections.md.
@Suite("Published usage, older generation", .quietLog, .serialized)
struct OlderGenerationTests {
    @Test("A simple set-up and a simple validation")
    func simple() throws {
        let server = try PublishedServer()
        let challengedHost = "www.the-host-to-pin.com"
        let trust = server.trust(server.leaf.chain, host: server.host)
        var isTrusted = true
        defer { TrustManager.shared.removePolicy(name: challengedHost) }
        // Published:
        let exampleHost = "https://www.the-host-to-pin.com"

        // create a policy
        let pinningPolicy = ComposePolicy(withValidation: .pinPublicKey, forHost: exampleHost).create()

        // use add(policy:) for adding a singe policy
        TrustManager.sharedInstance.add(policy: pinningPolicy)

        if let policy = TrustManager.sharedInstance.policy(forHost: challengedHost) {
            if policy.validate(with: trust) {
                // Success! Server trust has been established.
                isTrusted = true
            } else {
                // Failed validation! Not secure to connect!!!
                isTrusted = false
            }
        }
        // End.
        #expect(!isTrusted)
        #expect(pinningPolicy.hostName == challengedHost)
    }

    @Test("Several policies are set up")
    func several() throws {
        let PINNING_HOST_URL_STRING = "https://pinning.example/path"
        defer {
            for name in ["www.the-host-to-pin.com", "pinning.example", "www.grandcentrix.net"] {
                TrustManager.shared.removePolicy(name: name)
            }
        }
        // Published:
        // - .standard: - //
        // compose and build a default validation policy
        let exampleHost = "https://www.the-host-to-pin.com"
        let defaultPolicy = ComposePolicy(withValidation: .standard, forHost: exampleHost).create()

        // - .pinPublicKey: - //
        // compose and build a public key pinning policy
        let pinningHost = URL(string: PINNING_HOST_URL_STRING)!.host!
        let composer = ComposePolicy(withValidation: .pinPublicKey, forHost: pinningHost)
        let pinningPolicy = composer.create()

        // - .pinPublicKeyOnline: - //
        // compose and build a public key pinning with trustServer policy
        let grandcentrix = URL(string: "https://www.grandcentrix.net")!.host!
        let pkOnline = ComposePolicy(withValidation: .pinPublicKeyOnline, forHost: grandcentrix)

        // set Trust Anchor
        pkOnline.trustServer = URL(string: "https://pinning.gcxi.de/gcx.json.signed")
        pkOnline.trustServerCertificate = Data(base64Encoded: "MIIFIDCCAwgCCQCFB0NhqrdqPA==")
        pkOnline.customer = "gcx"

        let pkOnlinePolicy = pkOnline.create()

        // add the three policies to the manager class at once
        TrustManager.sharedInstance.add(policies: [defaultPolicy, pinningPolicy, pkOnlinePolicy])
        // End.
        #expect(TrustManager.shared.policy(for: "www.grandcentrix.net") != nil)
        #expect(TrustManager.shared.policy(for: "pinning.example") != nil)
        #expect(!pkOnlinePolicy.validate(with: nil))
    }

    @Test("A composer is customized")
    func customized() throws {
        let server = try PublishedServer()
        let type = ValidationType.custom
        let exampleHost = server.host
        // Published:
        // construct the TrustPolicyComposer
        let composer = ComposePolicy(withValidation: type, forHost: exampleHost)

        // default setting, checks host name too when performing certificate chain validation
        composer.validateHostName = true

        // default setting, uses all certificates from the specified bundle
        // assign a custom bundle if needed
        composer.certificateBundle = Bundle.main

        // default setting, self-signed and invalid certificates are assumed as insecure
        composer.allowInsecureServerTrust = false

        // Custom validation closure, has to be assigned when performing
        // a custom validation of type .CustomValidation
        composer.customValidation = { (trust: SecTrust?) -> Bool in
            let isTrusted = trust != nil
            return isTrusted
        }
        // End.
        let policy = composer.create()
        #expect(policy.validate(with: server.trust([], host: server.host)))
        #expect(!policy.validate(withTrust: nil))
    }

    @Test("A session's delegate answers its challenge")
    func challenge() throws {
        let server = try PublishedServer()
        defer { TrustManager.shared.removePolicy(name: server.host) }
        let composer = ComposePolicy(withValidation: .pinPublicKey, forHost: "https://\(server.host)/")
        composer.certificateBundle = server.bundle
        TrustManager.sharedInstance.add(policy: composer.create())

        func urlSession(
            didReceive challenge: AuthenticationChallenge,
            completionHandler: @escaping (AuthChallengeDisposition, SecTrust?) -> Void
        ) {
            // Published:
            let challengedHost = challenge.protectionSpace.host

            // Validate the remote trust
            if let trust = challenge.protectionSpace.serverTrust {
                var isTrusted = false

                // Retrieve a matching policy for the challenged host

                if let policy = TrustManager.sharedInstance.policy(forHost: challengedHost) {
                    isTrusted = policy.validate(with: trust)

                    if isTrusted {
                        // Success! Server trust has been established.
                        let credential = trust
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

    @Test("A manager is made with policies of several types")
    func integration() throws {
        // Published:
        let defaultPolicy = ComposePolicy(withValidation: .standard, forHost: "hostNameA").create()
        let disabledPolicy = ComposePolicy(withValidation: .disabled, forHost: "hostNameB").create()

        let customPolicyComposal = ComposePolicy(withValidation: .custom, forHost: "hostNameC")
        customPolicyComposal.customValidation = { trust -> Bool in
            return true
        }
        let customPolicy = customPolicyComposal.create()

        let trustPolicies = [defaultPolicy, disabledPolicy, customPolicy]
        let manager = TrustManager(trustPolicies: trustPolicies)
        let trust = try PublishedServer.invalidTrust()

        let policyHostNameA = manager.policy(forHost: "hostNameA")
        var isTrusted = policyHostNameA!.validate(with: trust)
        #expect(!isTrusted)

        let policyHostNameB = manager.policy(forHost: "hostNameB")
        isTrusted = policyHostNameB!.validate(with: trust)
        #expect(isTrusted)

        let policyHostNameC = manager.policy(forHost: "hostNameC")
        isTrusted = policyHostNameC!.validate(with: trust)
        #expect(isTrusted)
        // End.
        #expect(manager.allPolicies.count == 3)
        #expect(TrustManager(with: trustPolicies).allNames.count == 3)
    }

    @Test("The oldest generation's names list and remove policies")
    func oldest() throws {
        let manager = TrustManager(trustPolicies: [
            ComposePolicy(withValidation: .standard, forHost: "hostNameA.example").create(),
            ComposePolicy(withValidation: .disabled, forHost: "hostNameB.example").create(),
        ])
        // Published:
        let names = manager.allHostNames()
        manager.removePolicy(for: "hostNameA.example")
        // End.
        #expect(names.sorted() == ["hostnamea.example", "hostnameb.example"])
        #expect(manager.allHostNames() == ["hostnameb.example"])
    }
}
