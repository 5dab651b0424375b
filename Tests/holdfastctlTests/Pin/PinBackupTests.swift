import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl pin, backups of several hosts", .timeLimit(.minutes(5)))
struct PinBackupTests {
    private static let names = ["api.example.com", "www.example.com"]

    /// The fields of the file that both hosts serve, with what is given beside them.
    private static func pins(
        _ files: [String], format: [String] = ["--format", "json"], warnings: [String],
        at line: SourceLocation = #_sourceLocation, in site: SigningSite
    ) async throws -> String {
        let leaf = try site.issuing.leaf(names: names.map { .dns($0) })
        return try await withLoopbackTLSServer(serving: leaf) { server in
            let run = try await site.run(
                ["pin"] + names + files + [
                    "--ca", "root.pem", "--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s",
                ] + format)
            #expect(run.status == 0, "\(run.errors)", sourceLocation: line)
            for name in names {
                #expect(
                    run.errors.contains("\(name) has no backup pin") == warnings.contains(name), "\(run.errors)",
                    sourceLocation: line)
            }
            return run.output
        }
    }

    @Test("A request or a certificate is a backup of the hosts that it names, and a key alone one of every host")
    func named() async throws {
        try await SigningSite.with { site in
            let key = SigningKey()
            let request = try CertificateRequestDraft(names: [HostPattern(Self.names[0])])
            try site.write("api.csr", request.pem(signedBy: key))
            let next = try site.issuing.leaf(names: [.dns(Self.names[1])])
            try site.write("www.pem", next.pem)
            let spare = try TestKey()
            try site.write("spare.pub", spare.publicKeyPEM)

            let both = try PinFile(
                json: Data(try await Self.pins(["api.csr", "www.pem"], warnings: [], in: site).utf8))
            let backups = both.hosts.map { $0.pins.filter { $0.state == .backup }.map(\.pin) }
            #expect(try backups == [[key.pin], [Pin.publicKey(of: next.der)]])
            let all = try PinFile(
                json: Data(try await Self.pins(["api.csr", "spare.pub"], warnings: [], in: site).utf8))
            let pin = try Pin.publicKey(spkiDER: spare.subjectPublicKeyInfoDER)
            let more = all.hosts.map { $0.pins.filter { $0.state == .backup }.map(\.pin) }
            #expect(try more == [[key.pin, pin], [pin]])

            // The other host has none, in every format and without one.
            for format in [["--format", "json"], ["--format", "okhttp"], ["--json"], []] {
                _ = try await Self.pins(["api.csr"], format: format, warnings: [Self.names[1]], in: site)
            }
        }
    }

    @Test("A request that names none of the hosts is a backup of all: an authority may issue for other names")
    func unnamed() async throws {
        try await SigningSite.with { site in
            let key = SigningKey()
            let request = try CertificateRequestDraft(names: [HostPattern("backup.example.net")])
            try site.write("backup.csr", request.pem(signedBy: key))
            let file = try PinFile(json: Data(try await Self.pins(["backup.csr"], warnings: [], in: site).utf8))
            let pin = try key.pin
            #expect(file.hosts.map { $0.pins.map(\.pin).contains(pin) } == [true, true])
        }
    }
}
