import Foundation
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
