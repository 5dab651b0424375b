import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("holdfastctl pin HOST", .timeLimit(.minutes(15)))
struct PinHostTests {
    struct Report: Decodable {
        struct Entry: Decodable {
            let place: String
            let kind: String
            let subject: String?
            let key: String
            let keyPin: String
            let certificatePin: String?
            let inValidPath: Bool?
            let isIssuer: Bool
            let remark: String?
        }
        let host: String?
        let validated: Bool?
        let pins: [Entry]
    }

    @Test("Every certificate from the leaf to the anchor is printed with both pins, which read back")
    func everyCertificate() async throws {
        let site = try TestSite()
        let (run, server) = try await site.run("pin")
        #expect(run.status == 0)
        #expect(run.errors.contains("warning: api.example.com has no backup pin"))
        #expect(server.plaintextBytesReceived == 0)
        let pins = try run.lines.filter { !$0.hasPrefix("#") }.map { try Pin(String($0)) }
        #expect(pins == (try site.path.flatMap { [try Pin.publicKey(of: $0), Pin.certificate($0)] }))
        let titles = run.lines.filter { $0.hasPrefix("#") }
        #expect(titles.map { $0.prefix { $0 != "," } } == ["# leaf", "# issuer 1", "# anchor"])
        #expect(titles[2].contains("not sent, CN=Test Root"))
    }

    @Test("JSON says where each pin stands")
    func json() async throws {
        let site = try TestSite()
        let stranger = try TestSite()
        let (run, _) = try await site.run(
            "pin", ["--json"], serving: site.leaf.chain + [stranger.leaf.der])
        let report = try run.json(Report.self)
        #expect(report.host == TestSite.name)
        #expect(report.validated == true)
        #expect(report.pins.map(\.place) == ["leaf", "issuer 1", "issuer 2", "anchor, not sent"])
        #expect(report.pins.map(\.inValidPath) == [true, true, false, true])
        #expect(report.pins[2].remark == "NOT in a valid path")
    }

    @Test(
        "A server with an ECDSA and an RSA certificate has the keys of both pinned, and clients with either get in",
        .needs(.openSSL))
    func bothKinds() async throws {
        try await TrustServerSite.with { site in
            let names: [TestGeneralName] = [.address([127, 0, 0, 1])]
            let rsa = try site.root.leaf(names: names, key: .sharedRSA(bits: 2048, index: 0))
            let ecdsa = try site.root.leaf(names: names)
            try site.write("rsa.pem", TestCertificate.pem(rsa.der))
            try site.write("rsa.key", rsa.key.privateKeyPEM)
            let server = try await OpenSSLServer.start(
                serving: ecdsa,
                arguments: ["-dcert", site.file("rsa.pem").path, "-dkey", site.file("rsa.key").path])
            func run(_ arguments: [String]) async throws -> CommandRun {
                try await CommandRun.inProcess(
                    arguments + ["127.0.0.1:\(server.port)", "--ca", "root.pem", "--timeout", "60s"], in: site.folder)
            }
            let pins = try [ecdsa, rsa].map { try Pin.publicKey(of: $0.der).description }
            let plain = try await run(["pin"])
            #expect(plain.status == 0 && plain.lines.filter { $0.hasPrefix("# leaf") }.count == 2, "\(plain.errors)")
            #expect(plain.lines.filter { $0.hasPrefix("# anchor") }.count == 1)
            #expect(pins.allSatisfy(plain.output.contains))
            let okhttp = try await run(["pin", "--format", "okhttp"])
            #expect(pins.allSatisfy(okhttp.output.contains) && okhttp.errors.contains("no backup pin"))
            let file = try await run(["pin", "--format", "json"])
            try site.write("both.json", file.output)
            let both = try await run(["check", "--pins", "both.json", "--brief"])
            #expect(both.status == 0 && both.lines.count == 2, "\(both.output)\(both.errors)")
            try site.write(
                "one.json", file.output.replacing(pins[1], with: try Pin.publicKey(of: site.leaf.der).description))
            let one = try await run(["check", "--pins", "one.json", "--brief"])
            #expect(one.status == 1 && one.lines.filter { $0.contains("not trusted") }.count == 1, "\(one.output)")
            await server.stop()
        }
    }

