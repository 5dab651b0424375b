import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastCompatibility

/// 100,000 damaged inputs of each kind: each is read or refused, and what is read has one canonical form.
@Suite("100,000 damaged texts", .timeLimit(.minutes(15)))
struct TextCampaigns {
    private static let tokens = [
        ".", "..", "*", "*.", "**.", "xn--", "xn--a", "[", "]", ":", "::", "%", "0x", "255", "256", "é", "。",
        "\u{200D}", "\u{202E}", "😀", "İ", "ß", "１", "\u{0}", " ", "=", "/", "sha256/", "-", "https://", "@",
        String(repeating: "a", count: 64),
    ]

    @Test("of hosts: each is refused, or has one canonical form that the DNS can hold", arguments: Campaign.halves)
    func hosts(half: Int) async throws {
        try await Campaign(
            acceptedTexts: [
                "www.example.com", "bücher.example", "xn--bcher-kva.de", "192.0.2.1", "2001:db8::1",
                "[::ffff:192.0.2.1]", "אב.com", "a_b.c-d.e", "WWW.Example.COM.",
                "-a.-b-.c-.com",
            ],
            refusedTexts: [
                "a b.c d.e f.com", "a\u{0}b.\u{0}c.d\u{0}", "a..b..c..com", "http://user@host:1/a b",
                String(repeating: "a", count: 240) + ".com", "%41%42%43.com",
                String(repeating: "a.", count: 140) + "com",
            ],
            tokens: Self.tokens
        ).run(half: half, seed: 101) { bytes in
            guard let host = try? DialedHost(String(decoding: bytes, as: UTF8.self)) else { return false }
            let name = host.name
            if try DialedHost(name) != host { Issue.record("\(bytes): \(name) reads as another host") }
            if name.utf8.count > 253 || !name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) {
                Issue.record("\(bytes): \(name) is no name of the DNS")
            }
            return true
        }
    }

    @Test("of host patterns: each is refused, or reads back as it prints", arguments: Campaign.halves)
    func patterns(half: Int) async throws {
        let address = try DialedHost("192.0.2.1")
        try await Campaign(
            acceptedTexts: [
                "*.example.com", "**.example.com", "www.example.com", "**.bücher.de", "192.0.2.1", "*.a.b",
                "*.-a-.example.com",
            ],
            refusedTexts: ["*a.*b.*c.com", "***.***.com", "*.a b.c d.e f", "*. . . .com"],
            tokens: Self.tokens
        ).run(half: half, seed: 102) { bytes in
            guard let pattern = try? HostPattern(String(decoding: bytes, as: UTF8.self)) else { return false }
            if try HostPattern(pattern.description) != pattern { Issue.record("\(bytes): \(pattern)") }
            if pattern.scope != .exact, pattern.matches(address) || !pattern.base.name.contains(".") {
                Issue.record("\(bytes): \(pattern) reaches too far")
            }
            return true
        }
    }

    @Test("of pins: each is refused, or is the digest that it prints", arguments: Campaign.halves)
    func pins(half: Int) async throws {
        let pin = Pin.certificate([1])
        let key = try Pin(subject: .publicKey, digest: pin.digest)
        let colons = pin.digest.map { String(format: "%02X", $0) }.joined(separator: ":")
        try await Campaign(
            acceptedTexts: [
                key.description, "sha256//" + key.description.dropFirst(7), pin.description, "cert-sha256/" + colons,
            ],
            refusedTexts: [
                "sha1/" + key.description.dropFirst(16),
                String(pin.description.dropLast(8)), "sha256/" + String(repeating: "=", count: 44),
                " \(key) \(key) ", "cert-sha256/" + String(repeating: "g", count: 64),
            ],
            tokens: Self.tokens
        ).run(half: half, seed: 103) { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            guard let pin = try? Pin(text) else { return false }
            if try Pin(pin.description) != pin || pin.digest.count != 32 { Issue.record("\(bytes): \(pin)") }
            // One key or certificate, one spelling but for the case and colons of hexadecimal and curl's second slash.
            let spelled = text.replacing("sha256//", with: "sha256/")
            let isSpelledSo =
                pin.subject == .publicKey
                ? spelled == pin.description || text == pin.description
                : text.replacing(":", with: "").lowercased() == pin.description
            if !isSpelledSo { Issue.record("\(text) is another spelling of \(pin)") }
            return true
        }
    }

    @Test("of public suffixes: each is refused or read", arguments: Campaign.halves)
    func publicSuffixLists(half: Int) async throws {
        try await Campaign(
            acceptedTexts: ["com\nco.uk\n*.ck\n!www.ck\n// x\n", "// none\n\n*.kawasaki.jp\n!city.kawasaki.jp\n"],
            refusedTexts: ["a..b\nc..d\ne..f\n", "a*.b\nc*.d\n*.*.e\n"], tokens: Self.tokens
        ).run(half: half, seed: 108) { bytes in
            guard let list = try? PublicSuffixList(String(decoding: bytes, as: UTF8.self)) else { return false }
            _ = list.listsSuffix(atOrUnder: "www.ck")
            return true
        }
    }

    @Test(
        "of property lists: each is refused, or pins nothing for a domain that had nothing", arguments: Campaign.halves)
    func propertyLists(half: Int) async throws {
        let pinned = Data(Pin.certificate([1]).digest)
        func list(_ content: [String: [Data]], _ format: PropertyListSerialization.PropertyListFormat) throws -> [UInt8]
        {
            let encoder = PropertyListEncoder()
            encoder.outputFormat = format
            return Array(try encoder.encode(content))
        }
        let content = ["www.example.com": [pinned, Data()], "unrelated.test": [pinned]]
        let binary = try list(content, .binary)
        let xml = try list(content, .xml)
        let other = try list(["unrelated.test": [pinned]], .binary)
        try await Campaign(
            accepted: [binary, xml],
            refused: [
                other, Array(binary.prefix(binary.count / 2)), Array(xml.prefix(xml.count / 2)),
                Array(binary.dropFirst(6)),
            ],
            tokens: Self.tokens.prefix(8).map { Array($0.utf8) }
                + ["<dict>", "</array>", "<data>", "&lt;", "<!--", "bplist00"].map { Array($0.utf8) }
                + [
                    [0xFF, 0xFF, 0xFF, 0xFF], [0xDF, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
                    [0xA1, 0x00],
                ]
        ).run(half: half, seed: 104) { bytes in
            guard let domains = try? PinnedCertificateFile.certificates(in: Data(bytes)) else { return false }
            for certificates in domains.values where certificates.contains(where: { $0.count > bytes.count }) {
                Issue.record("\(bytes): more than the file holds")
            }
            return domains["www.example.com"]?.contains(pinned) ?? false
        }
    }
}
