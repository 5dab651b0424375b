import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl trust-server: approval, signing again, and its log", .timeLimit(.minutes(15)))
struct TrustServerApprovalTests {
    private struct Line: Decodable {
        struct Failure: Decodable {
            let host: String
            let consequence: String
            let problems: [String]
        }
        struct Waiting: Decodable {
            let host: String
            let fingerprints: [String]
            let since: String
        }
        let time: String
        let event: String
        let hosts: Int?
        let failures: [Failure]?
        let newPins: [String]?
        let waiting: [Waiting]?
        let message: String?
        let code: String?
    }

    private static func fingerprint(_ certificate: TestCertificate) -> String {
        Hexadecimal.encode(Pin.certificate(certificate.der).digest)
    }

    private func pins(_ site: TrustServerSite) throws -> [Pin] {
        try site.document().entries.flatMap(\.certificatePins)
    }

    @Test("A new certificate waits until it is approved, and nothing but that certificate is approved")
    func holdChanges() async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n")
                let host = "127.0.0.1:\(server.port)"
                func approve(_ host: String) async throws -> CommandRun {
                    try await CommandRun.holdfastctl(
                        ["trust-server", "approve", host, "--customer", "acme", "--domains", "data/acme.domains"],
                        in: site.folder)
                }
                // A host that is new on the list was approved by whoever wrote it there.
                #expect(try await site.publish(["--hold-changes"]).status == 0)
                #expect(try pins(site) == [.certificate(site.leaf.der)])
                #expect(try await approve(host).errors.contains("\(host): expected a change that waits for approval"))

                let (next, thief) = (
                    try site.root.leaf(names: [.address([127, 0, 0, 1])]),
                    try site.root.leaf(names: [.address([127, 0, 0, 1])])
                )
                try server.serve(next)
                for _ in 0..<2 {
                    let held = try await site.publish(["--hold-changes"])
                    #expect(held.status == 1 && held.errors.contains("waits for approval"), "\(held.errors)")
                    #expect(held.errors.contains(Self.fingerprint(next)) && held.output.contains(" published 1 host"))
                    #expect(try pins(site) == [.certificate(site.leaf.der)])
                }
                let json = try await site.publish(["--hold-changes", "--json"])
                let line = try json.json(Line.self)
                #expect(json.status == 1 && line.event == "published" && line.failures?.first?.consequence == "kept")
                #expect(line.waiting?.map(\.host) == [host])
                #expect(line.waiting?.first?.fingerprints == [Self.fingerprint(next)])

                let other = try await approve("127.0.0.1:1")
                #expect(other.status == 1 && other.errors.contains("but for \(host)"))
                let approved = try await approve(host)
                #expect(approved.status == 0 && approved.output == "\(host)  cert-sha256/\(Self.fingerprint(next))\n")
                try server.serve(thief)
                let refused = try await site.publish(["--hold-changes"])
                #expect(refused.status == 1 && refused.errors.contains(Self.fingerprint(thief)))
                #expect(try pins(site) == [.certificate(site.leaf.der)])

                try server.serve(next)
                let published = try await site.publish(["--hold-changes"])
                // Clients with the document of before refuse it until they ask again.
                #expect(published.output.contains("new pins of \(host)"), "\(published.errors)")
                #expect(published.status == 1 && published.errors.contains("an earlier document, which was replaced"))
                #expect(try Set(pins(site)) == [.certificate(site.leaf.der), .certificate(next.der)])
                #expect(try await approve(host).status == 1)
            }
        }
    }

    @Test("What is published is signed again while no host can be asked, and stays as it was")
    func resign() async throws {
        try await TrustServerSite.with { site in
            let before = try await site.publish(["--resign-only"])
            #expect(before.status == 3)
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n")
                let none = try await site.publish(["--resign-only"])
                #expect(none.status == 3 && none.errors.contains("nothing to sign again"), "\(none.errors)")
                #expect(try await site.publish().status == 0)
            }
            let (entries, memory) = (
                try site.document().entries, try Data(contentsOf: site.file("data/acme.hosts.json"))
            )
            // Nobody listens anymore; and of a list that names others nothing is taken.
            try site.write("data/acme.domains", "127.0.0.1:1\n")
            let clock = ScriptedClock { SystemWallClock().now.addingTimeInterval(3_600) }
            let later = try await site.publication([], clock) { _ in .unreachable("nobody is asked") }.resign()
            #expect(later.published == 1 && later.status == nil)
            let document = try site.document(at: clock.now)
            #expect(document.entries == entries && document.timestamp > SystemWallClock().now.addingTimeInterval(3_000))
            #expect(try Data(contentsOf: site.file("data/acme.hosts.json")) == memory)
            let muchLater = ScriptedClock { SystemWallClock().now.addingTimeInterval(2 * 86_400) }
            await #expect(throws: CommandFailure.self, "it would bring withdrawn pins back") {
                try await site.publication([], muchLater) { _ in .unreachable("nobody is asked") }.resign()
            }
            #expect(try site.document(at: clock.now).timestamp == document.timestamp)
            let both = try await site.publish(["--resign-only", "--hold-changes"])
            #expect(both.status == 2 && both.errors.contains("no changes to hold"))
        }
    }

    @Test("Each line of the log has its time, as text and as JSON")
    func log() async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n127.0.0.1:1\n")
                let text = try await site.publish()
                #expect(text.status == 3)
                for line in text.lines {
                    _ = try Date(String(line.prefix { $0 != " " }), strategy: .iso8601)
                }
                #expect(
                    text.errors.firstMatch(of: /^holdfastctl: \d+-\d\d-\d\dT[\d:]+Z 127\.0\.0\.1:1 has no entry/) != nil
                )
                let json = try await site.publish(["--json"])
                #expect(json.status == 3 && json.errors.isEmpty && json.lines.count == 1, "\(json.errors)")
                let line = try json.json(Line.self)
                _ = try Date(line.time, strategy: .iso8601)
                #expect(line.event == "published" && line.hosts == 1 && line.newPins?.isEmpty == true)
                #expect(line.failures?.map(\.host) == ["127.0.0.1:1"] && line.failures?.first?.consequence == "omitted")
            }
        }
    }

    @Test("approve needs a host, a customer and the list, and says which file is not there")
    func usage() async throws {
        try await withTemporaryFolder { folder in
            for (arguments, status, text) in [
                (["--customer", "acme", "--domains", "d"], 2, "host"),
                (["a.example", "--domains", "d"], 2, "--customer"),
                (["a.example", "--customer", "acme"], 2, "--domains"),
                (["127.1", "--customer", "acme", "--domains", "d"], 2, "numericName"),
                (["a.example", "--customer", "a/b", "--domains", "d"], 2, "--customer"),
                (["a.example", "--customer", "acme", "--domains", "d"], 3, "acme.hosts.json is not there"),
            ] as [([String], Int32, String)] {
                let run = try await CommandRun.holdfastctl(["trust-server", "approve"] + arguments, in: folder)
                #expect(run.status == status && run.errors.contains(text), "\(arguments): \(run.errors)")
            }
        }
    }
}

