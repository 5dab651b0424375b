import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("General names, RFC 5280 4.2.1.6")
struct GeneralNameTests {
    private func read(_ value: [UInt8]) throws(DERError) -> [GeneralNameSlice] {
        try GeneralNameSlice.readAll(0..<value.count, of: value)
    }
    private func read(_ names: TestGeneralName...) throws(DERError) -> [GeneralNameSlice] {
        try read(TestDER.sequence(names.map(\.der)))
    }

    @Test("Every form is read, those that nothing looks at by their number")
    func forms() throws {
        let names = try read(
            .email("a@example.com"), "www.example.com", .directory("x"), .uri("https://example.com"), "192.0.2.1",
            "::1",
            .other([1, 2, 3], TestDER.null), .raw(0xA3, []), .raw(0xA5, []), .raw(0x88, [0x2A]))
        #expect(names.map(\.form) == [1, 2, 4, 6, 7, 7, 0, 3, 5, 8])
        #expect(
            names.map(\.text) == [
                "email:a@example.com", "DNS:www.example.com", "dirName:CN=x", "URI:https://example.com", "IP:192.0.2.1",
                "IP:0:0:0:0:0:0:0:1", "otherName:1.2.3", "[3]", "[5]", "registeredID:1.2",
            ])
    }

    @Test("An application gets each name as data")
    func data() throws {
        let upn: [UInt8] = [1, 3, 6, 1, 4, 1, 1]
        let user = TestDER.element(0x0C, Array("ops@example.com".utf8))
        let names = try read(
            .email("a,b@example.com"), "WWW.example.com", .directory("x"), .uri("spiffe://example.org/a,b"),
            "192.0.2.1", .other([1, 3, 6, 1, 4, 1, 311, 20, 2, 3], user), .raw(0x88, upn), .raw(0xA3, [0x30, 0]),
            // An otherName and a registeredID that cannot be read: no value, no identifier, one with padding.
            .raw(0xA0, [6, 1, 0x2A]), .raw(0x88, []), .raw(0x88, [0x2A, 0x80, 0x01])
        ).map { GeneralName($0) }
        #expect(
            names == [
                .rfc822Name("a,b@example.com"), .dNSName("WWW.example.com"),
                .directoryName(DistinguishedName(der: TestName.commonName("x").der[...])),
                .uniformResourceIdentifier("spiffe://example.org/a,b"), .iPAddress([192, 0, 2, 1]),
                .otherName(type: "1.3.6.1.4.1.311.20.2.3", value: user), .registeredID("0.1.3.6.1.4.1.1"),
                .other(number: 3, content: [0x30, 0]), .other(number: 0, content: [6, 1, 0x2A]),
                .other(number: 8, content: []), .other(number: 8, content: [0x2A, 0x80, 0x01]),
            ])
    }

    @Test(
        "What is no general name is an error, not a name that is left out",
        arguments: [
            [], [0x30, 0x00], [0x30, 0x02, 0x82], TestDER.sequence([[0x89, 0x00]]), TestDER.sequence([[0xA2, 0x00]]),
            TestDER.sequence([[0x80, 0x00]]), TestDER.sequence([[0x84, 0x00]]), TestDER.sequence([[0x02, 0x01, 1]]),
            TestDER.sequence([TestGeneralName.address([1, 2, 3]).der]),
            TestDER.sequence([TestGeneralName.address([1, 2, 3, 4, 255, 0, 0, 0]).der]),
            TestDER.sequence([TestGeneralName.address([]).der]),
            TestDER.sequence([TestGeneralName.dns("bücher.de").der]),
            TestDER.sequence([TestGeneralName.email("é@a.de").der]), TestDER.sequence([TestGeneralName.uri("é").der]),
            TestDER.sequence([[0xA4, 0x02, 0x31, 0x00]]), TestDER.sequence([[0xA4, 0x04, 0x30, 0x00, 0x30, 0x00]]),
            TestDER.sequence([TestGeneralName.dns("a").der]) + [0],
        ])
    func malformed(value: [UInt8]) {
        #expect(throws: DERError.self) { try read(value) }
    }

    @Test("More names than any host has are refused")
    func count() throws {
        let most = [[UInt8]](repeating: TestGeneralName.dns("a").der, count: GeneralNameSlice.maximumCount)
        #expect(try read(TestDER.sequence(most)).count == GeneralNameSlice.maximumCount)
        #expect(throws: DERError.self) { try read(TestDER.sequence(most + [TestGeneralName.dns("a").der])) }
    }

    @Test("Text for people is of bounded length and holds printable ASCII")
    func text() throws {
        let long = String(repeating: "a", count: 100_000)
        for name in try read(.dns(long), .email(long), .uri(long), .directory(.commonName(long))) {
            #expect(name.text.count < 3_000)
        }
        let controls = try read(.dns("a\u{0}\n\u{1B}b"))[0].text
        #expect(controls.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
    }
}
