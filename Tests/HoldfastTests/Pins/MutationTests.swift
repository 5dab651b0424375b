import Testing

@testable import Holdfast

/// Thousands of damaged inputs: each is read or refused, never a crash, and what is read has one canonical form.
@Suite("Damaged input")
struct MutationTests {
    private static let rounds = 4_000
    private static let tokens: [[UInt8]] =
        [
            ".", "..", "*", "*.", "xn--", "xn--a", "[", "]", ":", "::", "%", "0x", "255", "256", "é", "。", "\u{200D}",
            "\u{202E}",
            "😀", "İ", "ß", "１", "\u{0}", "=", "/", "sha256/", "-", "https://", "@", String(repeating: "a", count: 70),
        ].map { Array($0.utf8) } + [
            [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0x30, 0x80], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
        ]

    private func forEachMutation(of seeds: [[UInt8]], seed: UInt64, _ body: ([UInt8]) throws -> Bool) throws {
        var generator = SplitMix64(seed: seed)
        var accepted = 0
        for _ in 0..<Self.rounds {
            let original = seeds.randomElement(using: &generator) ?? []
            if try body(generator.mutated(original, tokens: Self.tokens)) { accepted += 1 }
        }
        // Damage that is always, or never, fatal tests nothing.
        #expect(accepted > 0 && accepted < Self.rounds)
    }

    private func texts(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }

    @Test("A damaged host is refused, or has one canonical form")
    func hosts() throws {
        let seeds = texts(
            "www.example.com", "bücher.example", "xn--bcher-kva.de", "192.0.2.1", "2001:db8::1", "[::ffff:192.0.2.1]",
            "אב.com", "a_b.c-d.e")
        try forEachMutation(of: seeds, seed: 1) { (bytes: [UInt8]) throws -> Bool in
            let text = String(decoding: bytes, as: UTF8.self)
            _ = try? DialledHost(publishedHostName: text)
            guard let host = try? DialledHost(text) else { return false }
            #expect(try DialledHost(host.name) == host, "\(text.debugDescription)")
            #expect(host.name.utf8.count <= 253 && host.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
            return true
        }
    }

    @Test("A damaged pattern is refused, or prints as what it is")
    func patterns() throws {
        let seeds = texts("*.example.com", "**.example.com", "www.example.com", "**.bücher.de", "192.0.2.1")
        try forEachMutation(of: seeds, seed: 2) { (bytes: [UInt8]) throws -> Bool in
            guard let pattern = try? HostPattern(String(decoding: bytes, as: UTF8.self)) else { return false }
            #expect(try HostPattern(pattern.description) == pattern)
            return true
        }
    }

    @Test("A damaged pin is refused, or prints as what it is")
    func pins() throws {
        let pin = Pin.certificate([1])
        let seeds = [pin.description, try Pin(subject: .publicKey, digest: pin.digest).description].map {
            Array($0.utf8)
        }
        try forEachMutation(of: seeds, seed: 3) { (bytes: [UInt8]) throws -> Bool in
            guard let pin = try? Pin(String(decoding: bytes, as: UTF8.self)) else { return false }
            #expect(try Pin(pin.description) == pin)
            return true
        }
    }

    @Test("A damaged certificate is refused, or its key lies within it")
    func certificates() throws {
        let key = HandMadeDER.key([UInt8](repeating: 1, count: 200))
        let seeds = [HandMadeDER.certificate(), HandMadeDER.certificate(version: [], key: key)]
        try forEachMutation(of: seeds, seed: 4) { (bytes: [UInt8]) throws -> Bool in
            _ = try? SubjectPublicKeyInfo(der: bytes)
            guard let found = try? SubjectPublicKeyInfo(certificateDER: bytes) else { return false }
            #expect(found.der.startIndex >= 0 && found.der.endIndex <= bytes.count)
            #expect(found.der.first == 0x30)
            return true
        }
    }

    @Test("A damaged public suffix list is refused, or read")
    func publicSuffixLists() throws {
        try forEachMutation(of: texts("com\nco.uk\n*.ck\n!www.ck\n// x\n"), seed: 5) {
            (bytes: [UInt8]) throws -> Bool in
            (try? PublicSuffixList(String(decoding: bytes, as: UTF8.self))) != nil
        }
    }
}
