import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastPublishing
@testable import holdfastctl

@Suite("Exporting a pin file", .timeLimit(.minutes(15)))
struct PinExportTests {
    static func pin(_ number: UInt8) throws -> Pin {
        try Pin(subject: .publicKey, digest: SigningSite.digest(number))
    }

    static func key(
        _ number: UInt8, _ role: PinFile.KeyPin.Role = .leaf, _ state: PinFile.KeyPin.State = .active,
        until end: Date? = nil
    ) throws -> PinFile.KeyPin {
        try PinFile.KeyPin(pin(number), role: role, state: state, notAfter: end)
    }

    /// 2030-01-30T23:59:59Z, so that the pins end with the day.
    static let endOfDay = Date(timeIntervalSince1970: 1_896_047_999)

    /// Two hosts, with nothing that only a pin file can say; for Apple's format, the second is two entries.
    static func plain(for format: ExportFormat? = nil) throws -> PinFile {
        let wide = format == .ats ? ["example.net", "*.example.net"] : ["**.example.net"]
        return try PinFile(
            hosts: [PinFile.Host(HostPattern("api.example.com"), pins: [key(1), key(2)])]
                + wide.map { try PinFile.Host(HostPattern($0), pins: [key(3), key(4)]) })
    }

    private func losses(_ file: PinFile, _ format: ExportFormat) -> [String] {
        PinExport(file, as: format).losses.map(\.field)
    }

    @Test("What every system can say is exported without loss, for all hosts in one text")
    func plainHosts() throws {
        for format in [ExportFormat.trustkit, .ats, .android, .okhttp, .swift, .json] {
            let file = try Self.plain(for: format)
            let export = PinExport(file, as: format)
            #expect(export.losses.isEmpty && export.notes.isEmpty, "\(format)")
            let text = try export.text()
            for number in 1...4 { #expect(text.contains(try Self.pin(UInt8(number)).base64), "\(format)") }
        }
    }

    @Test("Android's configuration is a whole file, and a part of one when asked")
    func android() throws {
        let file = try PinFile(
            hosts: [
                PinFile.Host(
                    HostPattern("**.example.com"), afterExpiry: .standardValidation,
                    pins: [Self.key(1, until: Self.endOfDay), Self.key(2, until: Self.endOfDay)])
            ], debugAnchors: [X509Certificate(der: TestAuthority.root().root)])
        let export = PinExport(file, as: .android)
        #expect(export.losses.isEmpty && export.notes.map(\.field) == ["debugAnchors[0]", "hosts[0].pins"])
        #expect(
            try export.text() == """
                <?xml version="1.0" encoding="utf-8"?>
                <network-security-config>
                    <domain-config>
                        <domain includeSubdomains="true">example.com</domain>
                        <pin-set expiration="2030-01-31">
                            <pin digest="SHA-256">\(Self.pin(1).base64)</pin>
                            <pin digest="SHA-256">\(Self.pin(2).base64)</pin>
                        </pin-set>
                    </domain-config>
                    <debug-overrides>
                        <trust-anchors>
                            <certificates src="@raw/holdfast_debug_0"/>
                        </trust-anchors>
                    </debug-overrides>
                </network-security-config>

                """)
        #expect(try export.text(isFragment: true).hasPrefix("<domain-config>\n"))
    }

