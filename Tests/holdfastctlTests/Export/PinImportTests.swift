import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastPublishing
@testable import holdfastctl

@Suite("Importing into a pin file")
struct PinImportTests {
    private func imported(
        _ text: String, _ source: PinImport.Source, role: PinImport.Role = .leaf
    ) throws -> (file: PinFile, reading: PinImport) {
        let result = try PinImport(Data(text.utf8), from: source, role: role)
        return (try result.file(), result)
    }

    private static func base64(_ number: UInt8) throws -> String { try PinExportTests.pin(number).base64 }

    private static func list(_ key: String, _ domains: String) -> String {
        "<plist version=\"1.0\"><dict><key>\(key)</key><dict>\(domains)</dict></dict></plist>"
    }

    @Test("What was exported is imported as it was", arguments: [ExportFormat.trustkit, .ats, .android])
    func roundTrip(format: ExportFormat) throws {
        let source = try #require(PinImport.Source(rawValue: format.rawValue))
        let end = PinExportTests.endOfDay
        var hosts = try PinExportTests.plain(for: format).hosts
        if format == .ats {
            hosts.append(
                try PinFile.Host(
                    HostPattern("both.example.org"), requirement: .oneOfEachRole,
                    pins: [PinExportTests.key(1), PinExportTests.key(5, .issuer)]))
        } else {
            hosts.append(
                try PinFile.Host(
                    HostPattern("ends.example.org"), afterExpiry: .standardValidation,
                    pins: [PinExportTests.key(1, until: end), PinExportTests.key(2, until: end)]))
        }
        if format == .trustkit {
            hosts.append(
                try PinFile.Host(
                    HostPattern("tell.example.org"), enforcement: .reportOnly, pins: [PinExportTests.key(1)],
                    report: PinFile.Report(url: "https://r.example.net/?a=1&b=2")))
        }
        let file = try PinFile(hosts: hosts)
        let export = PinExport(file, as: format)
        #expect(export.losses.isEmpty)
        let (again, result) = try imported(export.text(), source)
        #expect(Set(again.hosts) == Set(file.hosts) && again.hosts.count == file.hosts.count)
        #expect(result.losses.isEmpty)
        #expect(throws: PublishingError.self) { try imported(export.text(isFragment: true), source) }
    }

    @Test("Without a role, pins count anywhere in a path as they did, and are exported again without loss")
    func bothRoles() throws {
        for format in [ExportFormat.trustkit, .android] {
            let text = try PinExport(PinExportTests.plain(), as: format).text()
            let source = try #require(PinImport.Source(rawValue: format.rawValue))
            let (file, result) = try imported(text, source, role: .both)
            #expect(file.hosts[0].pins.map(\.role) == [.leaf, .leaf, .issuer, .issuer])
            #expect(result.notes.map(\.field) == ["state", "role"])
            let export = PinExport(file, as: format)
            #expect(export.losses.isEmpty)
            #expect(try imported(export.text(), source, role: .both).file == file)
        }
    }

