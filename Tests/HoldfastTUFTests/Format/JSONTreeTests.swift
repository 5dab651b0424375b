import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

@Suite("Metadata as JSON")
struct JSONTreeTests {
    private func canonical(_ text: String) throws -> String {
        var comparisons = 0
        let tree = try JSONTree(Array(text.utf8), maximumBytes: 10_000, comparisons: &comparisons)
        return String(decoding: tree.canonical, as: UTF8.self)
    }

    @Test(
        "Canonical JSON sorts by octets, escapes two characters, and keeps everything",
        arguments: [
            (#"{"b":1,"a":[true,false,null]}"#, #"{"a":[true,false,null],"b":1}"#),
            (#" { "é" : "\u00e9" , "z" : "\n\t\"\\\/" } "#, "{\"z\":\"\n\t\\\"\\\\/\",\"é\":\"é\"}"),
            (#"{"Z":{},"a":[],"\u0041":-5}"#, #"{"A":-5,"Z":{},"a":[]}"#),
            // U+FF61 is below U+1F600 in UTF-8 and above its first half in UTF-16.
            ("{\"\u{1F600}\":1,\"\u{FF61}\":2}", "{\"\u{FF61}\":2,\"\u{1F600}\":1}"),
            ("[9007199254740991]", "[9007199254740991]"),
        ])
    func form(text: String, form: String) throws {
        #expect(try canonical(text) == form)
        // Control characters stand in it as they are, which JSON does not allow.
        #expect(try text.contains("\\n") || canonical(form) == form)
    }

    @Test("Served JSON reads back as what was written, and is canonical where there are no control characters")
    func served() throws {
        var generator = SplitMix64(seed: 1_925)
        var (plain, escaped) = (0, 0)
        for _ in 0..<2_000 {
            let tree = Self.tree(depth: 4, using: &generator)
            var comparisons = 0
            #expect(try JSONTree(tree.json, maximumBytes: .max, comparisons: &comparisons) == tree)
            if tree.canonical.contains(where: { $0 < 0x20 }) {
                escaped += 1
                #expect(!tree.json.contains { $0 < 0x20 })
            } else {
                plain += 1
                #expect(tree.json == tree.canonical)
            }
        }
        #expect(plain > 100 && escaped > 100)
    }

    private static func tree(depth: Int, using generator: inout SplitMix64) -> JSONTree {
        func text() -> String {
            let scalars: [Unicode.Scalar] = [
                "a", "\"", "\\", "/", "\n", "\u{1}", "\u{1F}", "\u{7F}", "\u{E9}", "\u{1F600}",
            ]
            return String(
                String.UnicodeScalarView(
                    (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                        scalars[Int.random(in: 0..<scalars.count, using: &generator)]
                    }))
        }
        switch Int.random(in: 0...(depth > 0 ? 5 : 3), using: &generator) {
        case 0: return .null
        case 1: return .boolean(Bool.random(using: &generator))
        case 2: return .integer(Int64.random(in: -(1 << 53) + 1...(1 << 53) - 1, using: &generator))
        case 3: return JSONTree(text: text())
        case 4:
            return .array(
                (0..<Int.random(in: 0...3, using: &generator)).map { _ in tree(depth: depth - 1, using: &generator) })
        default:
            return JSONTree(
                members: (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                    (Array(text().utf8), tree(depth: depth - 1, using: &generator))
                })
        }
    }

    private struct Document: CustomTestStringConvertible {
        let text: String
        var testDescription: String { text.utf8.count > 60 ? "\(text.utf8.count) characters" : text }
    }

    @Test(
        "What has two readings, or asks too much, is refused",
        arguments: ([
            #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, #"{"a":{"b":1,"b":1}}"#, "[1.0]", "[1e2]", "[-0]", "[01]",
            "[9007199254740992]", "[99999999999999999999]", #"["\ud800"]"#, "[\"\u{1}\"]", "{} {}", "", "[1,]",
            "{\"a\"}",
            "\u{FEFF}{}", String(repeating: "[", count: 17) + String(repeating: "]", count: 17),
            String(repeating: "[", count: 9_000), "[" + String(repeating: "1,", count: 5_000) + "1]", "NaN", "nul",
            "{\"" + String(repeating: "k", count: 5_000) + "\":1}",
        ] as [String]).map { Document(text: $0) })
    private func refused(document: Document) {
        #expect(throws: TUFError.self) { try canonical(document.text) }
    }

    @Test("Octets that are not UTF-8 are refused")
    func notUTF8() {
        var comparisons = 0
        for octets: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]] {
            let text = Array("[\"".utf8) + octets + Array("\"]".utf8)
            #expect(throws: TUFError.self) {
                try JSONTree(text, maximumBytes: 100, comparisons: &comparisons)
            }
        }
    }

    @Test("Keys that come twice are found in work that hardly grows faster than the file")
    func countedWork() throws {
        var comparisons = 0
        let count = 50_000
        let members = (0..<count).map { "\"\($0 * 7_919 % count)\":0" }.joined(separator: ",")
        _ = try JSONTree(Array("{\(members)}".utf8), maximumBytes: .max, comparisons: &comparisons)
        #expect(comparisons < count * 25)
    }
}
