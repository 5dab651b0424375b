import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting
import NIOSSL
import Testing

@Suite("holdfastctl check", .timeLimit(.minutes(15)))
struct CheckTests {
    /// The fields that are promised in the help.
    struct Report: Decodable {
        struct Certificate: Decodable {
            let position: Int?
            let inValidPath: Bool?
            let subject: String
            let issuer: String
            let notBefore: String
            let notAfter: String
            let daysLeft: Int
            let key: String
            let signature: String
            let names: [String]
            let keyPin: String
            let certificatePin: String
        }
        struct Rule: Decodable {
            let rule: String
            let reference: String
            let subject: String
            let kept: Bool
            let expected: String?
            let found: String?
        }
        struct SuggestedPin: Decodable {
            let pin: String
            let subject: String
            let inValidPath: Bool
        }
        struct Failure: Decodable {
            let code: String
            let expected: String
            let found: String
            let remedy: String
            let text: String
        }
        struct Failing: Decodable {
            let code: String
            let message: String
        }
        let outcome: String
        let host: String
        let port: Int
        let address: String?
        let tls: String?
        let time: String
        let chain: [Certificate]?
        let anchor: Certificate?
        let rules: [Rule]?
        let configuredPins: [String]
        let matchedPins: [String]?
        let suggestedPins: [SuggestedPin]?
        let failure: Failure?
        let error: Failing?
    }

    @Test("A trusted server exits with 0, its chain, the rules and its pins on standard output")
    func trusted() async throws {
        let site = try TestSite()
        let (run, server) = try await site.run("check")
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        #expect(!run.actsOnTerminal)
        #expect(run.output.contains("Trusted: the chain is valid for api.example.com."))
        #expect(run.output.contains("TLS 1.3"))
        #expect(run.output.contains("DNS:api.example.com"))
        #expect(run.output.contains("RFC 9525 6"))
        #expect(run.output.contains("89 days left"))
        #expect(!run.output.contains("BROKEN"))
        for pin in try site.keyPins() { #expect(run.lines.contains { $0.hasPrefix("  \(pin)  ") }) }
        for der in site.path { #expect(run.output.contains(Pin.certificate(der).description)) }
        #expect(server.lastServerName == "api.example.com")
        #expect(server.plaintextBytesReceived == 0)
    }

    @Test("JSON is one object with every promised field")
    func json() async throws {
        let site = try TestSite()
        let (run, _) = try await site.run("check", ["--json"], options: .init(newestTLSVersion: .tlsv12))
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        let report = try run.json(Report.self)
        #expect(report.outcome == "trusted")
        #expect(report.host == "api.example.com")
        #expect(report.port == 443)
        #expect(report.address?.hasPrefix("127.0.0.1:") == true)
        #expect(report.tls == "TLS 1.2")
        let chain = try #require(report.chain)
        #expect(chain.map(\.position) == [0, 1])
        #expect(chain.map(\.inValidPath) == [true, true])
        #expect(chain[0].subject == "CN=api.example.com")
        #expect(chain[0].names == ["DNS:api.example.com"])
        #expect(chain[0].key == "P-256")
        #expect(chain[0].daysLeft == 89)
        #expect(try Date.ISO8601FormatStyle().parse(chain[0].notAfter) == X509Certificate(der: site.leaf.der).notAfter)
        #expect(report.anchor?.subject == "CN=Test Root")
        #expect(report.anchor?.position == nil)
        #expect((report.rules ?? []).allSatisfy { $0.kept && !$0.reference.isEmpty })
        #expect(Set((report.rules ?? []).map(\.subject)).count == 3)
        #expect(report.suggestedPins?.map(\.pin) == (try site.keyPins()))
        #expect(report.failure == nil)
        #expect(report.error == nil)
    }

    @Test("A server that is not trusted exits with 1 and shows why", arguments: [false, true])
    func untrusted(json: Bool) async throws {
        let site = try TestSite()
        let (run, server) = try await site.run("check", json ? ["--json"] : [], trustingRoot: false)
        #expect(run.status == 1)
        #expect(run.errors.isEmpty)
        #expect(server.plaintextBytesReceived == 0)
        guard json else {
            #expect(run.output.contains("Not trusted\n  unknownIssuer for api.example.com"))
            #expect(run.output.contains("BROKEN"))
            #expect(run.output.contains("The chain is not valid"))
            #expect(run.output.contains("issuer     CN=Test Issuing CA"))
            return
        }
        let report = try run.json(Report.self)
        #expect(report.outcome == "untrusted")
        #expect(report.failure?.code == "unknownIssuer")
        #expect(report.chain?.count == 2)
        #expect(report.suggestedPins?.contains { $0.inValidPath } == false)
        let broken = (report.rules ?? []).filter { !$0.kept }
        #expect(broken.map(\.rule) == ["trust anchor"])
        #expect(broken.first?.expected != nil && broken.first?.found != nil)
    }

    @Test("A revoked chain is refused, and the rule that refuses it is shown among those that are kept")
    func revoked() async throws {
        let site = try TestSite()
        let serial = Array(try X509Certificate(der: site.leaf.der).serialNumber)
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "issuing.crl")
            try Data(try site.issuing.revocationList { $0.serialNumbers = [serial] }).write(to: file)
            let (run, server) = try await site.run("check", ["--crl", file.path])
            #expect(run.status == 1)
            #expect(run.errors.isEmpty)
            #expect(run.output.contains("Not trusted\n  revoked for api.example.com"))
            #expect(run.output.contains("BROKEN"))
            #expect(server.plaintextBytesReceived == 0)
            let (json, _) = try await site.run("check", ["--crl", file.path, "--json"])
            #expect(json.status == 1)
            let report = try json.json(Report.self)
            #expect(report.outcome == "untrusted")
            #expect(report.failure?.code == "revoked")
            let broken = (report.rules ?? []).filter { !$0.kept }
            #expect(broken.map(\.rule) == ["revocation"])
            #expect(broken.map(\.subject) == ["CN=api.example.com"])
        }
    }

