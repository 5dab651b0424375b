import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("holdfastctl keygen --tls", .timeLimit(.minutes(15)))
struct ServerKeyTests {
    private struct Report: Decodable {
        let file: String
        let request: String
        let pin: String
        let encrypted: Bool
    }

    @Test(
        "openssl verifies the request and reads its names, and the pin that is printed is that of its key",
        .needs(.openSSL))
    func request() async throws {
        try await SigningSite.with { site in
            let made = try await site.run([
                "keygen", "--tls", "*.example.com", "--tls", "example.com", "--tls", "192.0.2.7", "-o", "backup.key",
                "--no-password",
            ])
            #expect(made.status == 0 && made.errors.isEmpty, "\(made.errors)")
            #expect(try site.mode("backup.key") == 0o600)
            let read = try await OpenSSLProgram.run(
                ["req", "-in", "backup.csr", "-verify", "-noout", "-text"], in: site.folder)
            #expect(read.status == 0 && read.text.contains("verify OK"), "\(read.text)")
            #expect(read.text.contains("DNS:*.example.com, DNS:example.com, IP Address:192.0.2.7"))
            #expect(read.text.contains("Subject: CN") && read.text.contains("prime256v1"))
            let pins = try await site.run(["pin", "backup.csr", "backup.key"])
            #expect(pins.lines.filter { $0.hasPrefix("sha256/") } == [made.lines[0], made.lines[0]])
            // An authority makes a certificate of it.
            try site.write("root.key", site.root.certificate.key.privateKeyPEM, mode: 0o600)
            let issued = try await OpenSSLProgram.run(
                [
                    "x509", "-req", "-in", "backup.csr", "-CA", "root.pem", "-CAkey", "root.key", "-copy_extensions",
                    "copy", "-days", "30", "-out", "backup.pem",
                ], in: site.folder)
            #expect(issued.status == 0, "\(issued.text)")
            let chain = try await site.run([
                "check", "--chain", "backup.pem", "--host", "www.example.com", "--ca", "root.pem", "--quiet",
            ])
            #expect(chain.status == 0, "\(chain.output)\(chain.errors)")
        }
    }

    @Test("The key is encrypted with the password, and JSON names both files")
    func encrypted() async throws {
        try await SigningSite.with { site in
            try site.write("pw", "correct horse\n", mode: 0o600)
            let made = try await site.run([
                "keygen", "--tls", "www.example.com", "-o", "next.key", "--request", "ask.csr", "--password-file", "pw",
                "--json",
            ])
            let report = try made.json(Report.self)
            #expect(report.file == "next.key" && report.request == "ask.csr" && report.encrypted)
            let key = try SigningKey(pem: site.text("next.key"), password: Array("correct horse".utf8))
            #expect(try key.pin.description == report.pin)
            #expect(try await site.run(["pin", "ask.csr"]).output.contains(report.pin))
        }
    }

    @Test("A request that is there is left alone, and one that cannot be written leaves no key behind")
    func files() async throws {
        try await SigningSite.with { site in
            try site.write("a.csr", "mine")
            let arguments = ["keygen", "--tls", "www.example.com", "--no-password", "-o"]
            let there = try await site.run(arguments + ["a.key"])
            #expect(
                try there.status == 3 && there.errors.contains("a.csr is there already") && site.text("a.csr") == "mine"
            )
            let nowhere = try await site.run(arguments + ["b.key", "--request", "nowhere/b.csr"])
            #expect(nowhere.status == 3 && nowhere.output.isEmpty)
            for file in ["a.key", "b.key"] {
                #expect(!FileManager.default.fileExists(atPath: site.folder.appending(path: file).path))
            }
            let piped = try await site.run(arguments + ["-", "--request", "c.csr"])
            #expect(piped.status == 0 && piped.output.hasPrefix("-----BEGIN PRIVATE KEY-----"))
            #expect(piped.errors.hasPrefix("sha256/"))
        }
    }
}