    @Test("The pins of a chain that is not valid are not printed unless that is asked for")
    func notValid() async throws {
        let site = try TestSite()
        let (run, _) = try await site.run("pin", trustingRoot: false)
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("unknownIssuer"))
        #expect(run.errors.contains("--insecure"))
        #expect(!run.errors.contains("sha256/"))

        let (forced, _) = try await site.run("pin", ["--insecure"], trustingRoot: false)
        #expect(forced.status == 0)
        #expect(forced.lines.first?.contains("NOT VALIDATED (unknownIssuer)") == true)
        #expect(forced.output.contains(try site.keyPins()[0]))
        #expect(forced.errors.contains("is not valid: unknownIssuer"))
        for format in ["swift", "okhttp", "android", "trustkit", "ats", "curl", "tlsa", "alamofire"] {
            let (run, _) = try await site.run("pin", ["--insecure", "--format", format], trustingRoot: false)
            #expect(run.status == 0)
            #expect(run.output.contains("NOT VALIDATED"))
        }
    }

    @Test("Configurations have the server's own key, and more only when asked for")
    func selection() async throws {
        let site = try TestSite()
        let pins = try site.keyPins()
        let (leaf, _) = try await site.run("pin", ["--format", "okhttp"])
        #expect(leaf.status == 0 && leaf.errors.contains("api.example.com has no backup pin"))
        #expect(!leaf.errors.contains("TrustKit"))
        let (trustKit, _) = try await site.run("pin", ["--format", "trustkit"])
        #expect(trustKit.status == 0 && trustKit.errors.contains("TrustKit stops an app that has one pin"))
        #expect(leaf.output.contains("    .add(\"api.example.com\", \"\(pins[0])\")  // leaf, CN=api.example.com"))
        #expect(!leaf.output.contains(pins[1]))
        let (issuers, _) = try await site.run("pin", ["--format", "okhttp", "--certificates", "issuers", "--lossy"])
        #expect(issuers.errors.contains("lost: hosts[0].pins: OkHttp has no roles"))
        #expect(!issuers.output.contains(pins[0]))
        #expect(issuers.output.contains(pins[1]) && issuers.output.contains(pins[2]))
        let (refused, _) = try await site.run("pin", ["--format", "okhttp", "--certificates", "issuers"])
        #expect(refused.status == 1 && refused.output.isEmpty && refused.errors.contains("--lossy"))
        let (curl, _) = try await site.run(
            "pin", ["--format", "curl", "--certificates", "all", "--lossy", "--fragment"])
        #expect(curl.output == pins[0].replacing("sha256/", with: "sha256//", maxReplacements: 1) + "\n")
    }

    private struct TrustKitList: Decodable {
        struct Configuration: Decodable {
            let TSKPinnedDomains: [String: Domain]
        }
        struct Domain: Decodable {
            let TSKPublicKeyHashes: [String]
            let TSKIncludeSubdomains: Bool?
        }
        let TSKConfiguration: Configuration
    }

    private struct TransportSecurityList: Decodable {
        struct Settings: Decodable {
            let NSPinnedDomains: [String: Domain]
        }
        struct Domain: Decodable {
            let NSIncludesSubdomains: Bool?
            let NSPinnedLeafIdentities: [[String: String]]?
            let NSPinnedCAIdentities: [[String: String]]?
        }
        let NSAppTransportSecurity: Settings
    }

    @Test("Property lists can be read and hold the pins, whatever the certificate says")
    func propertyLists() async throws {
        let site = try TestSite { $0.subject = .commonName("--> <evil/> <!-- -\n-->") }
        let pins = try site.keyPins().map { String($0.dropFirst("sha256/".count)) }

        func list<List: Decodable>(_ type: List.Type, _ arguments: [String]) async throws -> List {
            let arguments = arguments + ["--certificates", "all", "--lossy"]
            let (run, _) = try await site.run("pin", arguments)
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.errors.contains("no backup pin"))
            let (part, _) = try await site.run("pin", arguments + ["--fragment"])
            let text = "<plist version=\"1.0\"><dict>\(part.output)</dict></plist>"
            _ = try PropertyListDecoder().decode(type, from: Data(text.utf8))
            return try PropertyListDecoder().decode(type, from: Data(run.output.utf8))
        }

        let trustKit = try await list(TrustKitList.self, ["--format", "trustkit", "--host", "**.example.com"])
        let domain = try #require(trustKit.TSKConfiguration.TSKPinnedDomains["example.com"])
        #expect(domain.TSKPublicKeyHashes == pins)
        #expect(domain.TSKIncludeSubdomains == true)

        let ats = try await list(TransportSecurityList.self, ["--format", "ats"])
        let settings = try #require(ats.NSAppTransportSecurity.NSPinnedDomains[TestSite.name])
        #expect(settings.NSIncludesSubdomains == nil)
        #expect(settings.NSPinnedLeafIdentities?.map { $0["SPKI-SHA256-BASE64"] } == [pins[0]])
        #expect(settings.NSPinnedCAIdentities?.map { $0["SPKI-SHA256-BASE64"] } == [pins[1], pins[2]])
    }

    @Test("Generated code has each certificate's text in one line of comment")
    func comments() async throws {
        let site = try TestSite { $0.subject = .commonName("a\n.add(\"evil\")\u{2028}b") }
        for format in ["alamofire", "okhttp"] {
            let (run, _) = try await site.run("pin", ["--format", format])
            #expect(run.status == 0)
            #expect(!run.actsOnTerminal)
            let code = run.lines.map { $0.split(separator: "//  ").first ?? "" }
            #expect(!code.contains { $0.hasPrefix(".add(\"evil") })
            #expect(run.lines.filter { $0.contains("evil") }.count == 1)
        }
    }

    @Test("Android's configuration names the domain and the pin")
    func android() async throws {
        let site = try TestSite()
        let (run, _) = try await site.run("pin", ["--format", "android", "--host", "**.example.com"])
        let pin = try site.keyPins()[0].dropFirst("sha256/".count)
        #expect(run.output.contains("<domain includeSubdomains=\"true\">example.com</domain>"))
        #expect(run.output.contains("<pin digest=\"SHA-256\">\(pin)</pin>"))
    }

    @Test("DNS records and the pin file have the server's own key, and the pin file a backup's state")
    func records() async throws {
        let site = try TestSite()
        let (tlsa, _) = try await site.run("pin", ["--format", "tlsa"])
        let digest = try Pin(site.keyPins()[0]).digest.map { String(format: "%02x", $0) }.joined()
        #expect(tlsa.output.hasPrefix("_443._tcp.\(TestSite.name). IN TLSA 3 1 1 \(digest) ;"))
        #expect(tlsa.lines.count == 1 && tlsa.errors.contains("no backup pin"))
        try await withTemporaryFolder { folder in
            let backup = try TestKey()
            try Data(site.leaf.chainPEM.utf8).write(to: folder.appending(path: "chain.pem"))
            try Data(backup.publicKeyPEM.utf8).write(to: folder.appending(path: "backup.pem"))
            let arguments = ["pin", "chain.pem", "backup.pem", "--host", "**.example.com", "--format"]
            let run = try await CommandRun.inProcess(arguments + ["json"], in: folder)
            #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
            let host = try #require(try PinFile(json: Data(run.output.utf8)).hosts.first)
            #expect(host.pattern.description == "**.example.com" && host.hasBackup)
            #expect(
                try host.pins.map(\.pin.description) == [
                    site.keyPins()[0], Pin.publicKey(spkiDER: backup.subjectPublicKeyInfoDER).description,
                ])
            // The intermediate of a chain in a file is not pinned unless that is asked for.
            let okhttp = try await CommandRun.inProcess(arguments + ["okhttp"], in: folder)
            #expect(try okhttp.status == 0 && !okhttp.output.contains(site.keyPins()[1]))
        }
    }

    @Test(
        "Alamofire gets keys in code that the compiler reads; a key that Security.framework has no kind for is an error",
        .needs(.swiftCompiler))
    func alamofire() async throws {
        try await withTemporaryFolder { folder in
            for (name, key) in [
                ("ec", TestKey.Choice.p384), ("rsa", .sharedRSA(bits: 2048, index: 0)), ("ed", .ed25519),
            ] {
                let key = try TestKey(key)
                try Data(key.publicKeyPEM.utf8).write(to: folder.appending(path: "\(name).pem"))
            }
            let arguments = ["--host", "api.example.com", "--format", "alamofire"]
            let run = try await CommandRun.inProcess(["pin", "ec.pem", "rsa.pem"] + arguments, in: folder)
            #expect(run.status == 0 && run.output.contains("\"api.example.com\": PublicKeysTrustEvaluator"))
            try Data(run.output.utf8).write(to: folder.appending(path: "Trust.swift"))
            let compiler = try #require(ForeignPeers.swiftCompiler)
            let parsed = try await CommandRun.run(compiler, ["-parse", "Trust.swift"], in: folder)
            #expect(parsed.status == 0, "\(parsed.errors)")
            let refused = try await CommandRun.inProcess(["pin", "ed.pem"] + arguments, in: folder)
            #expect(refused.status == 1 && refused.output.isEmpty)
        }
    }

    @Test("Several hosts are in one output, each with its own keys and the backups, and records name the port")
    func severalHosts() async throws {
        try await withTemporaryFolder { folder in
            let site = try TestSite { $0.subjectAltName = [.dns("api.example.com"), .dns("www.example.com")] }
            let backup = try TestKey()
            let backupPin = try Pin.publicKey(spkiDER: backup.subjectPublicKeyInfoDER)
            try Data(site.root.certificate.pem.utf8).write(to: folder.appending(path: "root.pem"))
            try Data(backup.publicKeyPEM.utf8).write(to: folder.appending(path: "backup.pem"))
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                func run(_ format: String) async throws -> String {
                    let run = try await CommandRun.inProcess(
                        [
                            "pin", "api.example.com", "www.example.com:8443", "backup.pem", "--ca", "root.pem",
                            "--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s", "--format", format,
                        ], in: folder)
                    #expect(run.status == 0 && run.errors.isEmpty, "\(format): \(run.errors)")
                    return run.output
                }
                let file = try await PinFile(json: Data(run("json").utf8))
                #expect(file.hosts.map(\.pattern.description) == ["api.example.com", "www.example.com"])
                let own = try Pin(site.keyPins()[0])
                for host in file.hosts {
                    #expect(host.pins.map(\.pin) == [own, backupPin] && host.hasBackup)
                }
                // A port that was named is kept.
                #expect(file.hosts.map(\.ports) == [[], [8_443]])
                for format in ["okhttp", "trustkit", "ats", "android", "alamofire", "swift", "curl"] {
                    let text = try await run(format)
                    #expect(text.contains("api.example.com") && text.contains("www.example.com"), "\(format)")
                }
                let records = try await run("tlsa").split(separator: "\n").map { $0.prefix { $0 != " " } }
                #expect(
                    records == [
                        "_443._tcp.api.example.com.", "_443._tcp.api.example.com.", "_8443._tcp.www.example.com.",
                        "_8443._tcp.www.example.com.",
                    ])
            }
        }
    }

    @Test("The next certificate in a file beside a host is its backup, since the server does not show its key")
    func nextCertificate() async throws {
        try await withTemporaryFolder { folder in
            let site = try TestSite()
            let next = try site.issuing.leaf(names: [.dns(TestSite.name)])
            try Data(next.chainPEM.utf8).write(to: folder.appending(path: "next.pem"))
            try Data(site.leaf.chainPEM.utf8).write(to: folder.appending(path: "same.pem"))
            let file = folder.appending(path: "next.pem").path
            let (run, _) = try await site.run("pin", [file, "--format", "json"])
            #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
            let host = try #require(try PinFile(json: Data(run.output.utf8)).hosts.first)
            #expect(host.pins.map(\.state) == [.active, .backup] && host.hasBackup)
            let (same, _) = try await site.run("pin", [folder.appending(path: "same.pem").path, "--format", "json"])
            #expect(same.errors.contains("has no backup pin"))
        }
    }

    @Test("The plain listing and JSON warn of a missing backup as the formats do, and of nothing where there is one")
    func missingBackup() async throws {
        try await withTemporaryFolder { folder in
            let site = try TestSite()
            let next = try site.issuing.leaf(names: [.dns(TestSite.name)])
            for (name, text) in [
                ("next.pem", next.pem), ("same.key", site.leaf.key.publicKeyPEM),
                ("backup.key", try TestKey().publicKeyPEM),
            ] { try Data(text.utf8).write(to: folder.appending(path: name)) }
            func file(_ name: String) -> String { folder.appending(path: name).path }
            for (arguments, warns) in [
                (["--json"], true), ([file("same.key")], true), ([file("next.pem")], false),
                ([file("backup.key")], false),
                ([file("backup.key"), "--json"], false),
            ] {
                let (run, _) = try await site.run("pin", arguments)
                #expect(
                    run.status == 0 && run.errors.contains("has no backup pin") == warns, "\(arguments) \(run.errors)")
            }
            for (files, warns) in [
                (["next.pem"], true), (["next.pem", "backup.key"], false), (["backup.key"], false),
            ] {
                let run = try await CommandRun.inProcess(["pin"] + files, in: folder)
                #expect(run.status == 0 && run.errors.contains("next.pem has no backup pin") == warns, "\(run.errors)")
            }
        }
    }

    @Test("The roots of an authority are pinned as issuers, from the anchors of a file, and nothing else of them")
    func authority() async throws {
        try await withTemporaryFolder { folder in
            let roots = try ["Example Trust Root R1", "Example Trust Root R2", "Another Root"].map {
                try TestAuthority.root(name: .commonName($0))
            }
            let ca = roots.map(\.certificate.pem).joined()
            try Data(ca.utf8).write(to: folder.appending(path: "roots.pem"))
            let pins = try roots.map { try Pin.publicKey(of: $0.certificate.der) }
            func run(_ arguments: [String]) async throws -> CommandRun {
                try await CommandRun.inProcess(["pin", "--ca", "roots.pem"] + arguments, in: folder)
            }
            let plain = try await run(["--authority", "example TRUST"])
            #expect(plain.status == 0 && plain.errors.contains("no backup pin"), "\(plain.errors)")
            #expect(plain.lines.filter { $0.hasPrefix("sha256/") } == pins.prefix(2).map { "\($0)"[...] })
            let format = ["--authority", "Example Trust", "--host", "lb.example.com", "--format"]
            let file = try await PinFile(json: Data(run(format + ["json"]).output.utf8))
            #expect(file.hosts.first?.pins.map(\.pin) == Array(pins.prefix(2)))
            #expect(file.hosts.first?.pins.allSatisfy { $0.role == .issuer } == true)
            let ats = try await run(format + ["ats"])
            #expect(ats.status == 0 && ats.output.contains("NSPinnedCAIdentities"))
            #expect(!ats.output.contains("NSPinnedLeafIdentities") && ats.errors.contains("no backup pin"))
            // A connection never ends with a root's key.
            let curl = try await run(format + ["curl", "--lossy"])
            #expect(curl.status == 1 && curl.output.isEmpty)
            let none = try await run(["--authority", "Nobody"])
            #expect(none.status == 1 && none.errors.contains("no trusted authority has Nobody in its name"))
            let noHost = try await run(["--authority", "Example Trust", "--format", "ats"])
            #expect(noHost.status == 2 && noHost.errors.contains("--host"))
            // These pins let in certificates that the authority issues, and none that another issues.
            try file.json.write(to: folder.appending(path: "lb.pins.json"))
            let manager = try PolicyLog.$shared.withValue(RecordingLog().policyLog) {
                try TrustManager(pinFile: folder.appending(path: "lb.pins.json"))
            }
            for (root, isTrusted) in zip(roots, [true, true, false]) {
                let leaf = try root.leaf(names: [.dns("lb.example.com")])
                let host = try DialedHost("lb.example.com")
                let trust = ServerTrust(
                    chain: PresentedChain(leaf.chain), purpose: .server(identity: host),
                    validator: PathValidator(anchors: try TrustAnchors(der: roots.map(\.root))))
                let policy = try #require(manager.policy(for: host))
                #expect(policy.evaluate(trust, at: SystemWallClock().now).isTrusted == isTrusted)
            }
        }
    }

    @Test("A host that cannot be reached exits with 3")
    func unreachable() async throws {
        try await withTemporaryFolder { folder in
            let ca = folder.appending(path: "root.pem")
            try Data(try TestAuthority.root().certificate.pem.utf8).write(to: ca)
            let run = try await CommandRun.inProcess(["pin", "127.0.0.1:1", "--ca", ca.path])
            #expect(run.status == 3)
            #expect(run.output.isEmpty)
        }
    }

    @Test(
        "curl accepts a server by the pin that is printed and no other",
        .needs(.curl))
    func curl() async throws {
        let curl = try #require(ForeignPeers.curl, "curl is required and not there")
        let site = try TestSite()
        try await withTemporaryFolder { folder in
            let ca = folder.appending(path: "root.pem")
            try Data(site.root.certificate.pem.utf8).write(to: ca)
            try await withLoopbackTLSServerOfHTTP(site) { port in
                func value(of site: TestSite) async throws -> String {
                    let file = folder.appending(path: "leaf.pem")
                    try Data(site.leaf.chainPEM.utf8).write(to: file)
                    let run = try await CommandRun.inProcess([
                        "pin", file.path, "--format", "curl", "--fragment", "--host", TestSite.name,
                    ])
                    return run.output.trimmingCharacters(in: .newlines)
                }
                func fetch(pinning value: String) async throws -> CommandRun {
                    try await CommandRun.run(
                        curl,
                        [
                            "-q", "--silent", "--show-error", "--noproxy", "*", "--cacert", ca.path, "--pinnedpubkey",
                            value, "--connect-to", "\(TestSite.name):443:127.0.0.1:\(port)",
                            "https://\(TestSite.name)/",
                        ])
                }
                let ofHost = try await CommandRun.inProcess([
                    "pin", TestSite.name, "--ca", ca.path, "--connect-to", "127.0.0.1:\(port)", "--format", "curl",
                    "--fragment",
                ])
                let own = ofHost.output.trimmingCharacters(in: .newlines)
                #expect(own == (try await value(of: site)))
                let accepted = try await fetch(pinning: own)
                #expect(accepted.status == 0)
                #expect(accepted.output.contains("Hello"))
                let refused = try await fetch(pinning: try await value(of: TestSite()))
                #expect(refused.status == 90)
                #expect(refused.output.isEmpty)
            }
        }
    }
}
