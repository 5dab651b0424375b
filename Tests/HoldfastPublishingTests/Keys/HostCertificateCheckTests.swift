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
