import Foundation
import Holdfast
import Testing

@testable import HoldfastPublishing
@testable import holdfastctl

/// An import may refuse, but it never reads less than the system whose configuration it is.
@Suite("What an import does not understand")
struct PinImportStrictnessTests {
    private static func base64(_ number: UInt8) throws -> String { try PinExportTests.pin(number).base64 }

    private func file(_ text: String, _ source: PinImport.Source) throws -> PinFile {
        try PinImport(Data(text.utf8), from: source, role: .leaf).file()
    }

    private func refusal(_ text: String, _ source: PinImport.Source) -> PublishingError? {
        do {
            _ = try file(text, source)
            return nil
        } catch let failure as PublishingError {
            return failure
        } catch {
            Issue.record("\(error)")
            return nil
        }
    }

    /// A network security configuration in which `{1}` and `{2}` are hashes of pins.
    private static func android(_ content: String) throws -> String {
        try pinned("<network-security-config>\n\(content)\n</network-security-config>")
    }

    /// A property list of a domain's fields; the first of them is on the fourth line.
    private static func domain(_ content: String, _ source: PinImport.Source) throws -> String {
        let key = source == .ats ? "NSPinnedDomains" : "TSKPinnedDomains"
        return try pinned(
            """
            <plist version="1.0"><dict><key>\(key)</key><dict>
            <key>example.com</key>
            <dict>
            \(content)
            </dict></dict></dict></plist>
            """)
    }

    private static func pinned(_ text: String) throws -> String {
        try text.replacing("{1}", with: base64(1)).replacing("{2}", with: base64(2))
    }

    private static let pins = "<pin-set><pin digest=\"SHA-256\">{1}</pin></pin-set>"
    private static let hashes =
        "<key>TSKPublicKeyHashes</key><array><string>{1}</string><string>{2}</string></array>"
    private static func identity(_ hash: String) -> String {
        "<dict><key>SPKI-SHA256-BASE64</key><string>\(hash)</string></dict>"
    }
    private static let leaves = "<key>NSPinnedLeafIdentities</key><array>\(identity("{1}"))</array>"

    @Test(
        "Android's truth values are read in each spelling that its build tools take",
        arguments: [("true", true), ("TRUE", true), ("True", true), ("false", false), ("FALSE", false)])
    func androidTruth(spelling: String, includesSubdomains: Bool) throws {
        let text = try Self.android(
            "<domain-config><domain includeSubdomains=\"\(spelling)\">example.com</domain>\(Self.pins)</domain-config>")
        let host = try #require(try file(text, .android).hosts.first)
        #expect(host.pattern.description == (includesSubdomains ? "**.example.com" : "example.com"))
    }

    @Test(
        "TrustKit's truth values are read as its boolValue reads them",
        arguments: ["<true/>", "<string>YES</string>", "<string>true</string>", "<integer>1</integer>"])
    func trustKitTruth(value: String) throws {
        let text = try Self.domain("<key>TSKIncludeSubdomains</key>\(value)\(Self.hashes)", .trustkit)
        #expect(try file(text, .trustkit).hosts.map(\.pattern.description) == ["**.example.com"])
        let enforced = try Self.domain("<key>TSKEnforcePinning</key>\(value)\(Self.hashes)", .trustkit)
        #expect(try file(enforced, .trustkit).hosts.map(\.enforcement) == [.enforce])
    }

    @Test("A section of CDATA is text like any other")
    func characterData() throws {
        let text = try Self.android(
            """
            <domain-config><domain><![CDATA[example.com]]></domain><domain>a.<![CDATA[example]]>.org</domain>
            <pin-set><pin digest="SHA-256"><![CDATA[{1}]]></pin></pin-set></domain-config>
            """)
        #expect(try file(text, .android).hosts.map(\.pattern.description) == ["example.com", "a.example.org"])
        let list = try Self.domain(
            "<key><![CDATA[TSKIncludeSubdomains]]></key><true/>"
                + "<key>TSKPublicKeyHashes</key><array><string><![CDATA[{1}]]></string></array>", .trustkit)
        let host = try #require(try file(list, .trustkit).hosts.first)
        let hash = try Self.base64(1)
        #expect(host.pattern.description == "**.example.com" && host.pins.map(\.pin.base64) == [hash])
    }

    @Test("A date of TrustKit ends pins at its instant, not at the beginning of its day")
    func instants() throws {
        let text = try Self.domain(
            "<key>TSKExpirationDate</key><date>2030-01-31T12:00:00Z</date>\(Self.hashes)", .trustkit)
        let pins = try #require(try file(text, .trustkit).hosts.first?.pins)
        #expect(pins.map { $0.notAfter?.timeIntervalSince1970 } == [1_896_091_199, 1_896_091_199])
    }

