import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting
import NIOSSL
import Testing

@testable import holdfastctl

@Suite("holdfastctl check with several hosts, and --watch", .timeLimit(.minutes(15)))
struct CheckHostsTests {
    struct Line: Decodable {
        struct Expiring: Decodable {
            let position: Int?
            let subject: String
            let daysLeft: Int
            let certificatePin: String
            let inValidPath: Bool
            let hasConfiguredPin: Bool
        }
        struct Failing: Decodable {
            let code: String
        }
        let outcome: String
        let host: String
        let port: Int
        let expiring: [Expiring]?
        let failure: Failing?
        let error: Failing?
    }

    private static func lines(_ run: CommandRun) throws -> [Line] {
        try run.lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    /// Runs `check` with the site's root, connected to the site's server whatever the hosts.
    static func check(
        _ site: TestSite, _ arguments: [String], serving chain: [[UInt8]]? = nil
    ) async throws -> CommandRun {
        try await withTemporaryFolder { folder in
            let ca = folder.appending(path: "root.pem")
            try Data(site.root.certificate.pem.utf8).write(to: ca)
            return try await withLoopbackTLSServer(chain: chain ?? site.leaf.chain, key: site.leaf.key) { server in
                try await CommandRun.inProcess(
                    ["check", "--ca", ca.path, "--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s"]
                        + arguments)
            }
        }
    }

    @Test("Several trusted hosts are a table with a line each, and exit with 0")
    func allTrusted() async throws {
        let site = try TestSite { $0.subjectAltName = [.dns("*.example.com")] }
        let hosts = (1...11).map { "host\($0).example.com" }
        let run = try await Self.check(site, hosts)
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        #expect(run.lines.first == "11 hosts: 11 trusted")
        #expect(run.lines.dropFirst(2).first?.hasPrefix("host ") == true)
        let rows = run.lines.dropFirst(3)
        #expect(rows.count == hosts.count)
        for (row, host) in zip(rows, hosts) {
            #expect(row.hasPrefix("\(host):443 "))
            #expect(row.contains(" trusted "))
            #expect(row.contains(" 89 "))
            #expect(row.hasSuffix("the chain is valid"))
        }
    }

    @Test("One host that is not trusted makes it 1, also where another could not be reached")
    func oneUntrusted() async throws {
        let site = try TestSite()
        let other = "other.example"
        let run = try await Self.check(site, [TestSite.name, other])
        #expect(run.status == 1)
        #expect(run.lines[3].contains(" trusted "))
        #expect(run.lines[4].contains("not trusted"))
        #expect(run.lines[4].contains("hostNameMismatch: expected"))

        try await withTemporaryFolder { folder in
            let ca = folder.appending(path: "root.pem")
            try Data(site.root.certificate.pem.utf8).write(to: ca)
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                // The certificate is for a name and not for the address.
                let hosts = ["127.0.0.1:1", "127.0.0.1:\(server.port)"]
                let run = try await CommandRun.inProcess(["check", "--json", "--ca", ca.path] + hosts)
                #expect(run.status == 1)
                let lines = try Self.lines(run)
                #expect(lines.map(\.outcome) == ["unknown", "untrusted"])
                #expect(lines.map(\.port) == [1, server.port])
            }
        }
    }

    @Test("A host that could not be examined makes it 3 where the others are trusted, and is named on standard error")
    func oneUnknown() async throws {
        let root = try TestAuthority.root()
        let leaf = try root.leaf(names: [.address([127, 0, 0, 1])])
        try await withTemporaryFolder { folder in
            let ca = folder.appending(path: "root.pem")
            try Data(root.certificate.pem.utf8).write(to: ca)
            try await withLoopbackTLSServer(serving: leaf) { server in
                let hosts = ["127.0.0.1:\(server.port)", "127.0.0.1:1"]
                let text = try await CommandRun.inProcess(["check", "--ca", ca.path] + hosts)
                #expect(text.status == 3)
                #expect(text.errors == "holdfastctl: 127.0.0.1:1: cannot connect to 127.0.0.1:1: connection refused\n")
                #expect(text.lines.first == "2 hosts: 1 trusted, 1 unknown")
                let lines = try Self.lines(
                    try await CommandRun.inProcess(["check", "--json", "--ca", ca.path] + hosts))
                #expect(lines.map(\.outcome) == ["trusted", "unknown"])
                #expect(lines.map { $0.error?.code } == [nil, "unreachable"])
            }
        }
    }

