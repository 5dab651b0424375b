import Foundation
import Holdfast
import HoldfastOutput
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("What reaches a terminal", .timeLimit(.minutes(15)))
struct SafetyOfOutputTests {
    @Test("Colors are for terminals, and not for those who do not want them")
    func colors() {
        #expect(Output.wantsColor(isTerminal: true, environment: [:]))
        #expect(Output.wantsColor(isTerminal: true, environment: ["NO_COLOR": ""]))
        #expect(!Output.wantsColor(isTerminal: true, environment: ["NO_COLOR": "1"]))
        #expect(!Output.wantsColor(isTerminal: true, environment: ["TERM": "dumb"]))
        #expect(!Output.wantsColor(isTerminal: false, environment: [:]))
    }

    @Test("Only our own colors act on a terminal")
    func rendering() {
        let piece = Output.Piece("a\u{1B}[31mb", .good)
        #expect(Output(usesColor: true).rendered([piece]) == "\u{1B}[32ma\\u{1b}[31mb\u{1B}[0m")
        #expect(Output(usesColor: false).rendered([piece]) == "a\\u{1b}[31mb")
    }

    @Test("Controls, directions and separators are shown as numbers, other text stays")
    func escaping() {
        #expect(SafeText.escaped("zürich 東京\n") == "zürich 東京\n")
        #expect(SafeText.escaped("\r\u{7F}\u{85}\u{9B}") == "\\u{d}\\u{7f}\\u{85}\\u{9b}")
        #expect(SafeText.escaped("\u{202E}\u{2028}\u{200B}") == "\\u{202e}\\u{2028}\\u{200b}")
        #expect(SafeText.escapedLine("a\nb") == "a\\u{a}b")
    }

    @Test(
        "A word of a command that is shown is the same word to a shell",
        arguments: ["site", "", "my site", "it's", "$HOME;`id`", "a\"b\\c", "zürich/*", "/srv/pins-1.2", "~", "'"])
    func shellWord(text: String) async throws {
        try await withTemporaryFolder { folder in
            let run = try await CommandRun.shell("printf %s \(SafeText.shellWord(text))", in: folder)
            #expect(run.output == text && run.status == 0)
        }
    }

    @Test("A line break in a name that is given forges no line, whatever verb repeats it")
    func lineBreaks() async throws {
        try await SigningSite.with { site in
            let name = "x.pem\nholdfastctl: all clients get in"
            try site.write(name, "hello")
            for arguments in [
                ["show", name], [name], ["check", name], ["repository", "status", name], ["pins", "diff", name, name],
                ["show", "--no-such=\(name)"], ["keygen", "-o", name, "--no-password"],
            ] {
                let run = try await site.run(arguments)
                #expect(run.status == 2 && run.output.isEmpty, "\(arguments)")
                #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
                #expect(run.errors.contains("without line breaks, found \""), "\(run.errors)")
            }
        }
    }

    @Test("A plain word of a command stays as it is, and controls are shown as numbers")
    func plainWords() {
        #expect(SafeText.shellWord("../site-1/pins_2.d") == "../site-1/pins_2.d")
        #expect(SafeText.shellWord("a\u{1B}b\n") == "'a\\u{1b}b\\u{a}'")
    }

    @Test("JSON keeps its meaning when it is made safe")
    func json() throws {
        let text = "a\u{9B}b\u{202E}c\u{E0001}d\u{1B}e"
        let encoded = String(decoding: try JSONEncoder().encode([text]), as: UTF8.self)
        let safe = SafeText.escapedInJSON(encoded)
        #expect(safe.unicodeScalars.allSatisfy { $0.isASCII })
        #expect(try JSONDecoder().decode([String].self, from: Data(safe.utf8)) == [text])
    }
}

@Suite("HOST[:PORT]")
struct ServerAddressTests {
    @Test(
        "Hosts are read with and without ports",
        arguments: [
            ("www.example.com", "www.example.com:443"), ("WWW.Example.com.:8443", "www.example.com:8443"),
            ("192.0.2.1", "192.0.2.1:443"), ("192.0.2.1:1", "192.0.2.1:1"), ("::1", "[::1]:443"),
            ("2001:db8::1", "[2001:db8::1]:443"), ("[2001:db8::1]", "[2001:db8::1]:443"),
            ("[2001:db8::1]:65535", "[2001:db8::1]:65535"), ("https://www.example.com/path?q", "www.example.com:443"),
            ("https://www.example.com:8443", "www.example.com:8443"), ("bücher.example", "xn--bcher-kva.example:443"),
        ])
    func hosts(text: String, expected: String) throws {
        #expect(try ServerAddress.host(text).description == expected)
    }

    @Test(
        "What could be read in two ways is refused",
        arguments: [
            "", ":443", "host:", "host:+1", "host: 1", "host:65536", "[::1", "[::1]x", "[::1]:", "a b", "http://",
        ])
    func refused(text: String) {
        #expect(throws: (any Error).self) { try ServerAddress.host(text) }
    }
}