    @Test("Subdomains of Apple's entry are those with one more label, and are exported again without loss")
    func oneMoreLabel() throws {
        let text = try Self.domain("<key>NSIncludesSubdomains</key><true/>\(Self.leaves)", .ats)
        let file = try file(text, .ats)
        #expect(file.hosts.map(\.pattern.description) == ["example.com", "*.example.com"])
        let export = PinExport(file, as: .ats)
        #expect(export.losses.isEmpty, "\(export.losses)")
        #expect(try self.file(export.text(), .ats) == file)
    }

    @Test("What is not understood in a property list is refused with its line")
    func propertyLists() throws {
        let trustKit: [(String, Int)] = [
            ("<key>TSKIncludeSubdomains</key><string>perhaps</string>\(Self.hashes)", 4),
            ("<key>TSKIncludeSubdomains</key><array/>\(Self.hashes)", 4),
            ("<key>TSKEnforcePinning</key>\n<dict/>\(Self.hashes)", 5),
            ("<key>TSKIncludeSubdomain</key><true/>\(Self.hashes)", 4),
            ("\(Self.hashes)\n<key>TSKExpirationDate</key><integer>2030</integer>", 5),
            ("\(Self.hashes)\n<key>TSKExpirationDate</key><string>next year</string>", 5),
            ("<key>TSKPublicKeyHashes</key><string>{1}</string>", 4),
            ("<key>TSKPublicKeyHashes</key><array>\n<string>{1}</string>\n<data>{2}</data></array>", 6),
            ("<key>TSKPublicKeyHashes</key><array><string>{1}</string>\n<string>sha256</string></array>", 5),
            ("\(Self.hashes)\n<key>TSKReportUris</key><string>https://r.example/</string>", 5),
            ("\(Self.hashes)\n<key>TSKReportUris</key><array><true/></array>", 5),
            // TrustKit pins a domain with hashes whatever this key says in its natural spelling.
            ("\(Self.hashes)\n<key>TSKExcludeSubdomainFromParentPolicy</key><true/>", 5),
            ("\(Self.hashes)\n<key>TSKIncludeSubdomains</key><false/><key>TSKIncludeSubdomains</key><true/>", 5),
            ("\(Self.hashes)\n<key>TSKIncludeSubdomains</key>", 5),
            ("\(Self.hashes)\n<true/>", 5), ("\(Self.hashes)\n&unknown;", 5),
        ]
        let pinless = "<key>NSPinnedCAIdentities</key>\n"
        let apple: [(String, Int)] = [
            ("\(Self.leaves)\(pinless)<string>{2}</string>", 5),
            ("\(Self.leaves)\(pinless)<dict/>", 5), ("\(Self.leaves)\(pinless)<array/>", 5),
            ("\(Self.leaves)\(pinless)<array>\(Self.identity("{2}"))\n<string>{2}</string></array>", 6),
            ("\(Self.leaves)\(pinless)<array>\(Self.identity("{2}"))\n<dict/></array>", 6),
            (
                "\(Self.leaves)\(pinless)<array>\n<dict><key>SPKI-SHA256-BASE64</key><data>{2}</data></dict></array>", 6
            ),
            (
                "\(Self.leaves)\(pinless)<array>\n<dict><key>SPKI-SHA384-BASE64</key><string>{2}</string></dict></array>",
                6
            ),
            ("\(Self.leaves)\n<key>NSPinnedCAIdentitys</key><array>\(Self.identity("{2}"))</array>", 5),
            ("<key>NSIncludesSubdomains</key><string>YES</string>\n\(Self.leaves)", 4),
            ("\(Self.leaves)\n\(Self.leaves)", 5),
        ]
        for (source, cases) in [(PinImport.Source.trustkit, trustKit), (.ats, apple)] {
            for (content, line) in cases {
                let text = try Self.domain(content, source)
                let refusal = refusal(text, source)
                #expect(refusal?.found.contains("(line \(line))") == true, "\(text) \(refusal?.found ?? "read")")
            }
        }
    }

