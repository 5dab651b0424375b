import Testing

@testable import ServerFoundation

@Suite("Canonical JSON")
struct CanonicalJSONTests {
    private func read(_ text: String) throws -> CanonicalJSON {
        try CanonicalJSONReader.read(Array(text.utf8), "test", limit: 1 << 20)
    }

    @Test("A value reads as it was written, with keys sorted and nothing escaped that need not be")
    func roundTrip() throws {
        let value = CanonicalJSON.object([
            "b": .array([.integer(-1), .integer(CanonicalJSON.maximumInteger), .boolean(true), .boolean(false)]),
            "a": .text("\u{1}\t\n\r\u{8}\u{c}\"\\/é\u{7F}\u{2028}😀"), "A": .object([:]), "B": .array([]),
            "a-1": .text(""),
        ])
        let text =
            "{\"A\":{},\"B\":[],\"a\":\"\\u0001\\t\\n\\r\\b\\f\\\"\\\\/é\u{7F}\u{2028}😀\",\"a-1\":\"\","
            + "\"b\":[-1,9007199254740991,true,false]}"
        #expect(String(decoding: value.bytes, as: UTF8.self) == text)
        #expect(try read(text) == value)
    }

    @Test(
        "Everything that is not spelled as it is written is refused",
        arguments: [
            "", " {}", "{} ", "{ }", "[1, 2]", "[1,]", "[,1]", "{\"a\":1,}", "{\"b\":1,\"a\":2}", "{\"a\":1,\"a\":1}",
            "{\"a\" :1}", "{\"\":1}", "{\"é\":1}", "{\"a b\":1}", "{\"\\u0061\":1}", "1.0", "1e0", "-0", "01", "+1",
            "--1",
            "9007199254740992", "-9007199254740992", "99999999999999999999", "null", "True", "tru", "NaN",
            "\"\\u0041\"",
            "\"\\/\"", "\"\\u000a\"", "\"\\u000A\"", "\"\\u001F\"", "\"\\ud83d\\ude00\"", "\"\u{1}\"", "\"a",
            "\"a\"b\"", "{} {}",
            "[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", "{\"a\":}", "{\"a\"}", "[", "{", "\"\\", "\"\\u00", "\u{FEFF}{}",
        ])
    func refused(_ text: String) { expectError(.malformed) { try read(text) } }

    @Test("Bytes that are no UTF-8 are refused")
    func encoding() {
        for bytes: [UInt8] in [[0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22]] {
            expectError(.malformed) { try CanonicalJSONReader.read(bytes, "test", limit: 100) }
        }
        expectError(.malformed) { try CanonicalJSONReader.read([0x31, 0x31], "test", limit: 1) }
    }

    @Test("A damaged document is refused, or has the one spelling of another value")
    func campaign() throws {
        let bytes = Array(#"{"a":[1,-20,{"b":"x\ny\u0001é"}],"c":true,"d":{"e":"\"","f":[]}}"#.utf8)
        var generator = SeededGenerator(seed: 3)
        defer { noteCampaign(of: mutants) }
        for _ in 0..<mutants {
            let damaged = mutated(bytes, &generator)
            guard let value = try? CanonicalJSONReader.read(damaged, "test", limit: 1_000) else { continue }
            #expect(value.bytes == damaged)
        }
    }
}
