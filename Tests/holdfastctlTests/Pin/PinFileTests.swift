import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("holdfastctl pin FILE", .timeLimit(.minutes(15)))
struct PinFileTests {
    static let kinds: [TestKey.Choice] = [
        .p256, .p384, .p521, .ed25519, .sharedRSA(bits: 2048, index: 0), .sharedRSA(bits: 3072, index: 0),
    ]

    private func pins(_ run: CommandRun) -> [String] {
        run.lines.filter { $0.hasPrefix("sha256/") }.map(String.init)
    }

    private func keyPin(_ key: TestKey) throws -> String {
        try Pin.publicKey(spkiDER: key.subjectPublicKeyInfoDER).description
    }

    @Test("A certificate, its private and its public key have one pin, in PEM and DER", arguments: kinds)
    func onePin(kind: TestKey.Choice) async throws {
        try await withTemporaryFolder { folder in
            let certificate = try TestAuthority.root().leaf(names: ["api.example.com"], key: kind)
            let key = certificate.key
            let files: [(String, [UInt8])] = [
                ("a.pem", Array(certificate.pem.utf8)), ("a.der", certificate.der),
                ("b.pem", Array(key.privateKeyPEM.utf8)), ("b.der", key.privateKeyDER),
                ("c.pem", Array(key.publicKeyPEM.utf8)), ("c.der", key.subjectPublicKeyInfoDER),
            ]
            for (name, octets) in files { try Data(octets).write(to: folder.appending(path: name)) }
            let run = try await CommandRun.inProcess(["pin"] + files.map(\.0), in: folder)
            #expect(run.status == 0)
            #expect(run.errors.isEmpty)
            #expect(pins(run) == Array(repeating: try keyPin(key), count: files.count))
            #expect(run.lines.filter { $0 == Pin.certificate(certificate.der).description }.count == 2)
            #expect(!run.output.contains("unknown kind"))
        }
    }

    @Test("A file of several blocks has an entry for each, in order; what has no key is skipped and named")
    func severalBlocks() async throws {
        try await withTemporaryFolder { folder in
            let site = try TestSite()
            let parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
            let text = parameters + "# text between\n" + site.leaf.chainPEM + site.leaf.key.privateKeyPEM
            try Data(text.utf8).write(to: folder.appending(path: "all.pem"))
            let run = try await CommandRun.inProcess(["pin", "all.pem"], in: folder)
            #expect(run.status == 0)
            #expect(pins(run) == [try site.keyPins()[0], try site.keyPins()[1], try site.keyPins()[0]])
            #expect(run.lines.first?.hasPrefix("# all.pem #2, CN=api.example.com, P-256, until ") == true)
            #expect(run.errors.contains("EC PARAMETERS"))
        }
    }

    @Test("A pipe is a file like any other")
    func pipe() async throws {
        try await withTemporaryFolder { folder in
            let site = try TestSite()
            try Data(site.leaf.pem.utf8).write(to: folder.appending(path: "leaf.pem"))
            let run = try await CommandRun.shell(
                "\"$HOLDFASTCTL\" pin <(cat leaf.pem) && cat leaf.pem | \"$HOLDFASTCTL\" pin /dev/stdin", in: folder)
            #expect(run.status == 0 && run.errors.contains("/dev/stdin has no backup pin"), "\(run.errors)")
            let pin = try site.keyPins()[0]
            #expect(pins(run) == [pin, pin])
        }
    }

    @Test("The pin file takes lone keys for backups, and each pin once")
    func swiftCode() async throws {
        try await withTemporaryFolder { folder in
            let root = try TestAuthority.root()
            let site = (root: root, leaf: try root.leaf(names: ["*.example.com"]))
            let backup = try TestKey()
            try Data(site.leaf.pem.utf8).write(to: folder.appending(path: "leaf.pem"))
            try Data((site.leaf.key.privateKeyPEM + backup.privateKeyPEM).utf8)
                .write(to: folder.appending(path: "keys.pem"))
            let run = try await CommandRun.inProcess(
                ["pin", "leaf.pem", "keys.pem", "--format", "json", "--host", "*.example.com"], in: folder)
            #expect(run.status == 0)
            let host = try #require(try PinFile(json: Data(run.output.utf8)).hosts.first)
            #expect(host.pattern.description == "*.example.com")
            #expect(try host.pins.map(\.pin.description) == [keyPin(site.leaf.key), keyPin(backup)])
            #expect(host.pins.map(\.state) == [.active, .backup])
        }
    }

    @Test("A file that cannot be used exits with 3 and is named")
    func unusable() async throws {
        try await withTemporaryFolder { folder in
            let files: [String: String] = [
                "empty.pem": "", "text.pem": "no PEM in here",
                "cut.pem": "-----BEGIN CERTIFICATE-----\nMIIB\n",
                "junk.pem": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                "key.pem": "-----BEGIN PRIVATE KEY-----\nMAMCAQA=\n-----END PRIVATE KEY-----\n",
                "other.pem": "-----BEGIN DH PARAMETERS-----\nMAMCAQA=\n-----END DH PARAMETERS-----\n",
                "zero.der": "\u{30}\u{0}",
            ]
            for (name, text) in files { try Data(text.utf8).write(to: folder.appending(path: name)) }
            for name in files.keys.sorted() + ["missing.pem", "."] {
                let run = try await CommandRun.inProcess(["pin", name, name], in: folder)
                #expect(run.status == 3, "\(name)")
                #expect(run.output.isEmpty)
                let isNamed = [": ", " "].contains { run.errors.contains("holdfastctl: \(name)\($0)") }
                #expect(isNamed, "\(run.errors)")
            }
        }
    }
}

