#if os(macOS) || os(Linux)
import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import Holdfast

/// Messages that the real openssl wrote.
@Suite("Messages of openssl", .needs(.openSSL), .timeLimit(.minutes(15)))
struct CMSOpenSSLTests {
    private func sign(
        _ text: String, with certificate: TestCertificate, _ arguments: [String]
    ) async throws -> Data {
        try await withTemporaryFolder { folder in
            try certificate.pem.write(to: folder.appending(path: "c.pem"), atomically: true, encoding: .utf8)
            try certificate.key.privateKeyPEM.write(
                to: folder.appending(path: "k.pem"), atomically: true, encoding: .utf8)
            try text.write(to: folder.appending(path: "text"), atomically: true, encoding: .utf8)
            let all =
                arguments + [
                    "-sign", "-nodetach", "-outform", "der", "-in", "text", "-signer", "c.pem", "-inkey", "k.pem",
                    "-out",
                    "message",
                ]
            // The verb comes first, `-keyopt` after the signer that it is for.
            let verb = all[0]
            let options = all.dropFirst().filter { $0 != verb }
            let output = try await OpenSSLProgram.run([verb] + Self.ordered(Array(options)), in: folder)
            #expect(output.status == 0, "\(output.text)")
            return try Data(contentsOf: folder.appending(path: "message"))
        }
    }

    private static func ordered(_ options: [String]) -> [String] {
        guard let end = options.firstIndex(of: "-sign") else { return options }
        return Array(options[end...] + options[..<end])
    }

    @Test(
        "Documents that openssl signs are read, whatever form it gives them",
        arguments: [
            ["smime"], ["smime", "-stream"], ["smime", "-noattr"], ["smime", "-nosmimecap"], ["smime", "-nocerts"],
            ["smime", "-binary"], ["smime", "-md", "sha384"], ["smime", "-md", "sha512", "-stream"], ["cms"],
            ["cms", "-stream"], ["cms", "-noattr"], ["cms", "-nosmimecap"], ["cms", "-md", "sha384"],
            ["cms", "-md", "sha512", "-noattr"],
        ])
    func forms(arguments: [String]) async throws {
        for key in [TestKey.Choice.sharedRSA(bits: 2048, index: 0), .p256] {
            let fixture = try TrustServerFixture(key: key)
            let data = try await sign(fixture.text(), with: fixture.certificate, arguments)
            #expect(try fixture.document(data).entries.map(\.hostname) == ["www.example.com"])
        }
    }

    @Test("A long document in openssl's stream is read", arguments: ["smime", "cms"])
    func long(verb: String) async throws {
        let fixture = try TrustServerFixture()
        let hosts = (0..<400).map { _ in fixture.entry }.joined(separator: ",\n")
        let data = try await sign(fixture.text(hosts), with: fixture.certificate, [verb, "-stream"])
        #expect(try fixture.document(data).entries.count == 400)
    }

    @Test("RSA-PSS of openssl is read", arguments: ["sha256", "sha384", "sha512"])
    func pss(digest: String) async throws {
        let fixture = try TrustServerFixture(key: .sharedRSA(bits: 2048, index: 0))
        let options = ["cms", "-md", digest, "-keyopt", "rsa_padding_mode:pss", "-keyopt", "rsa_pss_saltlen:digest"]
        let data = try await sign(fixture.text(), with: fixture.certificate, options)
        #expect(try fixture.document(data).customer == "gcx")
    }

    @Test(
        "RSA-PSS of openssl is read with the salt that openssl takes by itself, and with any other",
        arguments: [nil, "0", "20", "max", "digest"])
    func salts(length: String?) async throws {
        let fixture = try TrustServerFixture(key: .sharedRSA(bits: 2048, index: 0))
        for digest in ["sha256", "sha512"] {
            let options =
                ["cms", "-md", digest, "-keyopt", "rsa_padding_mode:pss"]
                + (length.map { ["-keyopt", "rsa_pss_saltlen:\($0)"] } ?? [])
            let data = try await sign(fixture.text(), with: fixture.certificate, options)
            #expect(try fixture.document(data).customer == "gcx")
            var altered = data
            altered[altered.count - 1] ^= 1
            #expect(throws: DocumentError(.invalidSignature, expected: "", found: "")) {
                try fixture.document(altered)
            }
        }
    }

    @Test(
        "RSA-PSS is read under keys whose encoded message has an octet less than the modulus",
        arguments: [2_049, 3_071])
    func oddSizes(bits: Int) async throws {
        try await withTemporaryFolder { folder in
            let made = try await OpenSSLProgram.run(
                [
                    "req", "-x509", "-newkey", "rsa:\(bits)", "-nodes", "-subj", "/CN=gcx", "-keyout", "k", "-out", "c",
                    "-outform", "der",
                ], in: folder)
            #expect(made.status == 0, "\(made.text)")
            let certificate = try Data(contentsOf: folder.appending(path: "c"))
            let fixture = try TrustServerFixture()
            try Data(fixture.text().utf8).write(to: folder.appending(path: "text"))
            try Data(TestCertificate.pem([UInt8](certificate)).utf8).write(to: folder.appending(path: "c.pem"))
            let signed = try await OpenSSLProgram.run(
                [
                    "cms", "-sign", "-nodetach", "-outform", "der", "-in", "text", "-signer", "c.pem", "-inkey", "k",
                    "-keyopt", "rsa_padding_mode:pss", "-out", "message",
                ], in: folder)
            #expect(signed.status == 0, "\(signed.text)")
            let data = try Data(contentsOf: folder.appending(path: "message"))
            let document = try fixture.document(data, by: try TrustServerSigner(certificate: certificate))
            #expect(document.customer == "gcx")
        }
    }

    @Test("P-384 and P-521 of openssl are read", arguments: [TestKey.Choice.p384, .p521])
    func curves(key: TestKey.Choice) async throws {
        let fixture = try TrustServerFixture(key: key)
        let data = try await sign(fixture.text(), with: fixture.certificate, ["cms", "-md", "sha512"])
        #expect(try fixture.document(data).customer == "gcx")
    }

    @Test("SHA-1 of openssl is read where it is allowed", arguments: ["smime", "cms"])
    func legacy(verb: String) async throws {
        let fixture = try TrustServerFixture(key: .sharedRSA(bits: 2048, index: 0))
        let data = try await sign(fixture.text(), with: fixture.certificate, [verb, "-md", "sha1"])
        #expect(try fixture.document(data, allowsLegacyDigests: true).customer == "gcx")
        #expect(throws: DocumentError(.legacyDigest, expected: "", found: "")) { try fixture.document(data) }
    }

    @Test("Signers by key identifier, MD5 and two signers of openssl are refused with a reason")
    func refused() async throws {
        let fixture = try TrustServerFixture(key: .sharedRSA(bits: 2048, index: 0))
        let named = try await sign(fixture.text(), with: fixture.certificate, ["cms", "-keyid"])
        #expect(throws: DocumentError(.unsupportedMessage, expected: "", found: "")) { try fixture.document(named) }
        let old = try await sign(fixture.text(), with: fixture.certificate, ["smime", "-md", "md5"])
        #expect(throws: DocumentError(.legacyDigest, expected: "", found: "")) {
            try fixture.document(old, allowsLegacyDigests: true)
        }
    }
}
#endif
