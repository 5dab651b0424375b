import Foundation
import Testing

@testable import Holdfast

@Suite("Host patterns")
struct HostPatternTests {
    private func matches(_ pattern: String, _ host: String) throws -> Bool {
        try HostPattern(pattern).matches(DialedHost(host))
    }

    private func code(_ text: String, topLevel: Bool = false, list: PublicSuffixList? = nil) -> HostPatternError.Code? {
        do throws(HostPatternError) {
            _ = try HostPattern(text, allowingTopLevel: topLevel, publicSuffixes: list)
            return nil
        } catch { return error.code }
    }

    @Test(
        "A pattern covers what it says and nothing else",
        arguments: [
            (
                "example.com", ["example.com", "EXAMPLE.com."],
                ["www.example.com", "dexample.com", "com", "example.co"]
            ),
            (
                "*.example.com", ["www.example.com", "_x.example.com", "xn--bcher-kva.example.com"],
                ["example.com", "a.b.example.com", "wwwexample.com", "dexample.com", "www.example.com.evil.org"]
            ),
            (
                "**.example.com", ["example.com", "www.example.com", "a.b.c.example.com"],
                ["dexample.com", "www.dexample.com", "com", "example.com.evil.org", "xample.com"]
            ),
            ("**.good.com", ["good.com", "x.good.com"], ["good.com.otherdomaingood.com", "otherdomaingood.com"]),
            ("**.www.good.com", ["sub.www.good.com.www.good.com"], ["sub.www.good.com.xwww.good.com", "good.com"]),
            ("*.Bücher.de", ["www.xn--bcher-kva.de", "www.BÜCHER.de"], ["bücher.de", "bucher.de"]),
            ("192.0.2.1", ["192.0.2.1"], ["192.0.2.2", "::ffff:192.0.2.1"]),
            ("[2001:DB8::1]", ["2001:db8:0:0::1"], ["2001:db8::2"]),
        ])
    func coverage(_ pattern: String, _ inside: [String], _ outside: [String]) throws {
        for host in inside { #expect(try matches(pattern, host), "\(pattern) \(host)") }
        for host in outside { #expect(try !matches(pattern, host), "\(pattern) \(host)") }
    }

    @Test("No wildcard matches an empty label, since no host has one")
    func emptyLabels() {
        for host in [".example.com", "a..example.com", "..example.com"] {
            #expect(throws: HostError.self) { try DialedHost(host) }
        }
    }

    @Test("A port does not matter to a pattern")
    func ports() throws {
        #expect(try HostPattern("*.example.com").matches(DialedHost("www.example.com", port: 8443)))
        let host = try DialedHost("www.example.com", port: 8443)
        #expect(HostPattern(host) == (try HostPattern("www.example.com")))
        #expect(HostPattern(host).matches(try DialedHost("www.example.com", port: 1)))
    }

    @Test(
        "A wildcard stands alone, or doubled, in the leftmost label",
        arguments: [
            "*", "**", "a*.example.com", "*a.example.com", "www.*.com", "*.*.com", "**.*.com", "***.example.com",
        ])
    func misplaced(_ text: String) {
        #expect(code(text) == .misplacedWildcard)
    }

    @Test("What is no host is no pattern, and the error says why")
    func invalid() {
        #expect(code("") == .empty)
        #expect(code("*.") == .empty)
        #expect(code("**.") == .empty)
        for text in [
            ".example.com", "*..example.com", "**.a..b", "https://example.com", "*.example.com:443", "*.1", "*.0x7f",
        ] {
            #expect(code(text) == .invalidHost, "\(text)")
        }
        #expect(code("*.192.0.2.1") == .addressWithWildcard)
        #expect(code("**.[::1]") == .addressWithWildcard)
    }

    @Test("A wildcard over a single label needs to be asked for")
    func topLevel() throws {
        for text in ["*.com", "**.com", "**.localhost", "*.com."] { #expect(code(text) == .topLevel, "\(text)") }
        #expect(code("localhost") == nil)
        #expect(code("**.internal", topLevel: true) == nil)
        #expect(try HostPattern("**.internal", allowingTopLevel: true).matches(DialedHost("db.internal")))
    }

    @Test("A wildcard over a public suffix is refused, also when top-level patterns are allowed")
    func publicSuffix() throws {
        let list = try PublicSuffixList("com\nuk\nco.uk\n*.kawasaki.jp\n!city.kawasaki.jp\n")
        for text in ["*.co.uk", "**.CO.UK.", "**.kawasaki.jp", "*.ward.kawasaki.jp"] {
            #expect(code(text, list: list) == .publicSuffix, "\(text)")
        }
        #expect(code("*.com", topLevel: true, list: list) == .publicSuffix)
        #expect(code("*.internal", topLevel: true, list: list) == nil)
        for text in ["co.uk", "*.shop.co.uk", "**.city.kawasaki.jp", "*.shop.ward.kawasaki.jp", "*.example.com"] {
            #expect(code(text, list: list) == nil, "\(text)")
        }
    }

    @Test("Including subdomains makes the pattern that covers the domain and any depth")
    func includingSubdomains() throws {
        #expect(try HostPattern(host: "example.com", includeSubdomains: true).description == "**.example.com")
        #expect(try HostPattern(host: "example.com", includeSubdomains: false).description == "example.com")
        #expect(throws: HostPatternError.self) { try HostPattern(host: "com", includeSubdomains: true) }
        #expect(throws: HostPatternError.self) { try HostPattern(host: "*.example.com", includeSubdomains: true) }
    }

    @Test("Exact beats most labels, which beats one label before any depth")
    func precedence() throws {
        let order = try [
            "a.org", "www.sub.example.com", "*.sub.example.com", "**.sub.example.com", "*.example.com",
            "**.example.com",
        ].map { try HostPattern($0) }
        #expect(order.reversed().sorted() == order)
    }

    @Test("A pattern prints in a form that reads back as the same pattern")
    func description() throws {
        for text in ["EXAMPLE.com.", "*.Straße.de", "**.a.b", "192.0.2.1", "2001:DB8::1"] {
            let pattern = try HostPattern(text)
            #expect(try HostPattern(pattern.description) == pattern)
        }
        #expect(try HostPattern("*.Straße.de").description == "*.xn--strae-oqa.de")
    }
}
