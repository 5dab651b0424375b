import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import ServerFoundation
@testable import ServerModel

/// The reader of what people's tools send. Foundation's reader is the foreign one that it is compared with.
@Suite("JSON as people's tools write it")
struct JSONReaderTests {
    private func read(_ text: String) throws(ServerError) -> CanonicalJSON { try read(Array(text.utf8)) }

    private func read(_ bytes: [UInt8]) throws(ServerError) -> CanonicalJSON {
        try JSONReader.read(bytes, "body", limit: 1 << 20)
    }

    private func expectMalformed(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        expectMalformed(Array(text.utf8), sourceLocation: sourceLocation)
    }

    private func expectMalformed(_ bytes: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
        let error = expectError(.malformed, { try read(bytes) }, sourceLocation: sourceLocation)
        #expect(error?.subject == "body", "\(bytes)", sourceLocation: sourceLocation)
    }

    /// Whether what another reader found is a value.
    private func isSame(_ value: CanonicalJSON, _ foreign: Any?) -> Bool {
        switch value {
        case .boolean(let value): return foreign as? Bool == value
        case .integer(let value): return (foreign as? NSNumber)?.int64Value == value
        case .text(let text): return (foreign as? String).map { Array($0.utf8) } == text
        case .array(let elements):
            guard let others = foreign as? [Any], others.count == elements.count else { return false }
            return zip(elements, others).allSatisfy { isSame($0, $1) }
        case .object(let members):
            guard let others = foreign as? [String: Any], others.count == members.count else { return false }
            return members.allSatisfy { isSame($0.value, others[$0.key]) }
        }
    }

    private static let seeds = [
        #"{"app": "bank", "reason": "a test", "proposer": "nobody", "includeSeen": true, "lifetimeDays": 180}"#,
        #" {"formats" : [ {"kind":"list","refresh":3600}, {"kind":"trust-server","refresh":300,"customer":"gcx"} ] } "#,
        #"{"text":"holdfast-approval-v1\nserver\n","identity":"\u00e4\ud83d\ude00\t\"\\\/","signature":"AAECAw=="}"#,
        #"{"a":[[[[[[-9007199254740991,0,9007199254740991]]]]]],"ae":"ü😀","b":{"c":{"d":{}}},"e":[],"f":false}"#,
        #"{"chain":"-----BEGIN CERTIFICATE-----\r\nMIIB\r\n-----END CERTIFICATE-----\r\n","begins":"2026-12-24T12:00:00Z"}"#,
    ].map { Array($0.utf8) }

    @Test("What a damaged text is read as, another reader reads as well, and it can be written and read again")
    func mutation() throws {
        var generator = SeededGenerator(seed: 0x150)
        var read = 0
        defer { noteCampaign(of: mutants) }
        for number in 0..<mutants {
            let mutant = mutated(Self.seeds[number % Self.seeds.count], &generator)
            let value: CanonicalJSON
            do throws(ServerError) {
                value = try self.read(mutant)
            } catch {
                #expect(error.code == .malformed && error.subject == "body", "\(error)")
                continue
            }
            read += 1
            #expect(try self.read(value.bytes) == value)
            #expect(try CanonicalJSONReader.read(value.bytes, "body", limit: 1 << 20) == value)
            let foreign = try JSONSerialization.jsonObject(with: Data(mutant), options: .fragmentsAllowed)
            #expect(isSame(value, foreign), "\(String(decoding: mutant, as: UTF8.self))")
        }
        #expect(read > mutants / 20 && read < mutants)
    }

    @Test("A field that is there twice is refused, however its name is spelled")
    func duplicates() throws {
        for text in [
            #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"a":3}"#, #"{"a":1,"\u0061":1}"#, #"{"x":{"a":1,"a":2}}"#,
            #"[{"a":1},{"b":1,"b":2}]"#, #"{"a":{},"a":{}}"#,
        ] { expectMalformed(text) }
        let text = "{\n  \"a\": 1,\n  \"b\": {\"c\": [],\n    \"\\u0063\": nonsense}}"
        let error = expectError(.malformed) { try read(text) }
        #expect(error?.expected == "each field once" && error?.found == "c in line 3, and again in line 4")
        #expect(try read(#"{"a":{"a":1},"A":2}"#) == .object(["a": .object(["a": .integer(1)]), "A": .integer(2)]))
    }

    @Test("Names of fields are short ASCII, so that none looks like another")
    func names() throws {
        for name in ["", "ä", "a b", "a.b", #"\u0000"#, "a\u{301}", String(repeating: "a", count: 65)] {
            expectMalformed("{\"\(name)\":1}")
        }
        for name in ["a", "_", "-", "A-b_9", String(repeating: "a", count: 64)] {
            #expect(try read("{\"\(name)\":1}") == .object([name: .integer(1)]))
        }
        for text in ["{a:1}", "{1:1}", "{'a':1}", "{true:1}", "{\"a\" 1}", "{\"a\":}", "{:1}"] { expectMalformed(text) }
    }