@Suite("The files of the published signing script", .needs(.openSSL), .timeLimit(.minutes(15)))
struct TrustServerTakeoverTests {
    /// Key and certificate as the script makes them: RSA, no extensions, and with that version 1.
    private static let script = """
        set -e
        mkdir -p certs data output
        printf '[req]\\ndistinguished_name=dn\\nprompt=no\\n[dn]\\nC=DE\\nST=NRW\\nL=Koeln\\nO=Acme\\nCN=acme\\n' > dn.cnf
        openssl req -x509 -newkey rsa:4096 -nodes -days 3650 -config dn.cnf -keyout certs/acme.key -out output/acme.pem
        openssl x509 -in output/acme.pem -outform der -out output/acme.crt
        openssl x509 -in output/acme.crt -inform der -noout -text
        """

    @Test("Its key and its certificate are taken over, its document is the one before, and openssl verifies the next")
    func takeover() async throws {
        try await withTemporaryFolder { folder in
            let made = try await CommandRun.shell(Self.script, in: folder)
            try #require(made.status == 0, "\(made.errors)")
            #expect(!made.output.contains("X509v3") && made.output.contains("Version: 1"))
            let root = try TestAuthority.root()
            let leaf = try root.intermediate().leaf(names: [.address([127, 0, 0, 1])])
            try Data(root.certificate.pem.utf8).write(to: folder.appending(path: "root.pem"))
            try await withLoopbackTLSServer(serving: leaf) { server in
                try Data("127.0.0.1:\(server.port)\n".utf8).write(to: folder.appending(path: "data/acme.domains"))
                // The document of before, made by the script's own command.
                let old =
                    #"{"customer":"acme","hashes":[{"hostname":"127.0.0.1","port":"\#(server.port)","#
                    + #""fp":["\#(String(repeating: "ab", count: 32))"],"pk":[]}],"timestamp":\#(SystemWallClock().now.wholeSeconds - 60)}"#
                try Data(old.utf8).write(to: folder.appending(path: "old.json"))
                let sign = """
                    openssl smime -sign -nodetach -outform der -in old.json -signer output/acme.pem \
                    -inkey certs/acme.key -out output/acme.json.signed
                    """
                let signed = try await CommandRun.shell(sign, in: folder)
                try #require(signed.status == 0, "\(signed.errors)")
                let arguments = [
                    "trust-server", "publish", "--customer", "acme", "--domains", "data/acme.domains", "--folder",
                    "output", "--ca", "root.pem", "--timeout", "60s", "--no-shipped-pins",
                ]
                let run = try await CommandRun.holdfastctl(arguments, in: folder)
                // The script's document has another pin, and nobody knows what it replaced.
                #expect(run.status == 1 && run.output.contains(" published 1 host"), "\(run.output)\(run.errors)")
                #expect(run.errors.contains("an earlier document, which was replaced, are locked out"))
                #expect(run.errors.contains("acme.replaced.json: it is not there"), "\(run.errors)")
                let document = folder.appending(path: "output/acme.json.signed")
                let certificate = try Data(contentsOf: folder.appending(path: "output/acme.crt"))
                let pins = try TrustServerDocument(
                    verifying: Data(contentsOf: document), by: TrustServerSigner(certificate: certificate),
                    customer: "acme", at: SystemWallClock().now
                ).entries.flatMap(\.certificatePins)
                // Clients of the document of before are not locked out by the first round.
                #expect(pins.first == .certificate(leaf.der) && pins.count == 2)
                let verified = try await OpenSSLProgram.run(
                    [
                        "smime", "-verify", "-inform", "der", "-in", "output/acme.json.signed", "-CAfile",
                        "output/acme.pem", "-purpose", "any",
                    ], in: folder)
                #expect(verified.status == 0 && verified.text.contains("127.0.0.1"), "\(verified.text)")
                // Without the DER the PEM serves; a new key is not made beside the old one.
                try FileManager.default.removeItem(at: folder.appending(path: "output/acme.crt"))
                #expect(try await CommandRun.holdfastctl(arguments + ["--resign-only"], in: folder).status == 0)
                let again = try await CommandRun.holdfastctl(
                    ["trust-server", "init", "--customer", "acme", "--kind", "p-256"], in: folder)
                #expect(again.status == 3 && again.errors.contains("certs/acme.key is there already"))
            }
        }
    }
}
