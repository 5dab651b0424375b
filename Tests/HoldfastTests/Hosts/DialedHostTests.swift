import Foundation
import Testing

@testable import Holdfast

@Suite("The dialed host")
struct DialedHostTests {
    private func code(_ text: String, port: Int? = nil) -> HostError.Code? {
        do throws(HostError) {
            _ = try DialedHost(text, port: port)
            return nil
        } catch { return error.code }
    }

    @Test("Names are in lower case and without their trailing dot")
    func names() throws {
        for (text, name) in [
            ("Example.COM", "example.com"), ("example.com.", "example.com"), ("localhost", "localhost"),
            ("_service.example.com", "_service.example.com"), ("a_b.example.com", "a_b.example.com"),
            ("r3---sn-4g5e.example.com", "r3---sn-4g5e.example.com"), ("3com.com", "3com.com"),
            ("0.example", "0.example"),
            ("0xg", "0xg"), ("1.2.3.4a", "1.2.3.4a"),
        ] {
            let host = try DialedHost(text)
            #expect(host.kind == .name(name))
            #expect(host.serverNameIndication == name)
            #expect(host.addressOctets == nil)
        }
    }

    @Test(
        "A text that is no host name is refused for its own reason",
        arguments: [
            ("", .empty), (".", .emptyLabel), ("..", .emptyLabel), (".example.com", .emptyLabel), ("a..b", .emptyLabel),
            ("example.com..", .emptyLabel), ("a\u{0}b.com", .forbiddenCharacter),
            ("example.com\u{0}.evil.org", .forbiddenCharacter),
            ("a b.com", .forbiddenCharacter), (" a.com", .forbiddenCharacter), ("a.com\n", .forbiddenCharacter),
            ("a\u{7F}.com", .forbiddenCharacter), ("a%41.com", .forbiddenCharacter), ("ä%41.com", .forbiddenCharacter),
            ("example.com/path", .forbiddenCharacter), ("user@example.com", .forbiddenCharacter),
            ("example.com?x", .forbiddenCharacter), ("example.com#x", .forbiddenCharacter),
            ("a\\b.com", .forbiddenCharacter),
            ("*.example.com", .forbiddenCharacter), ("a,b.com", .forbiddenCharacter), ("a!b", .forbiddenCharacter),
            ("https://example.com", .invalidAddress), ("example.com:443", .invalidAddress),
            ("-a", .hyphenAtEdge), ("a.com-", .hyphenAtEdge), ("a.-", .hyphenAtEdge),
            ("xn--bcher-kva-.de", .hyphenAtEdge),
            ("1.2.3", .numericName), ("127.1", .numericName), ("2130706433", .numericName),
            ("0x7f000001", .numericName),
            ("1.2.3.0x4", .numericName), ("1.2.3.4.", .numericName), ("1.2.3.4.5", .numericName),
            ("01.2.3.4", .numericName),
            ("1.2.3.256", .numericName), ("1.2.3.-4", .hyphenAtEdge), ("example.123", .numericName),
            ("a.0X", .numericName),
        ] as [(String, HostError.Code)])
    func refusals(_ text: String, _ expected: HostError.Code) {
        #expect(code(text) == expected, "\(text.debugDescription)")
    }

    @Test(
        "A label may begin or end with a hyphen as in the DNS, apart from the last one",
        arguments: ["-a.com", "a-.com", "r4---sn-x.example.com", "a.-.com", "foo-.bar.example.", "-_-.example"])
    func hyphens(_ text: String) throws {
        let host = try DialedHost(text)
        let name = text.hasSuffix(".") ? String(text.dropLast()) : text
        #expect(host.name == name && host.serverNameIndication == name)
        #expect(try DialedHost(url: #require(URL(string: "https://\(text)/"))).hasSameName(as: host))
        #expect(try HostPattern("**.\(text)").matches(host))
    }

    @Test("Labels of 63 octets and names of 253 pass, one more does not")
    func lengths() {
        #expect(code(String(repeating: "a", count: 63) + ".com") == nil)
        #expect(code(String(repeating: "a", count: 64) + ".com") == .labelTooLong)
        let long = Array(repeating: String(repeating: "a", count: 49), count: 5).joined(separator: ".") + ".com"
        #expect(long.utf8.count == 253)
        #expect(code(long) == nil)
        #expect(code(long + ".") == nil)
        #expect(code("b" + long) == .tooLong)
    }

    @Test("A text of megabytes is refused by its length, before any work on it")
    func megabytes() {
        for unit in ["a", "a.", "ä", "\u{200D}", ":", "[", "1.", "xn--a.", "😀"] {
            let text = String(repeating: unit, count: 1_000_000)
            #expect([.tooLong, .invalidAddress].contains(code(text)), "\(unit)")
        }
    }