    @Test("What is wrong for every host alike is said once, and in every JSON line")
    func noAuthorities() async throws {
        let run = try await CommandRun.inProcess(
            ["check", "one.example", "two.example", "--json", "--ca", "/nosuch/root.pem"])
        #expect(run.status == 3)
        #expect(try Self.lines(run).map { $0.error?.code } == ["unreadableFile", "unreadableFile"])
        #expect(run.errors.split(separator: "\n").count == 1)
    }

    @Test("A trusted host with a certificate that ends too soon exits with 4 and says which")
    func watch() async throws {
        let site = try TestSite { $0.notAfter = .days(20.5) }
        let calm = try await Self.check(site, [TestSite.name, "--watch", "20d", "--json"])
        #expect(calm.status == 0)
        #expect(try calm.json(Line.self).expiring?.isEmpty == true)

        let run = try await Self.check(site, [TestSite.name, "--watch", "21d"])
        #expect(run.status == 4)
        #expect(run.output.contains("Trusted: "))
        let said = "Expires too soon\n  certificate 0 (CN=api.example.com) "
        #expect(run.output.contains(said))
        #expect(run.output.contains(", 20 days left\n"))

        let several = try await Self.check(site, [TestSite.name, TestSite.name, "--watch", "21d"])
        #expect(several.status == 4)
        #expect(several.lines[3].contains("expires soon"))
        #expect(several.lines.first == "2 hosts: 2 expires soon")
    }

    @Test("The anchor is watched too, and a presented certificate outside of the path only if it has a configured pin")
    func watchedCertificates() async throws {
        let root = try TestAuthority.root { $0.notAfter = .days(50.5) }
        let leaf = try root.leaf(names: [.dns(TestSite.name)])
        let stray = try TestAuthority.root(name: "Stray") { $0.notAfter = .days(5.5) }
        try await withTemporaryFolder { folder in
            let ca = folder.appending(path: "root.pem")
            try Data(root.certificate.pem.utf8).write(to: ca)
            try await withLoopbackTLSServer(chain: leaf.chain + [stray.certificate.der], key: leaf.key) { server in
                let arguments = [
                    "check", TestSite.name, "--ca", ca.path, "--connect-to", "127.0.0.1:\(server.port)", "--json",
                    "--timeout", "60s",
                ]
                let plain = try await CommandRun.inProcess(arguments + ["--watch", "60d"])
                #expect(plain.status == 4)
                let found = try plain.json(Line.self).expiring ?? []
                #expect(found.map(\.subject) == ["CN=Test Root"])
                #expect(found.first?.position == nil)
                #expect(found.first?.inValidPath == true)

                let pins = [try Pin.publicKey(of: leaf.der), try Pin.publicKey(of: stray.certificate.der)]
                let pinned = try await CommandRun.inProcess(
                    arguments + ["--watch", "10d"] + pins.flatMap { ["--pin", $0.description] })
                #expect(pinned.status == 4)
                let line = try pinned.json(Line.self)
                #expect(line.outcome == "trusted")
                #expect(line.expiring?.map(\.certificatePin) == [Pin.certificate(stray.certificate.der).description])
                #expect(line.expiring?.first?.hasConfiguredPin == true)
                #expect(line.expiring?.first?.inValidPath == false)
            }
        }
    }