    @Test("A part of another type than its own is refused where it stands, not looked for elsewhere")
    func places() throws {
        let domains = try Self.pinned("<dict><key>example.com</key><dict>\(Self.hashes)</dict></dict>")
        for (text, source) in [
            ("<dict><key>TSKConfiguration</key>\n<string/><key>TSKPinnedDomains</key>\(domains)</dict>", .trustkit),
            ("<dict><key>NSAppTransportSecurity</key>\n<array/><key>NSPinnedDomains</key>\(domains)</dict>", .ats),
            ("<dict><key>TSKPinnedDomains</key>\n<array/></dict>", .trustkit),
            ("<dict><key>TSKPinnedDomains</key><dict><key>example.com</key>\n<true/></dict></dict>", .trustkit),
        ] as [(String, PinImport.Source)] {
            let refusal = refusal("<plist version=\"1.0\">\(text)</plist>", source)
            #expect(refusal?.found.contains("(line 2)") == true, "\(text) \(refusal?.found ?? "read")")
        }
    }

    @Test("What is not understood in a configuration of Android is refused with its line")
    func androidConfigurations() throws {
        let domain = "<domain>example.com</domain>"
        let cases: [(String, Int)] = [
            ("<domain-config><domain includeSubdomains=\"yes\">example.com</domain>\(Self.pins)</domain-config>", 2),
            ("<domain-config><domain includesubdomains=\"true\">example.com</domain>\(Self.pins)</domain-config>", 2),
            (
                "<domain-config><domain android:includeSubdomains=\"true\" xmlns:android=\"a\">example.com</domain>"
                    + "\(Self.pins)</domain-config>", 2
            ),
            ("<domain-config>\(domain)\n<pinset/></domain-config>", 3),
            ("<domain-config>\(domain)\(Self.pins)\n<pin digest=\"SHA-256\">{2}</pin></domain-config>", 3),
            ("<domain-config>\(domain)\(Self.pins)\n\(Self.pins)</domain-config>", 3),
            ("<domain-config>\(domain)\n<pin-set expires=\"2030-01-31\"/>\(Self.pins)</domain-config>", 3),
            ("<domain-config>\(domain)<pin-set>\n<pin digest=\"SHA-256\">{1}<b/></pin></pin-set></domain-config>", 3),
            ("<domain-config>\(domain)<pin-set>\n{1}</pin-set></domain-config>", 2),
            ("<domain-config>\(domain)<pin-set>\n<pin>{1}</pin></pin-set></domain-config>", 3),
            ("<domain-config>\(Self.pins)</domain-config>", 2),
            ("<base-config>\n\(Self.pins)</base-config>", 3),
            ("<domain-config>\(domain)\(Self.pins)</domain-config>\n<pin-set/>", 3),
            ("<domain-config cleartextTrafficPermitted=\"@bool/x\">\(domain)\(Self.pins)</domain-config>", 2),
        ]
        for (content, line) in cases {
            let text = try Self.android(content)
            let refusal = refusal(text, .android)
            #expect(refusal?.found.contains("(line \(line))") == true, "\(text) \(refusal?.found ?? "read")")
        }
        // A declaration can give every domain an attribute that stands nowhere.
        let declared =
            "<!DOCTYPE x [\n<!ATTLIST domain includeSubdomains CDATA \"true\">]>"
            + (try Self.android("<domain-config>\(domain)\(Self.pins)</domain-config>"))
        #expect(refusal(declared, .android)?.found.contains("(line 2)") == true)
    }

    @Test("Exceptions cost what their number is: each looks up its own labels, not every other entry")
    func work() throws {
        func steps(_ count: Int) throws -> Int {
            let names = (0..<count).map { "<domain>a\($0).b.example.com</domain>" }.joined()
            let text = try Self.android(
                "<domain-config><domain includeSubdomains=\"true\">example.com</domain>\(Self.pins)<domain-config>\(names)"
                    + "<pin-set/></domain-config></domain-config>")
            return try PinImport(Data(text.utf8), from: .android, role: .leaf).steps
        }
        #expect(try steps(100) == 1 + 100 * 3)
        #expect(try steps(10_000) == 1 + 10_000 * 3)
        // Each of many domains gets the pins of one set, in which one hash stands many times.
        let names = (0..<1_000).map { "<domain>a\($0).example.com</domain>" }.joined()
        let pins = String(repeating: "<pin digest=\"SHA-256\">{1}</pin>", count: 1_000)
        let text = try Self.android("<domain-config>\(names)<pin-set>\(pins)</pin-set></domain-config>")
        #expect(try PinImport(Data(text.utf8), from: .android, role: .leaf).steps == 1_000)
    }

    @Test("Attributes of other tools say nothing about pins")
    func otherTools() throws {
        let text = try Self.android(
            """
            <domain-config xmlns:tools="http://schemas.android.com/tools" tools:ignore="MissingBackupPin">
            <domain>example.com</domain>\(Self.pins)</domain-config>
            """)
        #expect(try file(text, .android).hosts.count == 1)
    }
}
