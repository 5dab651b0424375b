import Foundation
import Testing

@testable import Holdfast

@Suite("Host names in Unicode")
struct UnicodeHostTests {
    private func code(_ text: String) -> HostError.Code? {
        do throws(HostError) {
            _ = try DialedHost(text)
            return nil
        } catch { return error.code }
    }

    @Test(
        "Names are mapped by UTS 46, non-transitional",
        arguments: [
            ("bücher.de", "xn--bcher-kva.de"), ("BÜCHER.DE.", "xn--bcher-kva.de"),
            ("bu\u{308}cher.de", "xn--bcher-kva.de"),
            ("straße.de", "xn--strae-oqa.de"), ("faß.de", "xn--fa-hia.de"), ("ΑΣ.gr", "xn--mxa0b.gr"),
            ("İ.com", "xn--i-9bb.com"), ("\u{212A}.com", "k.com"), ("ｅｘａｍｐｌｅ.com", "example.com"),
            ("☃.com", "xn--n3h.com"), ("😀.com", "xn--e28h.com"), ("אב.com", "xn--4dbc.com"),
            ("क्\u{200D}ष.com", "xn--11b2ezcw70k.com"), ("a\u{3002}com", "a.com"), ("a．com｡", "a.com"),
            ("a\u{AD}b.com", "ab.com"), ("日本語.jp", "xn--wgv71a119e.jp"), ("_ä.com", "xn--_-0fa.com"),
        ])
    func mapping(_ text: String, _ name: String) throws {
        #expect(try DialedHost(text).kind == .name(name))
    }

    @Test(
        "Names that UTS 46 does not map are refused",
        arguments: [
            "a\u{200D}b.com", "א1a.com", "a\u{202E}b.com", "\u{301}a.com", "ab--ä.com", "-ä.com", "ä-.com", "…com",
            "℀.com",
            "xn--bücher.de", "\u{FFFD}.com", "\u{E000}.com", "a。。b", "。com", "a\u{FF0F}b.com",
        ])
    func refused(_ text: String) {
        #expect(
            [.invalidUnicodeName, .forbiddenCharacter, .emptyLabel].contains(code(text)), "\(text.debugDescription)")
    }

    @Test("What a mapping gives is checked like what was given")
    func afterMapping() {
        #expect(code("１.2.3.4") == .numericName)
        #expect(code("１２７.1") == .numericName)
        #expect(code("ä.0x1") == .numericName)
        #expect(code("⑴.com") == .forbiddenCharacter)
    }

    @Test("A name that is too long once it is mapped is refused")
    func mappedLengths() {
        #expect(code(String(repeating: "ä", count: 57) + ".com") == nil)
        #expect(code(String(repeating: "ä", count: 58) + ".com") == .invalidUnicodeName)
        let labels = Array(repeating: String(repeating: "ä", count: 40), count: 9)
        #expect(code(labels.joined(separator: ".")) == .invalidUnicodeName)
    }

    @Test("An A-label stands for the name it decodes to")
    func aLabels() throws {
        #expect(try DialedHost("XN--BCHER-KVA.de") == DialedHost("bücher.de"))
        #expect(code("1.xn--4dbc.com") == nil)
        #expect(code("r3---a.xn--bcher-kva.de") == nil)
    }

    @Test(
        "A label after xn-- that is no A-label is refused",
        arguments: [
            "xn--", "xn--a", "xn--zz--a", "xn--abc-", "xn--9999999999999999", "xn--1ug", "xn--ab-m1t", "xn--a-ecp",
        ])
    func notALabels(_ label: String) {
        #expect([.invalidALabel, .hyphenAtEdge].contains(code(label + ".com")), "\(label)")
    }

    @Test("A host in Unicode has the same canonical form a second time")
    func idempotent() throws {
        for text in ["straße.de", "İ.com", "日本語.jp", "क्\u{200D}ष.com"] {
            let host = try DialedHost(text)
            #expect(try DialedHost(host.name) == host)
        }
    }
}