@Suite("Pins and openssl", .needs(.openSSL), .timeLimit(.minutes(15)))
struct PinForeignTests {
    /// The pin that the usual openssl commands make of a public key in PEM.
    private func opensslPin(ofPublicKey file: String, in folder: URL) async throws -> String {
        try await openssl(["pkey", "-pubin", "-in", file, "-outform", "der", "-out", "spki.der"], in: folder)
        try await openssl(["dgst", "-sha256", "-binary", "-out", "digest", "spki.der"], in: folder)
        return "sha256/" + (try Data(contentsOf: folder.appending(path: "digest"))).base64EncodedString()
    }

    private func openssl(_ arguments: [String], in folder: URL) async throws {
        let output = try await OpenSSLProgram.run(arguments, in: folder)
        try #require(output.status == 0, "openssl \(arguments.joined(separator: " ")): \(output.text)")
    }

    private func pins(_ files: [String], in folder: URL) async throws -> [String] {
        let run = try await CommandRun.inProcess(["pin"] + files, in: folder)
        #expect(run.status == 0, "\(run.errors)")
        return run.lines.filter { $0.hasPrefix("sha256/") }.map(String.init)
    }

    @Test("openssl makes the same pin of a certificate with a key of every kind", arguments: PinFileTests.kinds)
    func certificates(kind: TestKey.Choice) async throws {
        try await withTemporaryFolder { folder in
            let certificate = try TestAuthority.root().leaf(names: ["api.example.com"], key: kind)
            try Data(certificate.pem.utf8).write(to: folder.appending(path: "cert.pem"))
            try await openssl(["x509", "-in", "cert.pem", "-pubkey", "-noout", "-out", "pub.pem"], in: folder)
            let expected = try await opensslPin(ofPublicKey: "pub.pem", in: folder)
            #expect(try await pins(["cert.pem"], in: folder) == [expected])
        }
    }

    @Test(
        "Private keys and requests of openssl give the pin of their public key, in each of their forms",
        arguments: [
            ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"], ["EC", "-pkeyopt", "ec_paramgen_curve:P-384"],
            ["EC", "-pkeyopt", "ec_paramgen_curve:P-521"], ["ED25519"], ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
            ["RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048"],
        ])
    func keys(algorithm: [String]) async throws {
        try await withTemporaryFolder { folder in
            try await openssl(["genpkey", "-out", "key.pem", "-algorithm"] + algorithm, in: folder)
            try await openssl(["pkey", "-in", "key.pem", "-pubout", "-out", "pub.pem"], in: folder)
            try await openssl(["pkey", "-in", "key.pem", "-outform", "der", "-out", "key.der"], in: folder)
            try await openssl(["req", "-new", "-key", "key.pem", "-subj", "/CN=backup", "-out", "key.csr"], in: folder)
            let expected = try await opensslPin(ofPublicKey: "pub.pem", in: folder)
            var files = ["key.pem", "key.der", "pub.pem", "key.csr"]
            if algorithm[0] == "EC" || algorithm[0] == "RSA" {
                try await openssl(
                    ["pkey", "-in", "key.pem", "-traditional", "-out", "old.pem"], in: folder)
                try await openssl(
                    ["pkey", "-in", "key.pem", "-traditional", "-outform", "der", "-out", "old.der"], in: folder)
                files += ["old.pem", "old.der"]
            }
            #expect(try await pins(files, in: folder) == Array(repeating: expected, count: files.count))
        }
    }

    @Test("A request that is not signed with its key is marked")
    func forgedRequest() async throws {
        try await withTemporaryFolder { folder in
            try await openssl(["genpkey", "-algorithm", "ED25519", "-out", "key.pem"], in: folder)
            try await openssl(
                ["req", "-new", "-key", "key.pem", "-subj", "/CN=backup", "-outform", "der", "-out", "good.csr"],
                in: folder)
            var der = Array(try Data(contentsOf: folder.appending(path: "good.csr")))
            der[der.count - 1] ^= 1
            try Data(der).write(to: folder.appending(path: "bad.csr"))
            let good = try await CommandRun.inProcess(["pin", "good.csr"], in: folder)
            #expect(good.lines.first == "# good.csr, certificate request, CN=backup, Ed25519")
            let bad = try await CommandRun.inProcess(["pin", "bad.csr"], in: folder)
            #expect(bad.lines.first?.hasSuffix("its signature does NOT verify") == true)
        }
    }

    @Test("Encrypted keys and unsupported ones give a clear error and exit with 3")
    func unusableKeys() async throws {
        try await withTemporaryFolder { folder in
            try await openssl(
                ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "key.pem"], in: folder)
            let encryption = ["-aes256", "-passout", "pass:secret"]
            try await openssl(["pkey", "-in", "key.pem", "-out", "new.pem"] + encryption, in: folder)
            try await openssl(["pkey", "-in", "key.pem", "-traditional", "-out", "old.pem"] + encryption, in: folder)
            try await openssl(
                ["pkcs8", "-topk8", "-in", "key.pem", "-outform", "der", "-out", "new.der", "-passout", "pass:secret"],
                in: folder)
            for file in ["new.pem", "old.pem", "new.der"] {
                let run = try await CommandRun.inProcess(["pin", file], in: folder)
                #expect(run.status == 3)
                #expect(run.output.isEmpty)
                #expect(run.errors.contains("\(file): expected a public key, found an encrypted private key"))
            }
            try await openssl(
                ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1", "-out", "other.pem"],
                in: folder)
            let run = try await CommandRun.inProcess(["pin", "other.pem"], in: folder)
            #expect(run.status == 3)
            #expect(run.errors.contains("its elliptic curve is not P-256, P-384 or P-521"))
        }
    }
}