    @Test("It nests as deep as a content, and a text of brackets alone costs no stack")
    func depth() throws {
        func nested(_ depth: Int, _ open: String, _ close: String) -> String {
            String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
        }
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")] {
            let levels = open.utf8.count { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }
            let deepest = (CanonicalJSON.depth - 1) / levels
            _ = try read(nested(deepest, open, close))
            expectMalformed(nested(deepest + 1, open, close))
            expectMalformed(nested(100_000, open, ""))
        }
    }

    @Test("Numbers are integers that every reader keeps exactly, also with a fraction of zeros")
    func numbers() throws {
        for text in ["0", "1", "-1", "60", "9007199254740991", "-9007199254740991"] {
            let value = CanonicalJSON.integer(try #require(Int64(text)))
            #expect(try read(text) == value)
            for zeros in [1, 2, 100_000] {
                #expect(try read(text + "." + String(repeating: "0", count: zeros)) == value)
            }
        }
        for text in [
            "-0", "00", "01", "-01", "+1", "1.", ".5", "1.5", "1.05", "1.0.0", "-0.0", "1.0e2", "1e2", "1E2", "1e-2",
            "9007199254740992",
            "-9007199254740992",
            "9223372036854775808", "-", "--1", "1-", "1-1", "0x1", "1_000", "NaN", "Infinity", "-Infinity", "١", "1 1",
            String(repeating: "9", count: 100_000), "0" + String(repeating: "0", count: 100_000),
        ] { expectMalformed(text) }
    }

    @Test("Text is UTF-8 and nothing that only looks like it")
    func encodings() throws {
        func text(_ bytes: [UInt8]) -> [UInt8] { [0x22] + bytes + [0x22] }
        for bytes in [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
            [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80],
            [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80],
            [0xFE], [0xFF],
        ] as [[UInt8]] {
            expectMalformed(text(bytes))
            expectMalformed(text([0x61] + bytes + [0x61]))
            expectMalformed(Array("{".utf8) + text(bytes) + Array(":1}".utf8))
        }
        for bytes in [[0xC2, 0x80], [0xED, 0x9F, 0xBF], [0xEF, 0xBF, 0xBF], [0xF4, 0x8F, 0xBF, 0xBF]] as [[UInt8]] {
            #expect(try read(text(bytes)) == .text(bytes))
        }
        // UTF-16, UTF-32 and a byte order mark.
        let sample = #"{"a":1}"#
        for encoding in [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32] {
            expectMalformed(Array(try #require(sample.data(using: encoding))))
        }
        expectMalformed("\u{FEFF}" + sample)
    }

    @Test("An escape means one character, and half a pair of surrogates means none")
    func escapes() throws {
        for (text, meant) in [
            (#""\u0041\u00e4\u20AC""#, "Aä€"), (#""\ud83d\ude00\uD83D\uDE00""#, "😀😀"),
            (#""\b\f\n\r\t""#, "\u{8}\u{C}\n\r\t"),
            (#""\"\\\/\u0000""#, "\"\\/\0"), (#""\uDBFF\uDFFF\uffff""#, "\u{10FFFF}\u{FFFF}"), ("\"\u{7F}\"", "\u{7F}"),
        ] { #expect(try read(text) == .text(meant)) }
        for text in [
            #""\ud83d""#, #""\ude00""#, #""\ud83d\ud83d""#, #""\ude00\ud83d""#, #""\ud83dx""#, #""\ud83d\n""#,
            #""\ud83d\u""#,
            #""\u12""#, #""\u12G4""#, #""\u+123""#, #""\U0041""#, #""\x41""#, #""\a""#, #""\'""#, #""\"#, #""\u"#,
            #""a"#,
            "\"a\nb\"", "\"\0\"", "\"\u{1F}\"", "\"\t\"",
        ] { expectMalformed(text) }
    }

    @Test("Nothing is read that is no JSON, and nothing before or after the value")
    func grammar() throws {
        for text in [
            "", " ", "nul", "null", "[null]", #"{"a":null}"#, "True", "tru", "trues", "fals", "undefined", "[1,]",
            "[,1]", "[1 2]",
            #"{"a":1,}"#, #"{,"a":1}"#, #"{"a":1 "b":2}"#, #"{"a":1;"b":2}"#, "[1", "{", "}", "]", "[}", "{]", "[1}",
            "'a'", "//\n1",
            "/**/1", "1//", "{}{}", "{} x", "1,", "\u{A0}1", "\u{2028}1", "\u{B}1", "\0", "1\0",
        ] { expectMalformed(text) }
        #expect(try read("\t\r\n [ true , false ] \n") == .array([.boolean(true), .boolean(false)]))
        #expect(try read(" { } ") == .object([:]) && read("[ ]") == .array([]) && read(#""""#) == .text(""))
    }

    @Test("Of strangers' programs nulls are left out, numbers with fractions are their own texts, and names are any")
    func strangers() throws {
        func stranger(_ text: String) throws -> CanonicalJSON {
            try JSONReader.read(Array(text.utf8), "report", limit: 1_000, ofStrangers: true)
        }
        #expect(try stranger(#"{"a": null, "b": 1}"#) == .object(["b": .integer(1)]))
        #expect(try stranger("[null , 1, null]") == .array([.integer(1)]))
        #expect(
            try stranger(#"{"x y!": [0.5, -1.25e-3, 1E9, 7, -7]}"#)
                == .object([
                    "x y!": .array([.text("0.5"), .text("-1.25e-3"), .text("1E9"), .integer(7), .integer(-7)])
                ]))
        for text in [
            "null", "[null,]", "[nul]", "[nullx]", #"{"a": null "b": 1}"#, #"{"a": null, "a": 1}"#, "1.", ".5", "+1",
            "-",
            "1.2.3", "1e", "1-2", #"{"": 1}"#, "{\"\u{1}\": 1}", "0.\(String(repeating: "1", count: 40))",
        ] { expectError(.malformed) { try stranger(text) } }
    }

    @Test("A text may have as many bytes as it is told, and no more")
    func limit() throws {
        let bytes = Array(#"{"a":1}"#.utf8)
        #expect(try JSONReader.read(bytes, "body", limit: bytes.count) == .object(["a": .integer(1)]))
        let error = expectError(.malformed) { try JSONReader.read(bytes, "body", limit: bytes.count - 1) }
        #expect(error?.expected == "at most 6 bytes" && error?.found == "7")
    }
}