    @Test("IPv6 addresses are dialed, judged and printed as such", .needs(.ipv6Loopback))
    func ipv6() async throws {
        let root = try TestAuthority.root()
        let leaf = try root.leaf(names: [.address(Array(repeating: 0, count: 15) + [1])])
        try await withTemporaryFolder { folder in
            let ca = folder.appending(path: "root.pem")
            try Data(root.certificate.pem.utf8).write(to: ca)
            try await withLoopbackTLSServer(serving: leaf, options: .init(address: "::1")) { server in
                let host = "[::1]:\(server.port)"
                let run = try await CommandRun.inProcess(["check", host, "--ca", ca.path, "--timeout", "60s"])
                #expect(run.status == 0)
                #expect(run.output.hasPrefix("\(host) at \(host), TLS 1.3\n"))
                let two = try await CommandRun.inProcess(["check", host, "[::1]:1", "--ca", ca.path])
                #expect(two.status == 3)
                #expect(two.lines.contains { $0.hasPrefix("\(host) ") })
                #expect(two.errors.contains("cannot connect to [::1]:1: connection refused"))
                #expect(server.statistics.lastServerName == nil)
            }
        }
    }

    @Test(
        "--brief is a line a host, --quiet says nothing when all is well, and JSON is a line for one host as for many")
    func forms() async throws {
        let site = try TestSite()
        let brief = try await Self.check(site, [TestSite.name, "--brief"])
        #expect(brief.status == 0 && brief.lines.count == 1)
        #expect(brief.lines.first?.hasPrefix("api.example.com:443  trusted      89 ") == true)
        let quiet = try await Self.check(site, [TestSite.name, "--quiet"])
        #expect(quiet.status == 0 && quiet.output.isEmpty && quiet.errors.isEmpty)
        let bad = try await Self.check(site, ["other.example", TestSite.name, "--quiet"])
        #expect(bad.status == 1 && bad.lines.count == 1 && bad.output.contains("not trusted"))
        let json = try await Self.check(site, [TestSite.name, "--json"])
        #expect(json.lines.count == 1)
    }

    @Test(
        "The verdict comes first, with the version of TLS also where the server is refused", arguments: [true, false])
    func verdictFirst(isTLS13: Bool) async throws {
        let site = try TestSite()
        let (run, _) = try await site.run(
            "check", trustingRoot: false, options: isTLS13 ? .init() : .init(newestTLSVersion: .tlsv12))
        #expect(run.status == 1)
        #expect(run.lines.first?.hasSuffix(isTLS13 ? ", TLS 1.3" : ", TLS 1.2") == true)
        #expect(run.lines.dropFirst().first == "Not trusted")
        #expect(run.output.contains("serial     "))
    }

    @Test("A certificate that is not yet valid says so")
    func states() async throws {
        let early = try TestSite {
            $0.notBefore = .days(2)
            $0.notAfter = .days(30)
        }
        let run = try await Self.check(early, [TestSite.name])
        #expect(run.status == 1 && run.output.contains("NOT YET VALID") && run.output.contains("notYetValid"))
    }

    @Test(
        "The certificate of each kind of key is a result of its own",
        .needs(.openSSL))
    func kindsOfKeys() async throws {
        try await TrustServerSite.with { site in
            let rsa = try site.root.leaf(names: [.address([127, 0, 0, 1])], key: .sharedRSA(bits: 2048, index: 0)) {
                $0.notAfter = .days(9.5)
            }
            try site.write("rsa.pem", TestCertificate.pem(rsa.der))
            try site.write("rsa.key", rsa.key.privateKeyPEM)
            let ecdsa = try site.root.leaf(names: [.address([127, 0, 0, 1])])
            let arguments = ["check", "--ca", "root.pem", "--watch", "10d", "--timeout", "60s"]
            for (more, kinds) in [
                (["-dcert", site.file("rsa.pem").path, "-dkey", site.file("rsa.key").path], 2), ([], 1),
            ] {
                let server = try await OpenSSLServer.start(serving: ecdsa, arguments: more)
                let run = try await CommandRun.inProcess(
                    arguments + ["--brief", "127.0.0.1:\(server.port)"], in: site.folder)
                await server.stop()
                #expect(run.lines.count == kinds && run.status == (kinds == 2 ? 4 : 0), "\(run.output)\(run.errors)")
                #expect(
                    run.output.contains("RSA") == (kinds == 2) && run.output.contains("expires soon") == (kinds == 2))
            }
        }
    }
}