    @Test("The pins that are named as backups become backups, in every role and host, and a stranger is refused")
    func backups() throws {
        for format in [ExportFormat.trustkit, .android, .ats] {
            let text = try PinExport(PinExportTests.plain(), as: format).text()
            let source = try #require(PinImport.Source(rawValue: format.rawValue))
            let (backup, stranger) = try (PinExportTests.key(2).pin, PinExportTests.key(99).pin)
            let result = try PinImport(Data(text.utf8), from: source, role: .leaf, backups: [backup])
            let states = try result.file().hosts.flatMap(\.pins).map { ($0.pin == backup, $0.state) }
            #expect(states.contains { $0.0 } && states.allSatisfy { $0.0 == ($0.1 == .backup) }, "\(format)")
            #expect(!result.notes.contains { $0.field == "state" })
            let refusal = #expect(throws: PublishingError.self) {
                _ = try PinImport(Data(text.utf8), from: source, role: .leaf, backups: [backup, stranger])
            }
            #expect(refusal?.code == .invalidInput && refusal?.subject == stranger.description)
        }
    }

    @Test(
        "A name that TrustKit excepts is left to standard validation, in either spelling of the key",
        arguments: ["kSKExcludeSubdomainFromParentPolicy", "TSKExcludeSubdomainFromParentPolicy"])
    func exclusion(key: String) throws {
        let hashes = "<key>TSKPublicKeyHashes</key><array><string>\(try Self.base64(1))</string></array>"
        let off = "<key>TSKDisableDefaultReportUri</key><true/>"
        let text = Self.list(
            "TSKPinnedDomains",
            "<key>example.com</key><dict><key>TSKIncludeSubdomains</key><true/>\(hashes)\(off)</dict>"
                + "<key>open.example.com</key><dict><key>\(key)</key><true/></dict>")
        let (file, result) = try imported(text, .trustkit)
        #expect(file.hosts.map(\.pattern.description) == ["**.example.com", "open.example.com"])
        #expect(file.hosts.map(\.enforcement) == [.enforce, .reportOnly])
        #expect(result.losses.isEmpty && result.notes.first?.field == "TSKPinnedDomains.open.example.com")
    }

    @Test("What TrustKit says and a pin file cannot is named")
    func trustKitLosses() throws {
        let hashes = "<key>TSKPublicKeyHashes</key><array><string>\(try Self.base64(1))</string></array>"
        let urls =
            "<key>TSKReportUris</key><array><string>https://a.example/</string><string>https://b.example/</string></array>"
        let text = Self.list("TSKPinnedDomains", "<key>example.com</key><dict>\(hashes)\(urls)</dict>")
        let (_, result) = try imported(text, .trustkit)
        #expect(
            result.losses.map(\.field) == [
                "TSKPinnedDomains.example.com.TSKReportUris", "TSKPinnedDomains.example.com.TSKDisableDefaultReportUri",
            ])
    }

    @Test("Domains of Android that stand in each other inherit the pins above, unless they have their own")
    func nested() throws {
        let (one, two) = (try Self.base64(1), try Self.base64(2))
        let text = """
            <?xml version="1.0" encoding="utf-8"?>
            <network-security-config>
              <base-config cleartextTrafficPermitted="true"/>
              <domain-config>
                <domain includeSubdomains="true">example.com</domain>
                <domain>other.example.org</domain>
                <pin-set expiration="2030-01-31"><pin digest="SHA-256"> \(one) </pin></pin-set>
                <domain-config><domain>inherits.example.com</domain></domain-config>
                <domain-config>
                  <domain>own.example.com</domain><pin-set><pin digest="SHA-256">\(two)</pin></pin-set>
                </domain-config>
                <domain-config><domain>open.example.com</domain><pin-set/></domain-config>
              </domain-config>
              <debug-overrides><trust-anchors><certificates src="@raw/x"/></trust-anchors></debug-overrides>
            </network-security-config>
            """
        let (file, result) = try imported(text, .android)
        let found = file.hosts.map { host in
            "\(host.pattern) \(host.enforcement.rawValue) \(host.afterExpiry.rawValue) \(host.pins.map { $0.pin.base64.prefix(4) }.joined())"
        }
        let (first, second) = (one.prefix(4), two.prefix(4))
        #expect(
            Set(found) == [
                "**.example.com enforce systemTrust \(first)", "other.example.org enforce systemTrust \(first)",
                "inherits.example.com enforce systemTrust \(first)", "own.example.com enforce failClosed \(second)",
                "open.example.com report systemTrust \(first)",
            ])
        let end = Date(timeIntervalSince1970: 1_896_047_999)
        #expect(file.hosts.first { $0.pattern.description == "other.example.org" }?.pins.first?.notAfter == end)
        #expect(result.losses.count == 2)
        #expect(result.notes.map(\.field).contains("expiration"))
    }

    @Test("A binary property list is refused before Foundation copies what its objects share")
    func binary() throws {
        // Forty dictionaries in arrays of two, each the next one twice.
        var list = Array("bplist00".utf8), offsets: [UInt8] = []
        for next in 1...40 {
            offsets += [UInt8(list.count >> 8), UInt8(list.count & 0xFF)]
            list += [0xA2, UInt8(next), UInt8(next)]
        }
        offsets += [UInt8(list.count >> 8), UInt8(list.count & 0xFF)]
        list.append(0x09)
        let table = UInt8(list.count)
        list += offsets + [0, 0, 0, 0, 0, 0, 2, 1]
        for number in [41, 0, table] as [UInt8] { list += [0, 0, 0, 0, 0, 0, 0, number] }
        for source in [PinImport.Source.trustkit, .ats] {
            #expect {
                _ = try PinImport(Data(list), from: source, role: .both)
            } throws: {
                "\($0)".contains("plutil -convert xml1")
            }
        }
    }

    @Test("What is no configuration, or not one that can be meant, is an error that says where")
    func refused() throws {
        let bad: [(PinImport.Source, String)] = [
            (.trustkit, "no list"), (.trustkit, Self.list("TSKPinnedDomains", "")),
            (.ats, Self.list("NSPinnedDomains", "<key>example.com</key><dict/>")),
            (.ats, Self.list("TSKPinnedDomains", "")), (.android, "<resources/>"),
            (.android, "<network-security-config>"),
            (.android, String(repeating: "<domain-config>", count: 100)),
            (
                .android,
                "<network-security-config><domain-config><domain>a.example</domain><pin-set expiration=\"2030-02-31\">"
                    + "<pin digest=\"SHA-256\">\(try Self.base64(1))</pin></pin-set></domain-config></network-security-config>"
            ),
            (
                .android,
                "<network-security-config><domain-config><domain>a.example</domain><pin-set><pin digest=\"SHA-1\">x</pin>"
                    + "</pin-set></domain-config></network-security-config>"
            ),
        ]
        for (source, text) in bad {
            let error = #expect(throws: PublishingError.self, "\(text)") { try imported(text, source) }
            #expect(error?.code == .invalidDocument)
        }
    }
}
