import Dispatch
import Foundation
import Holdfast
import HoldfastTesting
import Security
import Testing

/// Assumptions of Holdfast about Security.framework, from its headers and its documentation.
@Suite("What Holdfast assumes about SecTrust", .timeLimit(.minutes(15)))
struct SecTrustAssumptionTests {
    private func isTrusted(_ trust: SecTrust) -> Bool { SecTrustEvaluateWithError(trust, nil) }

    private func chain(_ trust: SecTrust) throws -> [[UInt8]] {
        let certificates = try #require(SecTrustCopyCertificateChain(trust) as? [SecCertificate])
        return certificates.map { [UInt8](SecCertificateCopyData($0) as Data) }
    }

    @Test("Anchors that are set are the only ones; nil makes those of the system count again")
    func anchors() throws {
        let site = try AppleSite()
        let trust = try site.secTrust()
        #expect(!isTrusted(trust))
        #expect(SecTrustSetAnchorCertificates(trust, try site.secAnchors()) == errSecSuccess)
        #expect(isTrusted(trust))
        var kept: CFArray?
        #expect(unsafe SecTrustCopyCustomAnchorCertificates(trust, &kept) == errSecSuccess)
        #expect((kept as? [SecCertificate])?.count == 1)
        #expect(SecTrustSetAnchorCertificates(trust, nil) == errSecSuccess)
        #expect(!isTrusted(trust))
    }

    @Test("The chain of a trust has the anchor, and reading it evaluates where nothing has")
    func chains() throws {
        let site = try AppleSite()
        let trust = try site.secTrust()
        #expect(SecTrustSetAnchorCertificates(trust, try site.secAnchors()) == errSecSuccess)
        #expect(try chain(trust) == site.leaf.chain + [site.root.root])
        #expect(isTrusted(trust))
        #expect(try chain(trust) == site.leaf.chain + [site.root.root])
    }

    @Test("Setting a policy or a date discards the result of the evaluation before")
    func discarded() throws {
        let site = try AppleSite()
        let trust = try site.secTrust()
        #expect(SecTrustSetAnchorCertificates(trust, try site.secAnchors()) == errSecSuccess)
        #expect(isTrusted(trust))
        let other = SecPolicyCreateSSL(true, "other.example" as CFString)
        #expect(SecTrustSetPolicies(trust, [other] as CFArray) == errSecSuccess)
        #expect(!isTrusted(trust))
        let own = SecPolicyCreateSSL(true, AppleSite.address as CFString)
        #expect(SecTrustSetPolicies(trust, [own] as CFArray) == errSecSuccess)
        #expect(isTrusted(trust))
        let late = try #require(site.leaf.notAfter).addingTimeInterval(86_400)
        #expect(SecTrustSetVerifyDate(trust, late as CFDate) == errSecSuccess)
        #expect(!isTrusted(trust))
    }

    @Test("What forbids the network is kept in the policies: others forget it, and the same ones bring it back")
    func network() throws {
        let trust = try AppleSite().secTrust()
        func isFetchAllowed() throws -> Bool {
            var answer = DarwinBoolean(true)
            #expect(unsafe SecTrustGetNetworkFetchAllowed(trust, &answer) == errSecSuccess)
            return answer.boolValue
        }
        #expect(SecTrustSetNetworkFetchAllowed(trust, false) == errSecSuccess)
        #expect(try !isFetchAllowed())
        var own: CFArray?
        #expect(unsafe SecTrustCopyPolicies(trust, &own) == errSecSuccess)
        let other = SecPolicyCreateSSL(true, AppleSite.address as CFString)
        #expect(SecTrustSetPolicies(trust, [other] as CFArray) == errSecSuccess)
        #expect(try isFetchAllowed())
        #expect(SecTrustSetPolicies(trust, try #require(own) as CFTypeRef) == errSecSuccess)
        #expect(try !isFetchAllowed())
    }

    @Test("A policy without a host skips the check of names; an address is matched with iPAddress names")
    func names() throws {
        let site = try AppleSite()
        for (host, expected) in [(nil, true), (AppleSite.address, true), ("127.0.0.2", false)] as [(String?, Bool)] {
            let trust = try site.secTrust(host: host)
            #expect(SecTrustSetAnchorCertificates(trust, try site.secAnchors()) == errSecSuccess)
            #expect(isTrusted(trust) == expected, "\(host ?? "no host")")
        }
    }

    @Test("An asynchronous evaluation that is begun on a queue answers there")
    func asynchronously() async throws {
        let site = try AppleSite()
        let trust = SharedReference(try site.secTrust())
        #expect(SecTrustSetAnchorCertificates(trust.get, try site.secAnchors()) == errSecSuccess)
        let queue = DispatchQueue(label: "evaluations")
        let isTrusted = await withCheckedContinuation { continuation in
            queue.async {
                let status = SecTrustEvaluateAsyncWithError(trust.get, queue) { _, isTrusted, _ in
                    dispatchPrecondition(condition: .onQueue(queue))
                    continuation.resume(returning: isTrusted)
                }
                if status != errSecSuccess { continuation.resume(returning: false) }
            }
        }
        #expect(isTrusted)
    }

    @Test("A trust says which policies it has, and the system has words for its numbers")
    func sayings() throws {
        let trust = try AppleSite().secTrust()
        var policies: CFArray?
        #expect(unsafe SecTrustCopyPolicies(trust, &policies) == errSecSuccess)
        #expect((policies as? [SecPolicy])?.count == 1)
        let interactionNotAllowed: OSStatus = -25_308
        #expect(SecCopyErrorMessageString(interactionNotAllowed, nil) != nil)
    }
}
