import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Server identity, RFC 9525")
struct ServerIdentityTests {
    private func code(
        _ names: [TestGeneralName]?, dialing host: String,
        configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws -> TrustFailure.Code? {
        let made = try TestAuthority.selfSigned(names: names ?? [], clock: Judge.clock, configure: configure)
        return ServerIdentity.violation(of: try X509Certificate(der: made.der), for: try DialedHost(host))?.code
    }

    @Test(
        "A name matches the host that was dialed",
        arguments: [
            ("www.example.com", "www.example.com"), ("WWW.Example.COM", "www.example.com"),
            ("www.example.com", "WWW.EXAMPLE.COM."),
            ("*.example.com", "www.example.com"), ("*.EXAMPLE.com", "www.example.com"),
            ("*.example.com", "xn--bcher-kva.example.com"),
            ("xn--bcher-kva.de", "bücher.de"), ("XN--BCHER-KVA.de", "bücher.de"),
            ("*.xn--bcher-kva.de", "www.bücher.de"),
            // RFC 9525 leaves it to the issuer who may have such a name; private authorities use it.
            ("*.com", "example.com"), ("*.corp", "wiki.corp"), ("a_b.example.com", "a_b.example.com"),
            ("localhost", "localhost"),
            ("192.0.2.1", "192.0.2.1"), ("2001:db8::1", "[2001:DB8:0::1]"), ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
        ])
    func matching(name: String, host: String) throws {
        #expect(try code([TestGeneralName(name)], dialing: host) == nil)
        #expect(try code(["other.example", TestGeneralName(name)], dialing: host) == nil)
    }

    @Test(
        "Nothing else does",
        arguments: [
            (.dns("example.com"), "www.example.com"), (.dns("www.example.com"), "example.com"),
            (.dns("good.com"), "good.com.otherdomaingood.com"),
            (.dns("example.com"), "dexample.com"), (.dns("*.example.com"), "example.com"),
            (.dns("*.example.com"), "a.b.example.com"),
            (.dns("*.example.com"), "wwwexample.com"), (.dns("*"), "localhost"), (.dns("*"), "www.example.com"),
            (.dns("*."), "localhost"),
            (.dns("*."), "www.example.com"), (.dns("**.example.com"), "www.example.com"),
            (.dns("*.*.example.com"), "a.b.example.com"),
            (.dns("*.*."), "a.b"), (.dns("*.*"), "a.b"), (.dns("f*o.example.com"), "foo.example.com"),
            (.dns("*o.example.com"), "foo.example.com"),
            (.dns("f*.example.com"), "foo.example.com"), (.dns("www.*.com"), "www.example.com"),
            (.dns("*www.example.com"), "www.example.com"),
            (.dns("xn--*-kva.de"), "bücher.de"), (.dns("www.example.com."), "www.example.com"),
            (.dns("*.example.com."), "www.example.com"),
            (.dns("www.example.com\u{0}.evil.org"), "www.example.com"),
            (.dns("www.example.com\u{0}"), "www.example.com"),
            (.dns(" www.example.com"), "www.example.com"), (.dns(""), "www.example.com"),
            (.dns("."), "www.example.com"), (.dns(".com"), "example.com"),
            (.dns(".example.com"), "www.example.com"), (.dns("https://www.example.com"), "www.example.com"),
            (.dns("www.example.com:443"), "www.example.com"),
            // an address as a DNS name, a DNS name as an address
            (.dns("192.0.2.1"), "192.0.2.1"), (.dns("*.0.2.1"), "192.0.2.1"), (.dns("2001:db8::1"), "2001:db8::1"),
            (.dns("::1"), "::1"),
            (.address([0x77, 0x77, 0x77, 0x2E]), "www.example.com"), (.address([192, 0, 2, 2]), "192.0.2.1"),
            // an IPv4 address and its IPv6 form are two
            ("::ffff:192.0.2.1", "192.0.2.1"), ("192.0.2.1", "::ffff:192.0.2.1"),
            (.address([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 192, 0, 2, 1]), "192.0.2.1"),
            (.uri("https://www.example.com"), "www.example.com"), (.email("www.example.com"), "www.example.com"),
            (.directory("www.example.com"), "www.example.com"),
            (.other([1, 3, 6, 1, 5, 5, 7, 8, 7], TestDER.ia5String("www.example.com")), "www.example.com"),
        ] as [(TestGeneralName, String)])
    func mismatching(name: TestGeneralName, host: String) throws {
        #expect(try code([name], dialing: host) == .hostNameMismatch)
    }

    @Test("A common name is nobody, with and without a subjectAltName")
    func commonNames() throws {
        #expect(
            try code(nil, dialing: "www.example.com") { $0.subject = "www.example.com" } == .noSubjectAlternativeName)
        #expect(
            try code(["other.example"], dialing: "www.example.com") { $0.subject = "www.example.com" }
                == .hostNameMismatch)
        #expect(
            try code([.email("a@b.example")], dialing: "www.example.com") { $0.subject = "www.example.com" }
                == .hostNameMismatch)
        #expect(try code(nil, dialing: "192.0.2.1") { $0.subject = "192.0.2.1" } == .noSubjectAlternativeName)
    }

    @Test("A subjectAltName that cannot be read as a whole names nobody")
    func malformed() throws {
        #expect(try code([], dialing: "www.example.com") { $0.subjectAltName = [] } == .malformedExtension)
        for bad in [.address([1, 2, 3]), .raw(0x9F, [1]), .dns("é")] as [TestGeneralName] {
            #expect(try code(["www.example.com", bad], dialing: "www.example.com") == .malformedExtension)
        }
    }

    @Test("The words of a mismatch name a few names, shortened")
    func words() throws {
        let names = (0..<300).map { TestGeneralName.dns("\($0)" + String(repeating: "x", count: 300)) }
        let made = try TestAuthority.selfSigned(names: names, clock: Judge.clock)
        let outcome = try Judge.outcome([made.der], trusting: [made.der])
        let failure = try #require(outcome.failure)
        #expect(failure.found.contains("280 more"))
        #expect(failure.found.count < 6_000)
    }
}
