import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("General names, RFC 5280 4.2.1.6")
struct GeneralNameTests {
    private func read(_ value: [UInt8]) throws(DERError) -> [GeneralName] {
        try GeneralName.readAll(0..<value.count, of: value)
    }
    private func read(_ names: TestGeneralName...) throws(DERError) -> [GeneralName] {
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
                "IP:0:0:0:0:0:0:0:1", "[0]", "[3]", "[5]", "[8]",
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
        let most = [[UInt8]](repeating: TestGeneralName.dns("a").der, count: GeneralName.maximumCount)
        #expect(try read(TestDER.sequence(most)).count == GeneralName.maximumCount)
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
