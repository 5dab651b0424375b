import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastPublishing
@testable import holdfastctl

/// Models the matching of other systems, after their documentation and code; an import or export must not change it.
@Suite("The meaning of imported and exported pins", .timeLimit(.minutes(15)))
struct PinImportMeaningTests {
    private static func base64(_ number: UInt8) throws -> String { try PinExportTests.pin(number).base64 }

    private static let hosts = [
        "example.com", "a.example.com", "b.a.example.com", "c.b.a.example.com", "example.org", "x.example.org",
    ]

    /// The pins that a pin file asks of a host; nil if it does not decide about it, and empty if it only reports.
    private static func pins(of name: String, in file: PinFile) throws -> Set<Pin>? {
        let host = try DialedHost(name)
        let entry = file.hosts.filter { $0.pattern.matches(host) }.min { $0.pattern < $1.pattern }
        return entry.map { $0.enforcement == .enforce ? Set($0.pins.map(\.pin)) : [] }
    }

    /// An entry of TrustKit or Android: the name as it is written, and whether it covers all names under it.
    private struct Entry {
        let name: String
        let isWide: Bool
        /// None: excepted.
        let pin: UInt8?

        static func deciding(about host: String, among entries: [Entry]) -> Entry? {
            if let exact = entries.first(where: { $0.name == host }) { return exact }
            return entries.filter { $0.isWide && host.hasSuffix(".\($0.name)") }.max { $0.name.count < $1.name.count }
        }
    }

    private static let configurations: [[Entry]] = [
        [.init(name: "example.com", isWide: false, pin: 1)],
        [.init(name: "example.com", isWide: true, pin: 1)],
        [.init(name: "example.com", isWide: true, pin: 1), .init(name: "a.example.com", isWide: false, pin: 2)],
        [.init(name: "example.com", isWide: true, pin: 1), .init(name: "a.example.com", isWide: true, pin: 2)],
        [.init(name: "example.com", isWide: true, pin: 1), .init(name: "a.example.com", isWide: false, pin: nil)],
        [.init(name: "example.com", isWide: true, pin: 1), .init(name: "*.example.org", isWide: false, pin: 2)],
        [.init(name: "example.com", isWide: true, pin: 1), .init(name: ".example.org", isWide: true, pin: 2)],
        [.init(name: "example.com", isWide: true, pin: 1), .init(name: "https://example.org", isWide: false, pin: 2)],
        [.init(name: "example.com", isWide: true, pin: 1), .init(name: "example.org.", isWide: false, pin: 2)],
    ]

    private static func android(_ entries: [Entry]) throws -> String {
        let configs = try entries.map { entry in
            let pins = try entry.pin.map { "<pin digest=\"SHA-256\">\(try base64($0))</pin>" } ?? ""
            return "<domain-config><domain includeSubdomains=\"\(entry.isWide)\">\(entry.name)</domain><pin-set>\(pins)"
                + "</pin-set></domain-config>"
        }
        return "<network-security-config>\(configs.joined())</network-security-config>"
    }

    private static func trustKit(_ entries: [Entry]) throws -> String {
        let off = "<key>TSKDisableDefaultReportUri</key><true/>"
        let domains = try entries.map { entry in
            guard let pin = entry.pin else {
                return "<key>\(entry.name)</key><dict><key>TSKExcludeSubdomainFromParentPolicy</key><true/></dict>"
            }
            return "<key>\(entry.name)</key><dict><key>TSKIncludeSubdomains</key><\(entry.isWide)/>"
                + "<key>TSKPublicKeyHashes</key><array><string>\(try base64(pin))</string></array>\(off)</dict>"
        }
        return "<plist version=\"1.0\"><dict><key>TSKPinnedDomains</key><dict>\(domains.joined())</dict></dict></plist>"
    }

