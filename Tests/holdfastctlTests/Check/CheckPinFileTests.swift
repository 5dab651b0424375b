import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl check --pins with a pin file", .timeLimit(.minutes(15)))
struct CheckPinFileTests {
    private static let host = "www.example.com"

    private static func lines(_ run: CommandRun) throws -> [CheckLine] {
        try run.lines.map { try JSONDecoder().decode(CheckLine.self, from: Data($0.utf8)) }
    }

    @Test("All hosts of a file that can be dialed are checked, and the days left are those of entry and document")
    func allHosts() async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("leaf.pem", ["www", "api", "example"].map { .dns("\($0).example.com") })
            try await withLoopbackTLSServer(serving: leaf) { server in
                let pins = [
                    try SigningSite.pin(leaf.der, days: 20.5),
                    try SigningSite.pin(site.root.certificate.der, .issuer, days: 9),
                ]
                let backup = try PinFile.KeyPin(
                    Pin.publicKey(of: site.leaf("backup.pem").der), state: .backup)
                let hosts = [
                    try PinFile.Host(HostPattern(Self.host), pins: pins + [backup]),
                    try PinFile.Host(HostPattern("**.example.example.com"), pins: pins + [backup]),
                    try PinFile.Host(HostPattern("*.api.example.com"), pins: pins + [backup]),
                    try .retired(HostPattern("old.example.com")),
                ]
                let run = try await site.check(server, hosts, notAfter: 40.5, "--json")
                #expect(run.status == 0, "\(run.output)\(run.errors)")
                let lines = try Self.lines(run)
                #expect(lines.map(\.host) == [Self.host, "example.example.com"])
                #expect(lines.map { $0.published?.daysLeft } == [20, 20])
                #expect(lines.map { $0.published?.cause } == ["pins", "pins"])
                #expect(run.errors.contains("not checked") && run.errors.contains("*.api.example.com"))
                let quiet = try await site.check(server, hosts, "--quiet")
                #expect(quiet.status == 0 && quiet.output.isEmpty && quiet.errors.isEmpty)
                let watched = try await site.check(server, hosts, "--quiet", "--watch", "21d")
                #expect(watched.status == 4 && watched.lines.count == 2, "\(watched.output)")
                #expect(watched.output.contains("expires soon") && watched.output.contains("20 days left"))
            }
        }
    }

    @Test("A retired host that is named is locked out, and a file of nothing to dial says so")
    func nothingToDial() async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("leaf.pem")
            try await withLoopbackTLSServer(serving: leaf) { server in
                let hosts = [try PinFile.Host.retired(HostPattern(Self.host))]
                let named = try await site.check(server, hosts, "--json", Self.host)
                #expect(try named.status == 1 && Self.lines(named).first?.failure?.code == "hostRetired")
                let none = try await site.check(server, hosts)
                #expect(none.status == 3 && none.errors.contains("name the hosts"))
            }
        }
    }

    @Test("A client that is locked out weighs more than a host that nothing is known of")
    func oneWins() async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("leaf.pem", [.address([127, 0, 0, 1])])
            let other = try site.leaf("other.pem")
            try await withLoopbackTLSServer(serving: leaf) { server in
                func run(_ certificate: TestCertificate) async throws -> CommandRun {
                    let host = try PinFile.Host(
                        HostPattern("127.0.0.1"), ports: [1, server.port], pins: [SigningSite.pin(certificate.der)])
                    try site.write("a.json", String(decoding: try PinFile(hosts: [host]).json, as: UTF8.self))
                    return try await site.run(["check", "--pins", "a.json", "--ca", "root.pem", "--json"])
                }
                let good = try await run(leaf)
                #expect(good.status == 3, "\(good.output)\(good.errors)")
                #expect(try Self.lines(good).map(\.outcome) == ["unknown", "trusted"])
                let bad = try await run(other)
                #expect(bad.status == 1)
                #expect(try Self.lines(bad).map(\.outcome) == ["unknown", "untrusted"])
            }
        }
    }

    @Test("Pins come from a URL whose server is trusted, and from standard input")
    func sources() async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("leaf.pem", [.dns(Self.host), .address([127, 0, 0, 1])])
            let file = try PinFile(hosts: [PinFile.Host(HostPattern(Self.host), pins: [SigningSite.pin(leaf.der)])])
            let json = String(decoding: file.json, as: UTF8.self)
            try site.write("bank.pins.json", json)
            try await withLoopbackTLSServer(serving: leaf, options: .init(behavior: .http(body: json))) { server in
                let connection = ["--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s", "--brief"]
                let url = "https://127.0.0.1:\(server.port)/bank.pins.json?token=secret"
                let good = try await site.run(["check", "--pins", url, "--ca", "root.pem"] + connection)
                #expect(good.status == 0 && good.lines.count == 1, "\(good.output)\(good.errors)")
                #expect(good.output.contains("/bank.pins.json get in") && !good.output.contains("secret"))
                try site.write("wrong.pem", try TestAuthority.root(name: "Another").certificate.pem)
                let untrusted = try await site.run(["check", "--pins", url, "--ca", "wrong.pem"] + connection)
                #expect(untrusted.status == 3 && untrusted.output.isEmpty)
                #expect(untrusted.errors.contains("cannot be downloaded") && !untrusted.errors.contains("secret"))
                let input = try await CommandRun.shell(
                    "\"$HOLDFASTCTL\" check --pins - --ca root.pem \(connection.joined(separator: " ")) "
                        + "< bank.pins.json", in: site.folder)
                #expect(input.status == 0 && input.lines.count == 1, "\(input.output)\(input.errors)")
                let plain = try await site.run(["check", "--pins", "http://127.0.0.1/a", "--ca", "root.pem"])
                #expect(plain.status == 3 && plain.errors.contains("https"))
                let password = try await site.run(["check", "--pins", "https://me:secret@www.example.com/a"])
                #expect(password.status == 2 && !password.errors.contains("secret"), "\(password.errors)")
            }
        }
    }

    @Test("A document of another kind is named, with the option that it takes")
    func otherKinds() async throws {
        try await TrustServerSite.with { site in
            func errors(_ arguments: [String]) async throws -> String {
                let run = try await CommandRun.inProcess(["check", "--ca", "root.pem"] + arguments, in: site.folder)
                #expect(run.status == 1 && run.output.isEmpty)
                return run.errors
            }
            let key = SigningKey()
            let entry = try FingerprintEntry(
                name: "www.example.com", pin: .certificate(site.leaf.der), expires: site.second + 86_400)
            try site.write("list.json", String(decoding: try PinListDraft([entry]).signed(by: key), as: UTF8.self))
            #expect(try await errors(["--pins", "list.json"]).contains("--list"))
            try site.emptyDocument(at: site.second).write(to: site.file("acme.json.signed"))
            #expect(try await errors(["--pins", "acme.json.signed"]).contains("--trust-server"))
            try site.write("broken.json", "{\"schema\":1,\"hosts\":[{\"host\":\"www.example.com\"}]}")
            #expect(try await errors(["--pins", "broken.json"]).contains("hosts[0]"))
        }
    }
}
