import Testing

@testable import Holdfast

@Suite("Object identifiers as text")
struct ObjectIdentifierTests {
    @Test(
        "They print with dots, and as hexadecimal when they are none",
        arguments: [
            ([0x2A], "1.2"), ([0x55, 0x1D, 0x11], "2.5.29.17"), ([0x00], "0.0"), ([0x27], "0.39"), ([0x28], "1.0"),
            ([0x78], "2.40"), ([0x88, 0x37], "2.999"), ([0x2A, 0x86, 0x48], "1.2.840"), ([], "#"),
            ([0x2A, 0x86], "#2a86"),
            ([0x2A] + [UInt8](repeating: 0xFF, count: 10) + [0x7F], "#2affffffffffffffffffff7f"),
        ] as [([UInt8], String)])
    func text(content: [UInt8], printed: String) {
        #expect(ObjectIdentifier.text(content[...]) == printed)
    }

    @Test("One of any length prints in a line")
    func bounded() {
        #expect(ObjectIdentifier.text([UInt8](repeating: 0x81, count: 100_000)[...]).count < 300)
        #expect(ObjectIdentifier.text([UInt8](repeating: 0x01, count: 100_000)[...]).count < 300)
    }
}
