import HoldfastTesting
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

    private static let mark = "\u{301}"

    @Test("Keys are octets: what Unicode calls equivalent are two keys, and neither is a field's name")
    func keysAreOctets() throws {
        #expect(refusal(of: "{\"\u{E9}\":1,\"e\u{301}\":2}") == nil)
        // KELVIN SIGN, which `==` takes for the letter K.
        var reader = try StrictJSONReader(Array("{\"\u{212A}\":1,\"K\":2}".utf8), maximumBytes: 100)
        try reader.beginObject()
        #expect(try reader.nextKey() == "")
        try reader.skipValue()
        #expect(try reader.nextKey() == "K")
        try reader.skipValue()
        #expect(try reader.nextKey() == nil)
    }

    @Test("A key has at most 128 octets, escapes resolved, and is read no further")
    func longKeys() {
        for character in ["a", "\\u0061", "\u{301}", "\\u0301"] {
            let octets =
                character.utf8.first == UInt8(ascii: "\\") ? (character == "\\u0061" ? 1 : 2) : character.utf8.count
            let fitting = String(repeating: character, count: 128 / octets)
            #expect(refusal(of: "{\"\(fitting)\":1}") == nil)
            #expect(refusal(of: "{\"\(fitting)\(character)\":1}") == .textTooLong)
            // Not even its end is looked for.
            #expect(refusal(of: "{\"\(fitting)\(character)\u{1}") == .textTooLong)
        }
    }

    /// The code of the error, and the number of comparisons per byte.
    private func comparisons(in text: String) -> (code: DocumentError.Code?, share: Double) {
        var compared = 0
        do throws(DocumentError) {
            let octets = Array(text.utf8)
            var reader = try StrictJSONReader(octets, maximumBytes: 8 << 20)
            defer { compared = reader.comparisons }
            try reader.skipValue()
            try reader.finish()
        } catch {
            return (error.code, Double(compared) / Double(text.utf8.count))
        }
        return (nil, Double(compared) / Double(text.utf8.count))
    }

    @Test("A key of 960 kB of combining marks costs no comparison, alone or twice")
    func combiningMarks() {
        // In an order that is not canonical: putting that right is what takes the square of the length.
        let key = "\"" + String(repeating: "\u{301}\u{327}", count: 240_000) + "\""
        let other = "\"" + String(repeating: "\u{327}\u{301}", count: 240_000) + "x\""
        for (text, expected) in [
            ("{\(key):1}", .textTooLong), ("{\"a\":0,\(key):1,\(other):2}", .textTooLong),
            ("{\"a\":\(key),\"b\":[\(key),\(other)]}", nil),
        ] as [(String, DocumentError.Code?)] {
            let (code, share) = comparisons(in: text)
            #expect(code == expected && share < 0.001)
        }
    }

    @Test("Whatever a document is, at most six keys or octets are compared for each of its octets")
    func dearestDocuments() {
        var generator = SplitMix64(seed: 12)
        var dearest = 0.0
        func object(_ keys: [String], _ value: String) -> String {
            "{\(keys.map { "\"\($0)\":\(value)" }.joined(separator: ","))}"
        }
        // As short as 64 keys can be, and as long, with a prefix or an ending in common, with marks, and escaped.
        let letters = (0x23...0x7E).filter { $0 != 0x5C }.prefix(64).map { String(UnicodeScalar(UInt8($0))) }
        let shapes: [[String]] = [
            letters, letters.map { String(repeating: "x", count: 127) + $0 },
            letters.map { $0 + String(repeating: "x", count: 127) },
            letters.map { $0 + String(repeating: Self.mark, count: 63) },
            (1...64).map { String(repeating: Self.mark, count: $0) }, letters.map { "\\u0301" + $0 },
            letters + [letters[63]],
            letters.dropLast() + [String(repeating: "y", count: 128), String(repeating: "y", count: 128)],
        ]
        for shape in shapes {
            dearest = max(dearest, comparisons(in: object(shape, "0")).share)
            let inner = object(shape, "{}")
            dearest = max(
                dearest, comparisons(in: "[\([String](repeating: inner, count: 50).joined(separator: ","))]").share)
            dearest = max(dearest, comparisons(in: object(Array(shape.prefix(64)), object(shape, "[]"))).share)
        }
        for _ in 0..<2_000 {
            let keys = (0..<Int.random(in: 1...70, using: &generator)).map { _ in
                String(
                    repeating: ["a", "\u{301}", "\\u0327", "\u{FDFA}"].randomElement(using: &generator) ?? "",
                    count: .random(in: 0...40, using: &generator))
                    + "\(Int.random(in: 0...99, using: &generator))"
            }
            dearest = max(
                dearest,
                comparisons(in: object(keys, ["0", "\"\"", "[[]]"].randomElement(using: &generator) ?? "")).share)
        }
        #expect(dearest > 5 && dearest < 6)
    }

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

    @Test("A number that a type of 32 bits cannot hold is refused, where a conversion would end the process")
    func narrowIntegers() throws {
        func read<Number: FixedWidthInteger>(_ text: String, as type: Number.Type) throws -> Number {
            var reader = try StrictJSONReader(Array(text.utf8), maximumBytes: 100)
            return try reader.integer(as: type)
        }
        #expect(try read("2147483647", as: Int32.self) == .max && read("-2147483648", as: Int32.self) == .min)
        for (text, isWide) in [("2147483648", true), ("-2147483649", true), ("9007199254740991", true), ("-1", false)] {
            let narrow = #expect(throws: DocumentError.self) {
                _ = isWide ? Int(try read(text, as: Int32.self)) : Int(try read(text, as: UInt16.self))
            }
            #expect(narrow?.code == .invalidValue && narrow?.found == text)
            #expect(try read(text, as: Int64.self) == Int64(text))
        }
    }
}
