import Foundation
import Holdfast
import HoldfastOutput
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastPublishing
@testable import holdfastctl

@Suite("Formats of pins and their parsers", .timeLimit(.minutes(120)))
struct PinExportFuzzTests {
    /// Text that an attacker may write into a certificate to end a comment, or to join two characters into one.
    private static let pieces = [
        "-", "-", "--", "-->", "<!--", "]]>", "<![CDATA[", "&", "&amp", "<", ">", "\"", "'", "\\", "\n", "\r", "\u{0}",
        "\u{B}", "\u{85}", "\u{2028}", "\u{301}", "\u{0D4E}", "\u{200D}", "\u{FE0F}", "\u{20E3}", "\u{1F468}",
        "\u{FFFE}",
        "\u{FFFF}", "\u{E000}", "\u{10FFFF}", "*/", "/*", "//", "\\(x)", "\"\"\"", "#", "$", "\u{FEFF}", "é", " ", "x",
    ]

    private struct Snippet: Encodable {
        let format: String
        let text: String
        let pins: [String]
    }

    /// The same texts on every run.
    private static func texts(_ count: Int) -> [String] {
        var state: UInt64 = 15
        func next() -> Int {
            state = state.multipliedReportingOverflow(by: 6_364_136_223_846_793_005).partialValue
            state &+= 1_442_695_040_888_963_407
            return Int(state >> 33)
        }
        return ["x \u{0D4E}-- y", "-", "--", "-\u{301}-->"]
            + (0..<count).map { _ in (0...(next() % 12)).map { _ in pieces[next() % pieces.count] }.joined() }
    }

    /// Pins with one of the texts for the subject of each, in one format.
    private static func snippets(_ formats: [ExportFormat], texts: [String]) throws -> [Snippet] {
        let leaf = try X509Certificate(der: TestAuthority.root().leaf(names: ["www.example.com"]).der)
        let backup = try SubjectPublicKeyInfo(der: TestKey().subjectPublicKeyInfoDER)
        return try texts.flatMap { text in
            var report = PinReport()
            report.pins = [PinEntry(leaf, place: "leaf", isIssuer: false)]
            report.pins[0].remark = text
            let asked = PinCollection.Host(
                try DialedHost("www.example.com"), pins: report.pins, warning: "NOT VALIDATED")
            let others = [PinEntry(key: backup, kind: .publicKey, subject: text, place: "backup")]
            let pins = [leaf.publicKeyPin.base64, backup.sha256Pin.base64]
            var snippets: [Snippet] = []
            for format in formats {
                let host = try HostPattern(format.says(.subtree) ? "**.example.com" : "example.com")
                let pins = try PinCollection([asked], and: others, for: host, as: format)
                let export = PinExport(pins.file, as: format, annotations: pins.annotations)
                let written = try export.text(isFragment: true)
                #expect(!written.utf8.contains { $0 < 0x20 && $0 != 0x0A || $0 == 0x7F })
                snippets.append(
                    Snippet(format: format.rawValue, text: written, pins: pins.file.hosts[0].pins.map(\.pin.base64)))
            }
            let said = SaidLines()
            report.pins += others
            try Output.$listener.withValue({ said.add($0, isForErrors: $1) }) { try Output.standard.json(report) }
            return snippets + [Snippet(format: "report", text: said.text, pins: pins)]
        }
    }

    private static let judge = """
        import json, plistlib, sys
        import xml.etree.ElementTree as xml
        bad = 0
        snippets = json.load(open(sys.argv[1], encoding="utf-8"))
        for s in snippets:
            try:
                text = s["text"]
                if s["format"] == "android":
                    found = [pin.text for pin in xml.fromstring(b"<x>" + text.encode() + b"</x>").iter("pin")]
                elif s["format"] == "report":
                    found = [pin["keyPin"][7:] for pin in json.loads(text)["pins"]]
                else:
                    document = '<plist version="1.0"><dict>' + text + '</dict></plist>'
                    value = plistlib.loads(document.encode(), fmt=plistlib.FMT_XML)
                    if s["format"] == "trustkit":
                        found = value["TSKConfiguration"]["TSKPinnedDomains"]["example.com"]["TSKPublicKeyHashes"]
                    else:
                        domain = value["NSAppTransportSecurity"]["NSPinnedDomains"]["example.com"]
                        found = [one["SPKI-SHA256-BASE64"] for one in domain["NSPinnedLeafIdentities"]]
                assert found == s["pins"], found
            except Exception as error:
                bad += 1
                print(s["format"], repr(s["text"]), error)
        print(len(snippets), "judged,", bad, "bad")
        """

    @Test(
        "XML, property lists and JSON are read as what they say, whatever a subject holds",
        .needs(.python))
    func parsers() async throws {
        try await withTemporaryFolder { folder in
            let snippets = try Self.snippets([.android, .trustkit, .ats], texts: Self.texts(300))
            try JSONEncoder().encode(snippets).write(to: folder.appending(path: "snippets.json"))
            let python = try #require(ForeignPeers.python)
            let run = try await CommandRun.run(python, ["-c", Self.judge, "snippets.json"], in: folder)
            #expect(
                run.output.hasSuffix("\(snippets.count) judged, 0 bad\n"), "\(run.output.suffix(2_000))\(run.errors)")
        }
    }

    @Test(
        "Swift code is read by the compiler, whatever a subject holds",
        .needs(.swiftCompiler))
    func swiftCompiler() async throws {
        try await withTemporaryFolder { folder in
            let snippets = try Self.snippets([.alamofire], texts: Self.texts(300)).filter { $0.format == "alamofire" }
            let functions = snippets.enumerated().map { number, snippet in
                // A comment that ended early would leave the marker out of its place.
                "func f\(number)() throws -> [String: any Sendable] {\n[\n\(snippet.text)]\n}\n"
            }
            try Data(functions.joined().utf8).write(to: folder.appending(path: "Snippets.swift"))
            let compiler = try #require(ForeignPeers.swiftCompiler)
            let run = try await CommandRun.run(
                compiler, ["-frontend", "-parse", "-warnings-as-errors", "Snippets.swift"], in: folder)
            #expect(run.status == 0, "\(run.output.suffix(2_000))\(run.errors.suffix(2_000))")
        }
    }

    @Test("In lines of comments and pins every pin stands in its own line, whatever a subject holds")
    func lines() throws {
        for snippet in try Self.snippets([.okhttp, .curl, .tlsa], texts: Self.texts(300)) {
            let lines = snippet.text.split(separator: "\n")
            switch snippet.format {
            case "curl": #expect(lines == [snippet.pins.map { "sha256//\($0)" }.joined(separator: ";")[...]])
            case "tlsa":
                #expect(lines.count == 2 && lines.allSatisfy { $0.hasPrefix("_443._tcp.example.com. IN TLSA 3 1 1 ") })
            case "okhttp":
                let code = lines.map { $0.hasPrefix("    // ") ? $0 : $0.split(separator: "  // ")[0] }
                #expect(
                    code == ["CertificatePinner.Builder()", "    // NOT VALIDATED"]
                        + snippet.pins.map { "    .add(\"**.example.com\", \"sha256/\($0)\")" } + ["    .build()"])
            default: break
            }
        }
    }
}