    @Test("What is imported asks of each host what TrustKit and Android ask, and a name that never matches is named")
    func imports() throws {
        for entries in Self.configurations {
            for (source, text) in [
                (PinImport.Source.trustkit, try Self.trustKit(entries)), (.android, try Self.android(entries)),
            ] {
                #expect(try PinImport.Source(detectedIn: Data(text.utf8)) == source)
                let result = try PinImport(Data(text.utf8), from: source, role: .both)
                let file = try result.file()
                for host in Self.hosts {
                    let expected = try Entry.deciding(about: host, among: entries).map { entry in
                        Set(try entry.pin.map { [try PinExportTests.pin($0)] } ?? [])
                    }
                    #expect(try Self.pins(of: host, in: file) == expected, "\(source) \(host) \(text)")
                }
                let inert = entries.filter {
                    $0.name.contains("*") || $0.name.contains("/") || $0.name.hasPrefix(".") || $0.name.hasSuffix(".")
                }
                #expect(
                    result.losses.filter { $0.what.contains("never matches") }.count == inert.count, "\(result.losses)")
            }
        }
    }

    // MARK: OkHttp

    /// The pins that OkHttp accepts: those of every pattern that matches.
    private static func okHTTP(_ patterns: [(String, UInt8)], of host: String) throws -> Set<Pin>? {
        let found = try patterns.filter { pattern, _ in
            if pattern.hasPrefix("**.") {
                let base = String(pattern.dropFirst(3))
                return host == base || host.hasSuffix(".\(base)")
            }
            guard pattern.hasPrefix("*.") else { return host == pattern }
            return host.split(separator: ".").dropFirst().joined(separator: ".") == pattern.dropFirst(2)
        }.map { try PinExportTests.pin($0.1) }
        return found.isEmpty ? nil : Set(found)
    }

    @Test("OkHttp's calls are read from Kotlin and Java, and each host gets the pins of every pattern that matches it")
    func okHTTPCalls() throws {
        let sets: [[(String, UInt8)]] = [
            [("example.com", 1)], [("*.example.com", 1), ("a.example.com", 2)],
            [("**.example.com", 1), ("*.example.com", 2), ("a.example.com", 3)],
            [("*.example.com", 1), ("**.a.example.com", 2)],
            [("**.example.com", 1), ("**.a.example.com", 2), ("*.a.example.com", 3), ("*.example.com", 4)],
            [("example.com", 1), ("example.com", 2), ("*.example.org", 3)],
        ]
        for patterns in sets {
            let calls = try patterns.map { ".add(\"\($0.0)\", // the pin\n \"sha256/\(try Self.base64($0.1))\")" }
                .joined()
            for text in [
                "val pinner = CertificatePinner.Builder()\(calls)\n.build()",
                "/* it */ CertificatePinner p = new CertificatePinner.Builder()\(calls).build();",
            ] {
                #expect(try PinImport.Source(detectedIn: Data(text.utf8)) == .okhttp)
                let file = try PinImport(Data(text.utf8), from: .okhttp, role: .both).file()
                for host in Self.hosts {
                    let expected = try Self.okHTTP(patterns, of: host)
                    #expect(try Self.pins(of: host, in: file) == expected, "\(host) \(text)")
                }
            }
        }
    }

    @Test("What OkHttp's export has is imported as it was")
    func okHTTPRoundTrip() throws {
        let file = try PinExportTests.plain(for: .okhttp)
        let text = try PinExport(file, as: .okhttp).text()
        let again = try PinImport(Data(text.utf8), from: .okhttp, role: .leaf).file()
        #expect(Set(again.hosts) == Set(file.hosts))
    }

    @Test("Code that is no chain of calls with literal texts is refused with its line")
    func code() throws {
        let pin = "sha256/\(try Self.base64(1))"
        for (text, line) in [
            ("CertificatePinner.Builder()\n.add(HOST, \"\(pin)\").build()", 2),
            ("CertificatePinner.Builder()\n.add(\"a.example\", \"\(pin)\" + x).build()", 2),
            ("CertificatePinner.Builder()\n.add(\"$host\", \"\(pin)\").build()", 2),
            ("val b = CertificatePinner.Builder()\nb.add(\"a.example\", \"\(pin)\")", 2),
            ("CertificatePinner.Builder().add(\"a.example\",\n\"sha1/AAAA\").build()", 2),
            ("/* /* */ */ CertificatePinner.Builder().add(\"a.example\", \"\(pin)\").build()", 1),
            ("CertificatePinner.Builder().add(\"a.example\", \"\(pin)\").build()\nCertificatePinner.Builder()", 2),
            // In Java the line ends at the escape, and what follows is code.
            ("CertificatePinner.Builder()\n.add(\"a.example\", \"\(pin)\") // \\u000a.add(\"b.example\")\n.build()", 2),
            ("\nString s = \"\\uu0022; CertificatePinner.Builder().add(\"a.example\", \"\(pin)\").build()", 2),
        ] {
            let error = #expect(throws: PublishingError.self, "\(text)") {
                _ = try PinImport(Data(text.utf8), from: .okhttp, role: .both)
            }
            #expect(error?.found.contains("line \(line))") == true, "\(text) \(error?.found ?? "")")
        }
        let elsewhere = "CertificatePinner.Builder().add(\"a.example\", \"\(pin)\").build(); val more = \"\(pin)\""
        #expect(throws: PublishingError.self) { _ = try PinImport(Data(elsewhere.utf8), from: .okhttp, role: .both) }
    }

    @Test("A comment ends at a carriage return alone, and an escaped backslash before a u is no escape")
    func carriageReturns() throws {
        let texts = try [UInt8(1), 2].map { "sha256/\(try Self.base64($0))" }
        let code =
            "val path = \"C:\\\\u0022\"\rCertificatePinner.Builder().add(\"a.example\", \"\(texts[0])\") // one\r"
            + ".add(\"b.example\", \"\(texts[1])\") // two\r\n.build()"
        let file = try PinImport(Data(code.utf8), from: .okhttp, role: .leaf).file()
        #expect(file.hosts.map(\.pattern.description) == ["a.example", "b.example"])
    }

    @Test("An anchor whose chains Android does not pin is named as such")
    func overridingAnchors() throws {
        let text = """
            <network-security-config><domain-config><domain>a.example</domain>
            <pin-set><pin digest="SHA-256">\(try Self.base64(1))</pin></pin-set>
            <trust-anchors><certificates src="user" overridePins="true"/><certificates src="system"/></trust-anchors>
            </domain-config></network-security-config>
            """
        let losses = try PinImport(Data(text.utf8), from: .android, role: .leaf).losses.map(\.what)
        #expect(losses.count == 2 && losses[0].contains("overridePins") && !losses[1].contains("overridePins"))
    }

    @Test("A name of OkHttp with a dot at its end is left out, since OkHttp keeps the dot and dialed names have none")
    func dotAtTheEnd() throws {
        let pins = try [UInt8(1), 2].map { "sha256/\(try Self.base64($0))" }
        let code =
            "CertificatePinner.Builder().add(\"a.example.\", \"\(pins[0])\")\n"
            + ".add(\"b.example\", \"\(pins[1])\").build()"
        let result = try PinImport(Data(code.utf8), from: .okhttp, role: .leaf)
        #expect(try result.file().hosts.map(\.pattern.description) == ["b.example"])
        #expect(result.losses.map(\.field) == ["add \"a.example.\""] && result.losses[0].what.contains("never matches"))
    }

    @Test("Capitals in a name of TrustKit are named, and Android makes small letters of them")
    func capitals() throws {
        let entries = [Entry(name: "WWW.example.com", isWide: false, pin: 1)]
        let list = try PinImport(Data(Self.trustKit(entries).utf8), from: .trustkit, role: .leaf)
        #expect(list.notes.contains { $0.what.contains("capitals") && $0.what.contains("www.example.com") })
        let android = try PinImport(Data(Self.android(entries).utf8), from: .android, role: .leaf)
        #expect(!android.notes.contains { $0.what.contains("capitals") })
        #expect(try android.file().hosts.map(\.pattern.description) == ["www.example.com"])
    }

    @Test("A day or second that does not exist is refused as it is written, in a text and in a date")
    func days() throws {
        for value in [
            "<string>2027-02-29</string>", "<date>2027-02-29T00:00:00Z</date>", "<date>2026-12-31T23:59:60Z</date>",
        ] {
            let text = try Self.trustKit([Entry(name: "a.example", isWide: false, pin: 1)]).replacing(
                "<key>TSKDisableDefaultReportUri</key>",
                with: "<key>TSKExpirationDate</key>\(value)<key>TSKDisableDefaultReportUri</key>")
            let error = #expect(throws: PublishingError.self, "\(value)") {
                _ = try PinImport(Data(text.utf8), from: .trustkit, role: .leaf)
            }
            let written = value.split(separator: ">")[1].prefix { $0 != "<" }
            #expect(error?.found.contains("\"\(written)\"") == true, "\(error?.found ?? "")")
        }
    }

    @Test("A configuration of which no host is left, or nothing but placeholders, is refused with the reason")
    func nothingLeft() throws {
        let star = try PinImport(
            Data(Self.android([Entry(name: "*.example.com", isWide: false, pin: 1)]).utf8), from: .android, role: .both)
        let error = #expect(throws: PublishingError.self) { _ = try star.file() }
        #expect(error?.found.contains("never matches") == true, "\(error?.found ?? "")")
        let zeros = try Self.android([Entry(name: "a.example", isWide: false, pin: 1)]).replacing(
            try Self.base64(1), with: Data(count: 32).base64EncodedString())
        let placeholder = #expect(throws: PublishingError.self) {
            _ = try PinImport(Data(zeros.utf8), from: .android, role: .both)
        }
        #expect(placeholder?.found.contains("32 zero bytes") == true, "\(placeholder?.found ?? "")")
        let more = zeros.replacing("</pin-set>", with: "<pin digest=\"SHA-256\">\(try Self.base64(2))</pin></pin-set>")
        let both = try PinImport(Data(more.utf8), from: .android, role: .both)
        #expect(both.losses.map(\.what).filter { $0.contains("placeholder") }.count == 1, "\(both.losses)")
    }

    // MARK: The command

    @Test("A key of a property list forges no line, and messages are whole sentences")
    func lines() async throws {
        try await withTemporaryFolder { folder in
            let hashes = "<key>TSKPublicKeyHashes</key><array><string>\(try Self.base64(1))</string></array>"
            let text =
                "<plist version=\"1.0\"><dict><key>TSKPinnedDomains</key><dict><key>a.example\nholdfastctl: forged</key>"
                + "<dict>\(hashes)</dict></dict></dict></plist>"
            try Data(text.utf8).write(to: folder.appending(path: "keys.plist"))
            for arguments in [["--lossy"], []] {
                let run = try await CommandRun.holdfastctl(["import", "keys.plist"] + arguments, in: folder)
                #expect(run.status == 1, "\(run.errors)")
                #expect(
                    !run.errors.split(separator: "\n").contains { $0.hasPrefix("holdfastctl: forged") }, "\(run.errors)"
                )
                #expect(!run.errors.contains("found that it") && !run.errors.contains(".. "), "\(run.errors)")
            }
            try Data((try Self.android(Self.configurations[5])).utf8).write(to: folder.appending(path: "nsc.xml"))
            let refused = try await CommandRun.holdfastctl(["import", "nsc.xml"], in: folder)
            #expect(refused.status == 1 && refused.output.isEmpty && refused.errors.contains("*.example.org"))
            let lossy = try await CommandRun.holdfastctl(["import", "nsc.xml", "--lossy"], in: folder)
            #expect(lossy.status == 0 && !lossy.output.contains("example.org"), "\(lossy.errors)")
            let other = try await CommandRun.holdfastctl(["import", "nsc.xml", "--from", "trustkit"], in: folder)
            #expect(other.status == 1 && other.errors.contains("android") && other.errors.contains("--from"))
        }
    }

    // MARK: Exports

    @Test("A host that is left out although an exported entry covers it is said to get the pins of that entry")
    func coveredOmission() throws {
        let file = try PinFile(hosts: [
            PinFile.Host(HostPattern("**.example.com"), pins: [PinExportTests.key(1), PinExportTests.key(2)]),
            PinFile.Host(
                HostPattern("open.example.com"), enforcement: .reportOnly, pins: [PinExportTests.key(1)]),
        ])
        for format in [ExportFormat.android, .okhttp] {
            let losses = PinExport(file, as: format).losses
            #expect(losses.contains { $0.what.contains("with the pins of **.example.com") }, "\(losses)")
        }
        #expect(PinExport(file, as: .trustkit).losses.isEmpty)
    }
}
