#if os(macOS) || os(Linux)
import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import Holdfast

/// Typical output of openssl by hand or a short script: no key identifiers, long validity, an intermediate without
/// extendedKeyUsage, few extensions. The time is that of the clock, since openssl goes by it.
@Suite(
    "A private authority made by openssl itself",
    .needs(.openSSL), .timeLimit(.minutes(15)))
struct PlainAuthorityTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let key: [String]
        var signing: [String] = []

        static let all = [
            Kind(testDescription: "P-256", key: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]),
            Kind(testDescription: "P-384", key: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"]),
            Kind(testDescription: "RSA", key: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]),
            Kind(testDescription: "Ed25519", key: ["-algorithm", "ED25519"]),
            // A salt as long as the digest, as every other verifier wants it (RFC 8446 4.2.3); openssl's default is longer.
            Kind(
                testDescription: "RSA with PSS signatures",
                key: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
                signing: ["-sha256", "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest"]),
            Kind(
                testDescription: "RSA-PSS keys", key: ["-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048"],
                signing: ["-sha256", "-sigopt", "rsa_pss_saltlen:digest"]),
            Kind(
                testDescription: "RSA-PSS keys with parameters",
                key: [
                    "-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048", "-pkeyopt", "rsa_pss_keygen_md:sha256",
                    "-pkeyopt", "rsa_pss_keygen_mgf1_md:sha256", "-pkeyopt", "rsa_pss_keygen_saltlen:32",
                ], signing: ["-sha256"]),
        ]
    }

    private static let settings = """
        [req]
        distinguished_name = dn
        prompt = no
        [dn]
        C = DE
        O = Plain Company
        CN = Plain Root
        [root]
        basicConstraints = critical,CA:TRUE
        [intermediate]
        basicConstraints = CA:TRUE
        keyUsage = keyCertSign,cRLSign
        [leaf]
        subjectAltName = DNS:www.example.com,IP:127.0.0.1
        [ca]
        default_ca = own
        [own]
        database = index.txt
        new_certs_dir = .
        serial = serial
        default_md = sha256
        policy = any
        copy_extensions = copy
        unique_subject = no
        [any]
        commonName = supplied
        """

    private func openssl(_ arguments: [String], in folder: URL) async throws {
        let output = try await OpenSSLProgram.run(arguments, in: folder)
        try #require(output.status == 0, "openssl \(arguments.joined(separator: " ")): \(output.text)")
    }

    private func prepare(_ kind: Kind, in folder: URL) async throws {
        try Data(Self.settings.utf8).write(to: folder.appending(path: "own.cnf"))
        for name in ["root", "intermediate", "leaf"] {
            try await openssl(["genpkey"] + kind.key + ["-out", "\(name).key"], in: folder)
        }
        try await openssl(
            [
                "req", "-x509", "-config", "own.cnf", "-extensions", "root", "-key", "root.key", "-days", "10000",
                "-out", "root.pem",
            ]
                + kind.signing, in: folder)
        for (name, subject) in [("intermediate", "/CN=Plain Intermediate"), ("leaf", "/CN=www.example.com")] {
            try await openssl(
                ["req", "-new", "-config", "own.cnf", "-subj", subject, "-key", "\(name).key", "-out", "\(name).csr"]
                    + kind.signing,
                in: folder)
        }
    }

    private func judge(_ folder: URL, host: String) throws -> TrustFailure.Code? {
        func read(_ name: String) throws -> [[UInt8]] {
            try CertificateFile.read(folder.appending(path: name)).map(\.der)
        }
        let chain = try read("leaf.pem") + read("intermediate.pem")
        return try Judge.complaint(chain, trusting: read("root.pem"), for: host, at: SystemWallClock().now)
    }

    @Test("Its certificates validate in the standard profile, by name and by address", arguments: Kind.all)
    func requests(kind: Kind) async throws {
        try await withTemporaryFolder { folder in
            try await prepare(kind, in: folder)
            for (name, issuer) in [("intermediate", "root"), ("leaf", "intermediate")] {
                try await openssl(
                    [
                        "x509", "-req", "-in", "\(name).csr", "-CA", "\(issuer).pem", "-CAkey", "\(issuer).key",
                        "-CAcreateserial",
                        "-days", "5000", "-extfile", "own.cnf", "-extensions", name, "-out", "\(name).pem",
                    ] + kind.signing, in: folder)
            }
            #expect(try judge(folder, host: "www.example.com") == nil)
            #expect(try judge(folder, host: "127.0.0.1") == nil)
            #expect(try judge(folder, host: "evil.example") == .hostNameMismatch)
        }
    }

    @Test("So do those that openssl ca issues", arguments: [Kind.all[0], Kind.all[2]])
    func database(kind: Kind) async throws {
        try await withTemporaryFolder { folder in
            try await prepare(kind, in: folder)
            try Data().write(to: folder.appending(path: "index.txt"))
            try Data("01\n".utf8).write(to: folder.appending(path: "serial"))
            for (name, issuer) in [("intermediate", "root"), ("leaf", "intermediate")] {
                try await openssl(
                    [
                        "ca", "-batch", "-config", "own.cnf", "-in", "\(name).csr", "-cert", "\(issuer).pem",
                        "-keyfile", "\(issuer).key",
                        "-days", "5000", "-extensions", name, "-out", "\(name).pem",
                    ], in: folder)
            }
            #expect(try judge(folder, host: "www.example.com") == nil)
        }
    }

    @Test("A PSS salt of another length than the digest's is named as the reason")
    func longSalt() async throws {
        let kind = Kind(
            testDescription: "", key: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
            signing: ["-sha256", "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:max"])
        try await withTemporaryFolder { folder in
            try await prepare(kind, in: folder)
            let root = try CertificateFile.read(folder.appending(path: "root.pem"))
            #expect(root.first.map { SignatureRule.algorithmViolation(of: $0)?.code } == .unsupportedSignatureAlgorithm)
        }
    }
}
#endif