    @Test("IPv4 is four decimal octets")
    func ipv4() throws {
        for (text, octets) in [
            ("192.0.2.1", [192, 0, 2, 1]), ("0.0.0.0", [0, 0, 0, 0]), ("255.255.255.255", [255, 255, 255, 255]),
        ] as [(String, [UInt8])] {
            let host = try DialedHost(text)
            #expect(host.kind == .ipv4(octets))
            #expect(host.serverNameIndication == nil)
            #expect(host.addressOctets == octets)
            #expect(host.name == text)
        }
    }

    @Test(
        "IPv6 is read in every form of RFC 4291 and printed in that of RFC 5952",
        arguments: [
            ("::", "::"), ("::1", "::1"), ("[::1]", "::1"), ("1::", "1::"), ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
            ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
            ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
            ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"), ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
            ("::FFFF:c000:201", "::ffff:192.0.2.1"), ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
            ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"), ("fe80::0001", "fe80::1"),
            ("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ])
    func ipv6(_ text: String, _ printed: String) throws {
        let host = try DialedHost(text)
        #expect(host.addressOctets?.count == 16)
        #expect(host.name == printed)
        #expect(host.serverNameIndication == nil)
        #expect(try DialedHost(printed) == host)
    }

    @Test(
        "What only looks like IPv6 is refused",
        arguments: [
            ":", ":::", "1:::2", "::1::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "12345::", "g::",
            "1:",
            ":1", ":1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:", "[::1", "::1]", "[]", "[example.com]", "[1.2.3.4]", "[[::1]]",
            "[::1]:443", "::1.2.3", "::1.2.3.4:5", "1.2.3.4::", "::01.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "::1 ",
            "::\u{0}",
            "::１", "0x1::",
        ])
    func notIPv6(_ text: String) {
        #expect([.invalidAddress, .forbiddenCharacter].contains(code(text)), "\(text)")
    }

    @Test("An IPv6 address with a zone is refused as such")
    func zones() {
        for text in ["fe80::1%eth0", "[fe80::1%25eth0]", "fe80::1%"] {
            #expect(code(text) == .zoneIdentifier, "\(text)")
        }
    }

    @Test("A port is one from 1 to 65535, and part of what is equal")
    func ports() throws {
        for port in [0, -1, 65_536, .max, .min] { #expect(code("example.com", port: port) == .invalidPort) }
        let plain = try DialedHost("example.com")
        let https = try DialedHost("example.com", port: 443)
        #expect(plain != https)
        #expect(plain.hasSameName(as: https))
        #expect(try !plain.hasSameName(as: DialedHost("example.org")))
        #expect(https.description == "example.com:443")
        #expect(plain.description == "example.com")
        #expect(try DialedHost("::1", port: 65_535).description == "[::1]:65535")
    }

    @Test("A URL gives its host and its port")
    func urls() throws {
        func host(_ text: String) throws -> String { try DialedHost(url: #require(URL(string: text))).description }
        #expect(try host("https://WWW.Example.com/a?b#c") == "www.example.com:443")
        #expect(try host("wss://example.com") == "example.com:443")
        #expect(try host("http://example.com") == "example.com")
        #expect(try host("https://user:secret@example.com:8443") == "example.com:8443")
        #expect(try host("https://[2001:db8::1]/") == "[2001:db8::1]:443")
        #expect(try host("https://192.0.2.1") == "192.0.2.1:443")
        #expect(try host("https://bücher.example/ä") == "xn--bcher-kva.example:443")
        for text in [
            "https:///path", "file:///etc/hosts", "mailto:a@example.com", "example.com", "https://ex%61mple.com",
            "https://[example.com]/", "https://[fe80::1%25eth0]/", "https://[v1.x]/", "https://h:99999/",
            "https://h:0/",
            "https://h:999999999999999999999/", "https://127.1/", "https://0x7f000001/",
        ] {
            guard let url = URL(string: text) else { continue }
            #expect(throws: HostError.self, "\(text)") { try DialedHost(url: url) }
        }
    }

    @Test("A host name of the published interfaces may be a URL, which means its host alone")
    func publishedNames() throws {
        func host(_ text: String) throws -> DialedHost { try DialedHost(publishedHostName: text) }
        let expected = try DialedHost("www.example.com")
        for text in [
            "www.example.com", "https://www.example.com", "https://WWW.example.com:8443/path?q=1",
            "http://www.example.com.",
        ] {
            #expect(try host(text) == expected, "\(text)")
        }
        for text in [
            "www.example.com/path", "www.example.com:443", "https://", "https://a b", "https://good.com\\@evil.com",
            "https://a\u{0}.com", "://example.com", "https://" + String(repeating: "a", count: 10_000),
        ] {
            #expect(throws: HostError.self, "\(text)") { try host(text) }
        }
    }

    @Test("The user name of a URL is not its host")
    func userNames() throws {
        let host = try DialedHost(publishedHostName: "https://good.com@evil.com/")
        #expect(host.name == "evil.com")
    }
}
