import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Distinguished names, RFC 5280 7.1")
struct DistinguishedNameTests {
    typealias Attribute = TestName.Attribute

    private func name(_ name: TestName) -> DistinguishedName { DistinguishedName(der: name.der[...]) }
    private func isWithin(_ name: DistinguishedName, _ base: DistinguishedName) -> Bool? {
        guard let name = name.folded, let base = base.folded else { return nil }
        return name.isWithin(base)
    }
    private func name(_ tag: UInt8, _ value: [UInt8], type: [UInt8] = [0x55, 0x04, 0x03]) -> DistinguishedName {
        let pair = HandMadeDER.sequence(HandMadeDER.element(0x06, type), HandMadeDER.element(tag, value))
        return DistinguishedName(der: HandMadeDER.sequence(HandMadeDER.element(0x31, pair))[...])
    }

    @Test(
        "Case, runs of spaces and the string type do not tell names apart",
        arguments: [
            (Attribute(.commonName, "Root"), Attribute(.commonName, "ROOT")),
            (Attribute(.commonName, "A  B"), Attribute(.commonName, " a b ")),
            (Attribute(.commonName, "Root", as: .printable), Attribute(.commonName, "root", as: .utf8)),
            (Attribute(.commonName, "Root", as: .teletex), Attribute(.commonName, "Root", as: .ia5)),
            (Attribute(.commonName, "caf\u{E9}"), Attribute(.commonName, "CAFE\u{301}")),
            (Attribute(.commonName, "\u{FF21}"), Attribute(.commonName, "a")),
            // RFC 4518 2.2 maps a soft hyphen and zero-width characters to nothing.
            (Attribute(.commonName, "Ev\u{AD}il"), Attribute(.commonName, "evil")),
            (Attribute(.commonName, "Ev\u{200B}il"), Attribute(.commonName, "evil")),
        ])
    func same(left: Attribute, right: Attribute) {
        #expect(name(TestName([left])).matches(name(TestName([right]))))
        #expect(isWithin(name(TestName([left])), name(TestName([right]))) == true)
    }

    @Test(
        "Everything else does",
        arguments: [
            (TestName.commonName("a"), TestName.commonName("b")), ("ab", "a b"), ("a", .empty),
            (TestName([.init(.commonName, "a")]), TestName([.init(.organization, "a")])),
            (
                TestName([.init(.commonName, "a"), .init(.organization, "b")]),
                TestName([.init(.organization, "b"), .init(.commonName, "a")])
            ),
            (
                TestName([.init(.commonName, "a"), .init(.organization, "b")]),
                TestName(relativeNames: [[.init(.commonName, "a"), .init(.organization, "b")]])
            ),
            (TestName(relativeNames: [[.init(.commonName, "a")], []]), "a"),
        ] as [(TestName, TestName)])
    func different(left: TestName, right: TestName) {
        #expect(!name(left).matches(name(right)))
        #expect(!name(right).matches(name(left)))
    }

    @Test("The attributes of one relative name are a set")
    func sets() {
        let two = [Attribute(.commonName, "a"), Attribute(.organization, "B")]
        func unsorted(_ attributes: [Attribute]) -> DistinguishedName {
            let parts = attributes.flatMap { Array(TestName([$0]).der.dropFirst(4)) }
            return DistinguishedName(der: HandMadeDER.sequence(HandMadeDER.element(0x31, parts))[...])
        }
        #expect(unsorted(two).der != unsorted(two.reversed()).der)
        #expect(unsorted(two).matches(unsorted(two.reversed())))
    }

    @Test("A value of an unknown string type compares by its octets, and cannot imitate two attributes")
    func unknownTypes() {
        #expect(name(0x1C, [1]).matches(name(0x1C, [1])))
        #expect(!name(0x1C, [0x41]).matches(name(0x1C, [0x61])))
        // Bytes that a comparison might use between attributes.
        let (first, second) = ([UInt8(0x58)], [UInt8(0x79)])
        let type: [UInt8] = [0x55, 0x04, 0x03]
        let forged = name(0x1C, first + [0xFE, 0xFD] + type + [0xFF, 0x0C] + second)
        let parts = [(UInt8(0x1C), first), (0x0C, second)].flatMap { tag, value in
            HandMadeDER.element(
                0x31, HandMadeDER.sequence(HandMadeDER.element(0x06, type), HandMadeDER.element(tag, value)))
        }
        #expect(!forged.matches(DistinguishedName(der: HandMadeDER.sequence(parts)[...])))
    }

    @Test("A BMPString and a UniversalString are read, one of a broken length is not text")
    func bmp() {
        #expect(name(0x1E, [0, 0x41, 0, 0x42]).matches(name("ab")))
        #expect(name(0x1E, [0x41]).description == "CN=#…")
        #expect(name(0x1C, [0, 0, 0, 0x41, 0, 0, 0, 0x42]).matches(name("ab")))
        #expect(name(0x1C, [0, 0, 0x41]).description == "CN=#…")
        #expect(name(0x1C, [0xFF, 0, 0, 0x41]).description == "CN=#…")
        #expect(name(0x1E, [0xD8, 0x00]).description == "CN=#…")
    }

