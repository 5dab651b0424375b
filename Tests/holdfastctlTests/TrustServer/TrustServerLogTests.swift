import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastPublishing
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl trust-server: signing again, and its log", .timeLimit(.minutes(15)))
struct TrustServerLogTests {
    private struct Line: Decodable {
        struct Failure: Decodable {
            let host: String
            let consequence: String
            let problems: [String]
        }
        let time: String
        let event: String
        let hosts: Int?
        let failures: [Failure]?
        let newPins: [String]?
        let message: String?
        let code: String?
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
            // No server listens anymore; and of a list that names others nothing is taken.
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
                // The script's document has another pin, and it is unknown what it replaced.
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
                // Without the DER the PEM serves; no other key is made beside the old one.
                try FileManager.default.removeItem(at: folder.appending(path: "output/acme.crt"))
                #expect(try await CommandRun.holdfastctl(arguments + ["--resign-only"], in: folder).status == 0)
                let again = try await CommandRun.holdfastctl(arguments + ["--first-run"], in: folder)
                #expect(again.status == 3 && again.errors.contains("certs/acme.key"), "\(again.errors)")
                #expect(again.errors.contains("there already: leave out --first-run"), "\(again.errors)")
            }
        }
    }
}
