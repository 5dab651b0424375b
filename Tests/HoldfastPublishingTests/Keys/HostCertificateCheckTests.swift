import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import HoldfastPublishing

@Suite("Checks of a host's own certificate")
struct HostCertificateCheckTests {
    private let root: TestAuthority
    private let issuing: TestAuthority
    private let now = SystemWallClock().now

    init() throws {
        root = try TestAuthority.root()
        issuing = try root.intermediate()
    }

    private func check(allowsUntrusted: Bool = false) throws -> HostCertificateCheck {
        HostCertificateCheck(
            validator: PathValidator(anchors: try TrustAnchors(der: [root.root])), allowsUntrusted: allowsUntrusted)
    }

    private func code(
        _ chain: [[UInt8]], for name: String, allowsUntrusted: Bool = false, at time: Date? = nil
    ) throws -> HostCheckError.Code? {
        let check = try check(allowsUntrusted: allowsUntrusted)
        do throws(HostCheckError) {
            _ = try check.verify(PresentedChain(chain), for: name, at: time ?? now)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("A certificate is signed for under the names that it is for: hosts, its wildcards as a text")
    func names() throws {
        let chain = try issuing.leaf(names: ["www.example.com", "*.example.net"]).chain
        #expect(try code(chain, for: "www.example.com") == nil)
        #expect(try code(chain, for: "WWW.example.com") == nil)
        #expect(try code(chain, for: "api.example.net") == nil)
        #expect(try code(chain, for: "*.example.net") == nil)
        for name in ["example.com", "api.example.com", "*.example.com", "example.net", "a.b.example.net", "*", "Me"] {
            #expect(try code(chain, for: name) == .nameMismatch)
        }
    }

    @Test("A common name is for texts that are no hosts")
    func commonName() throws {
        let chain = try issuing.leaf(names: ["www.example.com"]) {
            $0.subject = .commonName("Our Gateway")
        }.chain
        #expect(try code(chain, for: "Our Gateway") == nil)
        #expect(try code(chain, for: "our gateway") == .nameMismatch)
        for name in ["Example, Inc.", #"C:\gateway"#, "a=b+c"] {
            let chain = try issuing.leaf(names: ["www.example.com"]) { $0.subject = .commonName(name) }.chain
            #expect(try code(chain, for: name) == nil, "\(name)")
        }
        let host = try issuing.leaf(names: ["www.example.com"]) { $0.subject = .commonName("other.example.com") }.chain
        #expect(try code(host, for: "other.example.com") == .nameMismatch)
    }

    @Test("A name with a wildcard is looked for in subjectAltName alone, since anybody gets a common name written")
    func wildcardCommonName() throws {
        for names: [TestGeneralName] in [[.dns("www.evil.example")], [.email("me@evil.example")]] {
            for name in ["*.bank.example", "*", "www.*.example", "*.bänk.example"] {
                let chain = try issuing.leaf(names: names) { $0.subject = .commonName(name) }.chain
                #expect(try code(chain, for: name) == .nameMismatch)
                #expect(try code(chain, for: name, allowsUntrusted: true) == .nameMismatch)
            }
        }
        let own = try issuing.leaf(names: ["*.bank.example"]) { $0.subject = .commonName("*.bank.example") }.chain
        #expect(try code(own, for: "*.bank.example") == nil)
        #expect(try code(own, for: "*.BANK.example") == nil)
    }

    @Test("A certificate counts to the second of its end, and no permission revives it")
    func expiry() throws {
        let leaf = try issuing.leaf(names: ["www.example.com"])
        let end = try X509Certificate(der: leaf.der).notAfter
        #expect(try code(leaf.chain, for: "www.example.com", at: end.addingTimeInterval(0.9)) == nil)
        #expect(try code(leaf.chain, for: "www.example.com", at: end.addingTimeInterval(1)) == .expired)
        let late = end.addingTimeInterval(1)
        #expect(try code(leaf.chain, for: "www.example.com", allowsUntrusted: true, at: late) == .expired)
    }

    @Test("A chain that does not validate is refused, or allowed and named; the name counts all the same")
    func untrusted() throws {
        let stranger = try TestAuthority.root(name: "Stranger").leaf(names: ["www.example.com"])
        #expect(try code(stranger.chain, for: "www.example.com") == .untrusted)
        let passed = try check(allowsUntrusted: true)
            .verify(PresentedChain(stranger.chain), for: "www.example.com", at: now)
        #expect(passed.untrusted?.code == .unknownIssuer)
        #expect(passed.certificate.der == stranger.der)
        #expect(try code(stranger.chain, for: "api.example.com", allowsUntrusted: true) == .nameMismatch)
        let leaf = try issuing.leaf(names: ["www.example.com"])
        #expect(try code([leaf.der], for: "www.example.com") == .untrusted)
    }

    @Test("What is no certificate is said to be so")
    func unreadable() throws {
        #expect(try code([], for: "www.example.com") == .unreadable)
        #expect(try code([[1, 2, 3]], for: "www.example.com", allowsUntrusted: true) == .unreadable)
    }
}

/// Each rule of the check with what it refuses, and the closest that it accepts.
@Suite("Rules for a host's own certificate")
struct HostCertificateRuleTests {
    private let root: TestAuthority
    private let issuing: TestAuthority
    private let now = SystemWallClock().now
    private let host = "api.example.com"

    init() throws {
        root = try TestAuthority.root(name: "Root")
        issuing = try root.intermediate(name: "Issuing CA")
    }

    private func error(
        _ chain: [[UInt8]], for name: String? = nil, trusting anchors: [[UInt8]]? = nil, at time: Date? = nil
    ) throws -> HostCheckError? {
        let check = HostCertificateCheck(
            validator: PathValidator(anchors: try TrustAnchors(der: anchors ?? [root.root])))
        do throws(HostCheckError) {
            _ = try check.verify(PresentedChain(chain), for: name ?? host, at: time ?? now)
            return nil
        } catch {
            return error
        }
    }

    @Test("An authority's certificate is no host's own, even if it has the host's name and may sign handshakes")
    func endEntity() throws {
        let leaf = try issuing.leaf(names: [.dns(host)])
        #expect(try error(leaf.chain) == nil)
        for chain in [[issuing.certificate.der], [root.root], [issuing.certificate.der, root.root]] {
            #expect(try error(chain)?.code == .notEndEntity)
        }
        let named = try root.intermediate(name: "Named CA") {
            $0.subjectAltName = [.dns("api.example.com")]
            $0.keyUsage = [.digitalSignature, .keyCertSign]
            $0.extendedKeyUsage = [.serverAuthentication]
        }
        #expect(try error(named.certificate.chain)?.code == .notEndEntity)
        let signing = try issuing.leaf(names: [.dns(host)]) {
            $0.basicConstraints = nil
            $0.keyUsage = .keyCertSign
        }
        #expect(try error(signing.chain)?.code == .notEndEntity)
    }

    @Test("A file with the issuer first is told to begin with the certificate of the host, and where that is")
    func order() throws {
        let leaf = try issuing.leaf(names: [.dns(host)])
        let found = try #require(try error([issuing.certificate.der, leaf.der]))
        #expect(found.code == .notEndEntity && found.found.contains("certificate 2 is one for DNS:api.example.com"))
        #expect(found.remedy == "Put the host's own certificate first in the file, and its issuers after it.")
        let other = try issuing.leaf(names: ["www.example.com"])
        let swapped = try #require(try error([other.der, leaf.der, issuing.certificate.der]))
        #expect(swapped.code == .nameMismatch && swapped.found.contains("certificate 2 is for it"))
        #expect(swapped.remedy == found.remedy)
    }

    @Test("A self-signed certificate that common tools made is the host's own; one that says it signs others is not")
    func selfSigned() throws {
        func made(_ usage: CertificateSpecification.KeyUsage?) throws -> TestCertificate {
            try TestAuthority.selfSigned(names: [.dns(host)]) {
                $0.basicConstraints = .init(isAuthority: true)
                $0.keyUsage = usage
            }
        }
        let plain = try made(nil)
        #expect(try error([plain.der], trusting: [plain.der]) == nil)
        let both = try made([.digitalSignature, .keyCertSign])
        #expect(try error([both.der], trusting: [both.der])?.code == .notEndEntity)
        // Nothing but its pin vouches for it then.
        _ = try HostCertificateCheck(validator: nil).verify(PresentedChain([both.der]), for: host, at: now)
    }

    @Test("A pattern needs a certificate with the pattern; everything under a domain one that is within")
    func patterns() throws {
        let wild = try issuing.leaf(names: ["*.example.com"]).chain
        #expect(try error(wild, for: "*.example.com") == nil)
        #expect(try error(wild, for: "**.example.com") == nil)
        let own = try issuing.leaf(names: [.dns(host)]).chain
        #expect(try error(own, for: "*.example.com")?.code == .nameMismatch)
        #expect(try error(own, for: "**.example.com") == nil)
        #expect(try error(own, for: "**.example.net")?.code == .nameMismatch)
    }

    @Test("A key that clients refuse is refused in a certificate, with its kind")
    func key() throws {
        let weak = try issuing.leaf(names: [.dns(host)], key: .sharedRSA(bits: 1_024, index: 0))
        #expect(try error(weak.chain)?.code == .weakKey)
        let strange = try issuing.leaf(names: [.dns(host)]) {
            $0.subjectPublicKeyInfo = HostKeyCheckTests.key([0x2B, 0x81, 0x04, 0x00, 0x0A], size: 32)
        }
        let found = try #require(try error(strange.chain))
        #expect(found.code == .unsupportedKey && found.found.contains("1.3.132.0.10"))
    }

    @Test(
        "A certificate that is not valid yet is checked at its beginning; one that ends before it begins never passes")
    func lifetime() throws {
        let next = try issuing.leaf(names: [.dns(host)]) { $0.notBefore = .days(20) }
        #expect(try error(next.chain) == nil)
        let late = try issuing.leaf(names: [.dns(host)]) { ($0.notBefore, $0.notAfter) = (.days(20), .days(10)) }
        #expect(try error(late.chain)?.code == .expired)
        let brief = try root.intermediate(name: "Brief CA") { $0.notAfter = .days(10) }
        let outlived = try brief.leaf(names: [.dns(host)]) { $0.notBefore = .days(20) }
        #expect(try error(outlived.chain)?.code == .untrusted)
    }
}