    @Test("A name that is no Name matches only itself and lies in no subtree that can be told")
    func malformed() {
        let broken = DistinguishedName(der: [0x30, 0x02, 0x31, 0x05])
        #expect(broken.matches(broken))
        #expect(!broken.matches(name("a")))
        #expect(isWithin(broken, name("a")) == nil)
        #expect(isWithin(name("a"), broken) == nil)
        #expect(broken.description == "(unreadable name)")
        #expect(DistinguishedName(der: [0x30, 0x00]).description == "(empty name)")
    }

    @Test("A subtree is a prefix of relative names")
    func subtrees() {
        let base = name(TestName([.init(.country, "DE"), .init(.organization, "Example")]))
        let inside = name(TestName([.init(.country, "de"), .init(.organization, "EXAMPLE"), .init(.commonName, "x")]))
        #expect(isWithin(inside, base) == true)
        #expect(isWithin(base, inside) == false)
        #expect(isWithin(base, name(.empty)) == true)
        #expect(isWithin(name(TestName([.init(.organization, "Example")])), base) == false)
    }

    @Test("A name longer than any authority's compares by its octets and lies in no subtree that can be told")
    func long() {
        let (lower, upper) = (String(repeating: "a", count: 5_000), String(repeating: "A", count: 5_000))
        #expect(name(.commonName(lower)).matches(name(.commonName(lower))))
        #expect(!name(.commonName(lower)).matches(name(.commonName(upper))))
        #expect(isWithin(name(.commonName(lower)), name("a")) == nil)
    }

    @Test(
        "What could forge or turn a line of a log is escaped",
        arguments: [
            ("a\nb", "CN=a\\u{a}b"), ("\u{1B}[31m", "CN=\\u{1b}[31m"), ("a\u{202E}b", "CN=a\\u{202e}b"),
            ("a\u{2066}b", "CN=a\\u{2066}b"), ("a\u{0}b", "CN=a\\u{0}b"), ("a\u{2028}b", "CN=a\\u{2028}b"),
            ("a, CN=b", "CN=a\\, CN\\=b"), ("a\u{7F}\u{85}", "CN=a\\u{7f}\\u{85}"), ("a\u{200F}", "CN=a\\u{200f}"),
            ("\u{E000}\u{FEFF}", "CN=\\u{e000}\\u{feff}"), ("Ünïcode", "CN=Ünïcode"),
        ])
    func escaping(text: String, printed: String) {
        #expect(name(.commonName(text)).description == printed)
        #expect(name(.commonName(text)).commonName?.hasSameOctets(as: text) == true)
    }

    @Test("A common name is data: the one that is there, as it is, where its characters are certain")
    func commonName() {
        #expect(name("Example, Inc.").commonName == "Example, Inc.")
        #expect(name(0x0C, Array("Müller".utf8)).commonName == "Müller")
        #expect(name(0x1E, [0, 0x41, 0, 0xE9]).commonName == "A\u{E9}")
        for tag in [0x12, 0x13, 0x14, 0x16, 0x1A] as [UInt8] {
            #expect(name(tag, Array("a+b".utf8)).commonName == "a+b")
            #expect(name(tag, Array("Müller".utf8)).commonName == nil)
            #expect(name(tag, [0xE9]).commonName == nil)
        }
        #expect(name(0x0C, [0xC3]).commonName == nil)
        #expect(name(0x1E, [0x41]).commonName == nil)
        #expect(name(0x04, [0x41]).commonName == nil)
        let two = [Attribute(.commonName, "a"), Attribute(.commonName, "a")]
        #expect(name(TestName(two)).commonName == nil)
        #expect(name(TestName(relativeNames: [two])).commonName == nil)
        #expect(name(.empty).commonName == nil)
        #expect(name(.commonName(String(repeating: "a", count: 256))).commonName?.count == 256)
        #expect(name(.commonName(String(repeating: "a", count: 257))).commonName == nil)
    }

    @Test("A description has a length that a line can bear, whatever the name's")
    func bounded() {
        let long = TestName(
            (0..<200).map { Attribute(.commonName, "\($0)\n" + String(repeating: "\u{1}", count: 900)) })
        #expect(name(long).description.unicodeScalars.count < 3_000)
        #expect(
            name(.commonName(String(repeating: "e\u{301}", count: 90_000))).description.unicodeScalars.count < 3_000)
        let type = [UInt8](repeating: 0x81, count: 60_000) + [1]
        #expect(name(0x0C, [0x41], type: type).description.count < 3_000)
    }

    @Test("Descriptions name the usual attributes")
    func description() {
        let all = TestName([
            .init(.country, "DE"), .init(.stateOrProvince, "Bayern"), .init(.locality, "München"),
            .init(.organization, "O"), .init(.organizationalUnit, "U"), .init(.domainComponent, "example"),
            .init(.emailAddress, "a@example.com"), .init(.serialNumber, "7"), .init([2, 5, 4, 99], "x"),
            .init(.commonName, "N"),
        ])
        #expect(
            name(all).description
                == "C=DE, ST=Bayern, L=München, O=O, OU=U, DC=example, emailAddress=a@example.com, serialNumber=7, "
                + "2.5.4.99=x, CN=N")
        #expect(name(all).commonName == "N")
        let set = TestName(relativeNames: [[.init(.country, "DE"), .init(.organization, "O")]])
        #expect(name(set).description.contains("+"))
    }
}
