import Testing

@testable import Holdfast

@Suite("Strict JSON")
struct StrictJSONReaderTests {
    /// The code of the error that reading ends with; nil when the text is read.
    private func refusal(of text: String) -> DocumentError.Code? { refusal(of: Array(text.utf8)) }

    private func refusal(of bytes: [UInt8]) -> DocumentError.Code? {
        do throws(DocumentError) {
            var reader = try StrictJSONReader(bytes, maximumBytes: 10_000)
            try reader.skipValue()
            try reader.finish()
            return nil
        } catch {
            return error.code
        }
    }

    private func integer(_ text: String) -> Int64? {
        do {
            var reader = try StrictJSONReader(Array(text.utf8), maximumBytes: 100)
            let value = try reader.integer()
            try reader.finish()
            return value
        } catch {
            return nil
        }
    }

    @Test(
        "What RFC 8259 allows is read",
        arguments: [
            "{}", "[]", " [ 1 , -2.5e+3 , true , false , null , \"x\" ] ", "{\"a\":{\"b\":[{}]},\"c\":0}",
            "\"\\u00e9\\n\\/\"",
            "\"😀\\ud83d\\ude00\"", "0.5", "1E9",
        ])
    func allowed(text: String) { #expect(refusal(of: text) == nil) }

    @Test(
        "What RFC 8259 does not allow is refused",
        arguments: [
            "", " ", "{", "}", "[1,]", "{\"a\":1,}", "{,}", "[,1]", "{\"a\"}", "{\"a\":}", "{a:1}", "{'a':1}", "[1 2]",
            "[1}",
            "01", "-", "+1", ".5", "1.", "1e", "NaN", "Infinity", "tru", "nul", "\"a", "\"\\x\"", "\"\\u12\"",
            "\"\u{1}\"", "{} {}",
            "// x\n{}", "[\"\t\"]", "{\"a\":1 \"b\":2}",
        ])
    func malformed(text: String) { #expect(refusal(of: text) == .notJSON || refusal(of: text) == .wrongType) }

    @Test("A byte-order mark, and UTF-16 with it, is refused")
    func byteOrderMark() {
        #expect(refusal(of: [0xEF, 0xBB, 0xBF] + Array("{}".utf8)) == .byteOrderMark)
        #expect(refusal(of: [0xFF, 0xFE, 0x7B, 0, 0x7D, 0]) == .byteOrderMark)
        #expect(refusal(of: [0xFE, 0xFF, 0, 0x7B, 0, 0x7D]) == .byteOrderMark)
    }

    @Test("UTF-16 without a mark is refused")
    func utf16() {
        #expect(refusal(of: [0x7B, 0, 0x7D, 0]) != nil)
        #expect(refusal(of: [0, 0x7B, 0, 0x7D]) != nil)
    }

    @Test(
        "Octets that are no UTF-8 are refused",
        arguments: [
            [0xFF], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xC3], [0xE2, 0x82], [0x80], [0xE2, 0x28, 0xA1],
        ] as [[UInt8]])
    func notUTF8(octets: [UInt8]) { #expect(refusal(of: [0x22] + octets + [0x22]) == .notUTF8) }

    @Test(
        "Half of a surrogate pair is refused",
        arguments: ["\"\\ud83d\"", "\"\\ude00\"", "\"\\ud83dx\"", "\"\\ud83d\\u0041\""])
    func halfPairs(text: String) { #expect(refusal(of: text) == .notUTF8) }

    @Test(
        "A key that stands twice is refused, also where it is escaped differently or nobody asks for it",
        arguments: [
            #"{"a":1,"a":1}"#, #"{"a":1,"\u0061":2}"#, #"{"x":{"b":1,"c":2,"b":3}}"#, #"[{"é":1,"\u00e9":2}]"#,
        ])
    func duplicateKeys(text: String) { #expect(refusal(of: text) == .duplicateKey) }

    @Test("The same key in two objects is no duplicate")
    func keysOfTwoObjects() { #expect(refusal(of: #"[{"a":1},{"a":{"a":2}}]"#) == nil) }

    @Test("An integer has no fraction, no exponent and no sign of zero, and at most 53 bits")
    func integers() {
        #expect(integer("0") == 0 && integer("-7") == -7 && integer(" 1540280280000 ") == 1_540_280_280_000)
        #expect(integer("9007199254740991") == 9_007_199_254_740_991)
        for text in [
            "1.0", "1e3", "1E0", "-0", "9007199254740992", "-9007199254740992", "99999999999999999999", "01", "\"1\"",
            "true", "null", "\(Int64.min)", "\(Int64.max)", "\(Int64.min + 1)",
        ] {
            #expect(integer(text) == nil, "\(text)")
        }
    }

    @Test("Depth, size and the members of an object are bounded")
    func budget() {
        #expect(refusal(of: String(repeating: "[", count: 16) + String(repeating: "]", count: 16)) == nil)
        #expect(refusal(of: String(repeating: "[", count: 17) + String(repeating: "]", count: 17)) == .tooDeep)
        #expect(refusal(of: String(repeating: "[", count: 10_000)) == .tooDeep)
        #expect(refusal(of: String(repeating: " ", count: 10_001)) == .tooLarge)
        let members = (0..<65).map { "\"k\($0)\":0" }
        #expect(refusal(of: "{\(members.dropLast().joined(separator: ","))}") == nil)
        #expect(refusal(of: "{\(members.joined(separator: ","))}") == .tooManyMembers)
    }

    @Test("Base64 has one spelling: padded, without loose bits, without anything else")
    func canonicalBase64() {
        for (text, octets) in [
            ("", []), ("AA==", [0]), ("AAE=", [0, 1]), ("AAEC", [0, 1, 2]), ("+/+/", [251, 255, 191]),
        ]
            as [(String, [UInt8])]
        {
            #expect(CanonicalBase64.decode(text.utf8) == octets)
            #expect(CanonicalBase64.encode(octets) == text)
        }
        for text in [
            "AB==", "AAF=", "AA", "AA=", "A", "A===", "====", "=AAA", "AA=A", "AAE-", "AA E", "AAEC\n", "AAEC====",
            "_AAA",
        ] {
            #expect(CanonicalBase64.decode(text.utf8) == nil, "\(text)")
        }
    }
}