    @Test("OkHttp, curl and DNS get their own spellings")
    func code() throws {
        let file = try PinFile(hosts: [
            PinFile.Host(HostPattern("*.example.com"), pins: [Self.key(1)]),
            PinFile.Host(HostPattern("api.example.net"), ports: [443, 8_443], pins: [Self.key(2), Self.key(3)]),
        ])
        let okhttp = PinExport(file, as: .okhttp)
        #expect(okhttp.losses.map(\.field) == ["hosts[1].ports"])
        #expect(
            try okhttp.text() == """
                import okhttp3.CertificatePinner

                val certificatePinner: CertificatePinner =
                    CertificatePinner.Builder()
                        .add("*.example.com", "\(Self.pin(1))")
                        .add("api.example.net", "\(Self.pin(2))")
                        .add("api.example.net", "\(Self.pin(3))")
                        .build()

                """)
        let curl = PinExport(file, as: .curl)
        #expect(curl.losses.map(\.field) == ["hosts[0].host"])
        let value = "sha256//\(try Self.pin(2).base64);sha256//\(try Self.pin(3).base64)"
        #expect(
            try curl.text() == """
                url = "https://api.example.net:443/"
                pinnedpubkey = "\(value)"
                next
                url = "https://api.example.net:8443/"
                pinnedpubkey = "\(value)"

                """)
        #expect(try curl.text(isFragment: true) == value + "\n")
        let hex = SigningSite.hex
        #expect(
            try PinExport(file, as: .tlsa).text() == """
                _443._tcp.api.example.net. IN TLSA 3 1 1 \(hex(2))
                _443._tcp.api.example.net. IN TLSA 3 1 1 \(hex(3))
                _8443._tcp.api.example.net. IN TLSA 3 1 1 \(hex(2))
                _8443._tcp.api.example.net. IN TLSA 3 1 1 \(hex(3))

                """)
    }

    @Test("Alamofire cannot pin a hash, and the error says what it takes")
    func alamofire() throws {
        let file = try Self.plain()
        let error = #expect(throws: PublishingError.self) { try PinExport(file, as: .alamofire).text() }
        #expect(error?.expected.contains("certificates") == true)
    }

    @Test("What a system cannot say is a loss that names the field, and is left out so that nobody else gets in")
    func named() throws {
        func file(_ host: PinFile.Host, until end: Date? = nil) throws -> PinFile {
            try PinFile(notAfter: end, hosts: [host])
        }
        let exact = try HostPattern("api.example.com")
        let both = try [Self.key(1), Self.key(2, .issuer)]
        let roles = try file(PinFile.Host(exact, pins: both))
        #expect(losses(roles, .okhttp) == ["hosts[0].pins"] && losses(roles, .trustkit) == ["hosts[0].pins"])
        #expect(losses(roles, .curl) == ["hosts[0].pins"])
        #expect(losses(roles, .tlsa) == ["hosts[0].ports", "hosts[0].pins"])
        // Apple would ask for both.
        #expect(losses(roles, .ats) == ["hosts[0].require"])
        #expect(try !PinExport(roles, as: .ats).text().contains(Self.pin(2).base64))
        let required = try file(PinFile.Host(exact, requirement: .oneOfEachRole, pins: both))
        #expect(losses(required, .ats).isEmpty)
        #expect(losses(required, .okhttp) == ["hosts[0].require"])
        #expect(try !PinExport(required, as: .okhttp).text().contains(Self.pin(2).base64))
        let anywhere = try file(PinFile.Host(exact, pins: [Self.key(1), Self.key(1, .issuer)]))
        #expect(losses(anywhere, .trustkit).isEmpty && losses(anywhere, .android).isEmpty)

        let dated = try PinFile.Host(exact, afterExpiry: .standardValidation, pins: [Self.key(1)])
        #expect(losses(try file(dated, until: Self.endOfDay), .trustkit).isEmpty)
        for format in [ExportFormat.ats, .okhttp, .curl, .tlsa] {
            #expect(losses(try file(dated, until: Self.endOfDay), format).last == "notAfter")
        }
        #expect(losses(try file(dated, until: Self.endOfDay.addingTimeInterval(1)), .android) == ["notAfter"])
        let closed = try file(PinFile.Host(exact, pins: [Self.key(1)]), until: Self.endOfDay)
        #expect(losses(closed, .android) == ["hosts[0].onExpiry"])
        #expect(try !PinExport(closed, as: .android).text().contains("expiration"))
        let several = try file(
            PinFile.Host(
                exact, afterExpiry: .standardValidation, pins: [Self.key(1, until: Self.endOfDay), Self.key(2)]))
        #expect(losses(several, .trustkit) == ["hosts[0].pins"])

        let reported = try file(PinFile.Host(exact, enforcement: .reportOnly, pins: [Self.key(1)]))
        #expect(losses(reported, .trustkit).isEmpty && losses(reported, .android) == ["hosts[0].mode"])
        #expect(try !PinExport(reported, as: .android).text().contains("domain-config"))
        let retired = try file(.retired(exact))
        #expect(losses(retired, .okhttp) == ["hosts[0].retired"])
        let label = try file(PinFile.Host(HostPattern("*.example.com"), pins: [Self.key(1)]))
        #expect(losses(label, .ats) == ["hosts[0].host"] && losses(label, .okhttp).isEmpty)
        let report = try PinFile.Report(url: "https://r.example.net/?a=1&b=2")
        let told = try file(PinFile.Host(exact, pins: [Self.key(1)], report: report))
        #expect(losses(told, .trustkit).isEmpty && losses(told, .ats) == ["hosts[0].report"])
    }

    @Test("Candidates are never written, and states are named as not said")
    func candidates() throws {
        for format in [ExportFormat.trustkit, .ats, .android, .okhttp, .curl, .tlsa] {
            let file = try PinFile(hosts: [
                PinFile.Host(
                    HostPattern("api.example.com"), ports: format.saysAnyPort ? [] : [443],
                    pins: [Self.key(1), Self.key(2, .leaf, .backup), Self.key(3, .leaf, .candidate)])
            ])
            let export = PinExport(file, as: format)
            #expect(export.losses.isEmpty)
            #expect(export.notes.map(\.field).suffix(2) == ["hosts[0].pins[1].state", "hosts[0].pins[2].state"])
            let text = try export.text()
            if format != .tlsa { #expect(try text.contains(Self.pin(2).base64) && !text.contains(Self.pin(3).base64)) }
        }
    }

    @Test(
        "Patterns that overlap are a loss for OkHttp, which adds them up, and one name twice for those with one entry")
    func overlaps() throws {
        let file = try PinFile(hosts: [
            PinFile.Host(HostPattern("example.com"), pins: [Self.key(1)]),
            PinFile.Host(HostPattern("**.example.com"), pins: [Self.key(2)]),
        ])
        #expect(losses(file, .okhttp) == ["example.com", "**.example.com"])
        for format in [ExportFormat.trustkit, .ats, .android] { #expect(losses(file, format) == ["hosts[1].host"]) }
    }

    // MARK: Real readers

    private static let judge = """
        import plistlib, sys
        import xml.etree.ElementTree as xml
        for kind, path in zip(sys.argv[1::2], sys.argv[2::2]):
            data = open(path, "rb").read()
            if kind == "android":
                root = xml.fromstring(data)
                assert root.tag == "network-security-config"
                for config in root:
                    domain, pins = config
                    print(kind, domain.text, domain.get("includeSubdomains"), *[pin.text for pin in pins])
            elif kind == "trustkit":
                for name, domain in plistlib.loads(data)["TSKConfiguration"]["TSKPinnedDomains"].items():
                    print(kind, name, domain.get("TSKIncludeSubdomains", False), *domain["TSKPublicKeyHashes"])
            else:
                for name, domain in plistlib.loads(data)["NSAppTransportSecurity"]["NSPinnedDomains"].items():
                    pins = [one["SPKI-SHA256-BASE64"] for one in domain["NSPinnedLeafIdentities"]]
                    print(kind, name, domain.get("NSIncludesSubdomains", False), *pins)
        """

    @Test(
        "plistlib and an XML parser read whole files as what they say",
        .needs(.python))
    func parsers() async throws {
        try await withTemporaryFolder { folder in
            var arguments: [String] = []
            var expected: [String] = []
            let pins = try (1...4).map { try Self.pin(UInt8($0)).base64 }
            for format in [ExportFormat.trustkit, .ats, .android] {
                let path = folder.appending(path: format.rawValue)
                try Data(PinExport(Self.plain(for: format), as: format).text().utf8).write(to: path)
                arguments += [format.rawValue, path.path]
                let words = format == .android ? ["false", "true"] : ["False", "True"]
                expected.append("\(format) api.example.com \(words[0]) \(pins[0]) \(pins[1])")
                expected.append("\(format) example.net \(words[1]) \(pins[2]) \(pins[3])")
            }
            let python = try #require(ForeignPeers.python)
            let run = try await CommandRun.run(python, ["-c", Self.judge] + arguments)
            #expect(run.lines.map(String.init) == expected, "\(run.errors)")
        }
    }

    @Test(
        "Swift code is read by the compiler and holds the whole file",
        .needs(.swiftCompiler))
    func swiftCompiler() async throws {
        try await withTemporaryFolder { folder in
            // Text that looks like an end, or an insertion, of the literal that it stands in.
            let file = try PinFile(app: ##"a "b" \(c) \#(d) """e"##, hosts: Self.plain().hosts)
            let text = try PinExport(file, as: .swift).text()
            let path = folder.appending(path: "Pins.swift")
            try Data(text.utf8).write(to: path)
            let compiler = try #require(ForeignPeers.swiftCompiler)
            let run = try await CommandRun.run(compiler, ["-parse", path.path])
            #expect(run.status == 0, "\(run.errors)")
            let json = text.components(separatedBy: "#\"\"\"\n")[1].components(separatedBy: "\"\"\"#")[0]
            #expect(try PinFile(json: Data(json.utf8)) == file)
        }
    }
}