    @Test("A revocation list that cannot be read ends with 3, and is named", arguments: ["missing.crl", "junk.crl"])
    func unreadableList(name: String) async throws {
        try await withTemporaryFolder { folder in
            try Data("nothing".utf8).write(to: folder.appending(path: "junk.crl"))
            let ca = folder.appending(path: "root.pem")
            try Data(try TestAuthority.root().certificate.pem.utf8).write(to: ca)
            let run = try await CommandRun.inProcess(
                ["check", "api.example.com", "--ca", "root.pem", "--crl", name], in: folder)
            #expect(run.status == 3)
            #expect(run.output.isEmpty)
            #expect(run.errors.contains(name))
        }
    }

    @Test("--revocation fetches the lists that certificates name, says where it looked, and refuses what they revoke")
    func fetchedLists() async throws {
        struct Places: Decodable {
            struct Place: Decodable {
                let url: String
                let isUsable: Bool
                let revokedCertificates: Int?
                let error: String?
            }
            let outcome: String
            let revocationLists: [Place]?
            let failure: Report.Failure?
        }
        let list = Lock<[String: [UInt8]]>([:])
        try await ScriptedHTTPServer.with({ path in
            guard let list = list.withLock({ $0[path] }) else {
                return [.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"), .close]
            }
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(list.count)\r\nConnection: close\r\n\r\n"
            return [.send(head), .sendOctets(list), .close]
        }) { lists in
            func point(_ path: String) -> TestExtension {
                let name = TestDER.context(6, primitive: Array(lists.url(path).utf8))
                let full = TestDER.context(0, constructed: TestDER.context(0, constructed: name))
                return TestExtension([2, 5, 29, 31], value: TestDER.sequence([TestDER.sequence([full])]))
            }
            let root = try TestAuthority.root(name: "Root")
            let issuing = try root.intermediate(name: "Issuing") { $0.extensions = [point("/root.crl")] }
            let leaf = try issuing.leaf(names: [.dns(TestSite.name)]) { $0.extensions = [point("/issuing.crl")] }
            let site = TestSite(root: root, issuing: issuing, leaf: leaf)
            let serial = Array(try X509Certificate(der: leaf.der).serialNumber)
            let (clean, revoking) = (
                try issuing.revocationList(), try issuing.revocationList { $0.serialNumbers = [serial] }
            )

            // Nothing is there to be fetched: the answer is unknown.
            let (unknown, _) = try await site.run("check", ["--revocation", "--json"])
            #expect(unknown.status == 1)
            let first = try unknown.json(Places.self)
            #expect(first.failure?.code == "revocationUnknown")
            #expect(first.revocationLists?.map(\.isUsable) == [false, false])
            #expect(first.revocationLists?.allSatisfy { $0.error?.contains("404") == true } == true)

            let ofRoot = try root.revocationList()
            list.withLock { $0 = ["/issuing.crl": clean, "/root.crl": ofRoot] }
            let (text, _) = try await site.run("check", ["--revocation"])
            #expect(text.status == 0, "\(text.output) \(text.errors)")
            #expect(text.output.contains("Revocation lists\n  \(lists.url("/issuing.crl")): 0 revoked certificates"))

            list.withLock { $0["/issuing.crl"] = revoking }
            let (refused, _) = try await site.run("check", ["--revocation", "--json"])
            #expect(refused.status == 1)
            let report = try refused.json(Places.self)
            #expect(report.failure?.code == "revoked")
            #expect(report.revocationLists?.map(\.revokedCertificates) == [1, 0])
            // A list in a file counts beside those that are fetched.
            list.withLock { $0["/issuing.crl"] = nil }
            try await withTemporaryFolder { folder in
                let file = folder.appending(path: "issuing.crl")
                try Data(clean).write(to: file)
                let (both, _) = try await site.run("check", ["--revocation", "--crl", file.path])
                #expect(both.status == 0, "\(both.output) \(both.errors)")
            }
        }
    }

    @Test("--policy asks for a certificate policy, and takes nothing but object identifiers")
    func policies() async throws {
        let root = try TestAuthority.root()
        let issuing = try root.intermediate { $0.certificatePolicies = [[1, 2, 3]] }
        let site = TestSite(
            root: root, issuing: issuing,
            leaf: try issuing.leaf(names: [.dns(TestSite.name)]) { $0.certificatePolicies = [[1, 2, 3]] })
        #expect(try await site.run("check", ["--policy", "1.2.3"]).0.status == 0)
        #expect(try await site.run("check", ["--policy", "1.2.4"]).0.status == 1)
        let odd = try await CommandRun.inProcess(["check", TestSite.name, "--policy", "EV"])
        #expect(odd.status == 2)
        #expect(odd.errors.contains("object identifier"))
    }

    @Test("A pin that matches is named, one that does not exits with 1 and offers those that would")
    func pins() async throws {
        let site = try TestSite()
        let pins = try site.keyPins()
        let certificate = Pin.certificate(site.leaf.der).description
        let (matching, _) = try await site.run("check", ["--json", "--pin", pins[1], "--pin", certificate])
        #expect(matching.status == 0)
        let matched = try matching.json(Report.self)
        #expect(matched.configuredPins == [pins[1], certificate])
        #expect(Set(matched.matchedPins ?? []) == [pins[1], certificate])
        #expect(matched.suggestedPins == nil)

        let other = try TestSite()
        let (failing, _) = try await site.run("check", ["--pin", try other.keyPins()[0]])
        #expect(failing.status == 1)
        #expect(failing.output.contains("pinMismatch for api.example.com"))
        #expect(failing.output.contains("ready to paste"))
        #expect(failing.lines.contains { $0.hasPrefix("  \(pins[0])  ") })
        #expect(!failing.output.contains("BROKEN"))
    }

    @Test("Text in a certificate cannot act on the terminal", arguments: [false, true])
    func hostileText(json: Bool) async throws {
        let name = TestName.commonName("\u{1B}[2J\u{9B}31m\r\n\u{202E}evil\u{7}")
        let site = try TestSite(rootName: name) { certificate in
            certificate.subject = name
            certificate.subjectAltName = [.dns(TestSite.name), .dns("\u{1B}]0;title\u{7}"), .uri("\u{1B}c")]
        }
        for trusted in [true, false] {
            let (run, _) = try await site.run("check", json ? ["--json"] : [], trustingRoot: trusted)
            #expect(run.status == (trusted ? 0 : 1))
            #expect(!run.actsOnTerminal)
            if json { _ = try run.json(Report.self) }
        }
    }

    @Test("Nothing found out exits with 3, says so on standard error, and with --json on standard output as well")
    func nobodyThere() async throws {
        try await withTemporaryFolder { folder in
            let ca = folder.appending(path: "root.pem")
            try Data(try TestAuthority.root().certificate.pem.utf8).write(to: ca)
            // Nothing listens on the port of a service that died with the eighties.
            let arguments = ["check", "api.example.com", "--ca", ca.path, "--connect-to", "127.0.0.1:1"]
            let text = try await CommandRun.inProcess(arguments)
            #expect(text.status == 3)
            #expect(text.output.isEmpty)
            #expect(text.errors == "holdfastctl: cannot connect to 127.0.0.1:1: connection refused\n")
            let run = try await CommandRun.inProcess(arguments + ["--json"])
            #expect(run.status == 3)
            #expect(!run.errors.isEmpty)
            let report = try run.json(Report.self)
            #expect(report.outcome == "unknown")
            #expect(report.error?.code == "unreachable")
            #expect(report.chain == nil)
        }
    }

    @Test("A server that never answers is given up on")
    func stalled() async throws {
        let (run, _) = try await TestSite().run(
            "check", ["--json", "--timeout", "1s"], options: .init(behavior: .stalled))
        #expect(run.status == 3)
        #expect(try run.json(Report.self).error?.code == "timedOut")
        #expect(run.errors.contains("handshakeTimedOut"))
    }

    @Test("A name that does not exist exits with 3")
    func unresolvable() async throws {
        try await withTemporaryFolder { folder in
            let ca = folder.appending(path: "root.pem")
            try Data(try TestAuthority.root().certificate.pem.utf8).write(to: ca)
            let run = try await CommandRun.inProcess(
                ["check", "nosuch.invalid", "--ca", ca.path, "--json", "--timeout", "5s"])
            #expect(run.status == 3)
            // Where no resolver answers at all the time runs out first.
            #expect(["resolveFailed", "timedOut"].contains(try run.json(Report.self).error?.code))
        }
    }

    @Test("A file of authorities that cannot be used exits with 3 and is named")
    func unreadableAuthorities() async throws {
        try await withTemporaryFolder { folder in
            try Data(try TestKey().privateKeyPEM.utf8).write(to: folder.appending(path: "key.pem"))
            try Data("nothing".utf8).write(to: folder.appending(path: "junk.pem"))
            for file in ["missing.pem", "key.pem", "junk.pem"] {
                let run = try await CommandRun.inProcess(["check", "api.example.com", "--ca", file], in: folder)
                #expect(run.status == 3)
                #expect(run.output.isEmpty)
                #expect(run.errors.contains(file))
            }
        }
    }

    #if os(Linux)
    @Test("Without --ca the system's authorities are trusted, as SSL_CERT_FILE says")
    func systemAuthorities() async throws {
        try await withTemporaryFolder { folder in
            let site = try TestSite()
            let ca = folder.appending(path: "root.pem")
            try Data(site.root.certificate.pem.utf8).write(to: ca)
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                let arguments = ["check", TestSite.name, "--connect-to", "127.0.0.1:\(server.port)"]
                let run = try await CommandRun.holdfastctl(arguments, environment: ["SSL_CERT_FILE": ca.path])
                #expect(run.status == 0)
                let none = try await CommandRun.holdfastctl(
                    arguments, environment: ["SSL_CERT_FILE": folder.appending(path: "missing.pem").path])
                #expect(none.status == 3)
                #expect(none.errors.contains("noneFound"))
            }
        }
    }
    #endif
}
