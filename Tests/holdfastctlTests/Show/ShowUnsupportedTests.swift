import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl show and algorithms that are not supported", .timeLimit(.minutes(15)))
struct ShowUnsupportedTests {
    private static let mlDSA65: TestObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 3, 18]

    private static func signatures(
        _ site: SigningSite, _ arguments: [String], status: Int32 = 1
    ) async throws -> [ShowTests.Report.Item.Signature] {
        let run = try await site.run(["show", "--json"] + arguments)
        #expect(run.status == status, "\(run.errors)")
        return try run.json(ShowTests.Report.self).items.compactMap(\.signature)
    }

    /// A pair of parameters of openssl, and the name that must be in the message.
    struct Kind: Sendable, CustomTestStringConvertible {
        let name: String
        let arguments: [String]

        var testDescription: String { name }
    }

    @Test(
        "A valid certificate or request of openssl whose algorithm is not supported is refused, and not called invalid",
        .needs(.openSSL),
        arguments: [
            Kind(name: "Ed448", arguments: ["-newkey", "ed448"]),
            Kind(name: "secp256k1", arguments: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:secp256k1"]),
            Kind(
                name: "brainpoolP256r1", arguments: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:brainpoolP256r1"]),
            Kind(name: "SHA-1", arguments: ["-newkey", "rsa:2048", "-sha1"]),
            Kind(name: "RSA of 1024 bits", arguments: ["-newkey", "rsa:1024"]),
            Kind(name: "SHA3-256", arguments: ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-sha3-256"]),
            Kind(name: "DSA", arguments: ["-newkey", "dsa:dsa.pem"]),
        ])
    func certificates(kind: Kind) async throws {
        try await SigningSite.with { site in
            if kind.name == "DSA" {
                let parameters = try await OpenSSLProgram.run(
                    ["dsaparam", "-out", "dsa.pem", "2048"], in: site.folder)
                #expect(parameters.status == 0, "\(parameters.text)")
            }
            for (file, isCertificate) in [("one.pem", true), ("one.csr", false)] {
                let made = try await OpenSSLProgram.run(
                    ["req"] + (isCertificate ? ["-x509", "-days", "30"] : []) + kind.arguments + [
                        "-nodes", "-keyout", "key2.pem", "-subj", "/CN=a.example", "-out", file,
                    ], in: site.folder)
                #expect(made.status == 0, "\(made.text)")
                let found = try #require(try await Self.signatures(site, [file]).first)
                #expect(found.state == "unsupported" && found.text.contains(kind.name), "\(found.text)")
                let text = try await site.run(["show", file])
                #expect(text.status == 1 && !text.output.contains("signature  invalid"), "\(text.output)")
            }
            // A changed one of an algorithm that is supported still is.
            let changed = try TestAuthority.selfSigned(names: ["a.example"]) { $0.faults = [.flippedSignatureBit] }
            try site.write("changed.pem", changed.pem)
            #expect(try await Self.signatures(site, ["changed.pem"]).map(\.state) == ["invalid"])
        }
    }

    @Test("ML-DSA is named, whether the issuer's certificate is there or not, and in a revocation list")
    func postQuantum() async throws {
        try await SigningSite.with { site in
            let own = try TestAuthority.selfSigned(names: ["a.example"]) { $0.signature = .foreign(Self.mlDSA65) }
            try site.write("own.pem", own.pem)
            let leaf = try site.leaf("chain.pem") { $0.signature = .foreign(Self.mlDSA65) }
            try site.write("leaf.pem", leaf.pem)
            let list = try site.issuing.revocationList { $0.signature = .foreign(Self.mlDSA65) }
            try Data(list).write(to: site.folder.appending(path: "list.crl"))
            for file in ["own.pem", "chain.pem", "leaf.pem", "list.crl"] {
                let found = try #require(try await Self.signatures(site, [file]).first)
                #expect(found.state == "unsupported" && found.text.contains("ML-DSA-65"), "\(file): \(found.text)")
            }
        }
    }

    @Test("A root whose only key is of ML-DSA is not called altered or badly signed, and the scheme is named")
    func metadata() async throws {
        try await SigningSite.with { site in
            let key: [String: Any] = ["keytype": "ml-dsa", "scheme": "ml-dsa-65", "keyval": ["public": "00"]]
            let role: [String: Any] = ["keyids": ["k"], "threshold": 1]
            let signed: [String: Any] = [
                "_type": "root", "spec_version": "1.0.31", "version": 1, "expires": "2100-01-01T00:00:00Z",
                "consistent_snapshot": true, "keys": ["k": key],
                "roles": ["root": role, "timestamp": role, "snapshot": role, "targets": role],
            ]
            let signature = ["keyid": "k", "sig": String(repeating: "0a", count: 3_309)]
            let data = try JSONSerialization.data(withJSONObject: ["signed": signed, "signatures": [signature]])
            try data.write(to: site.folder.appending(path: "1.root.json"))
            let found = try #require(try await Self.signatures(site, ["1.root.json"]).first)
            #expect(found.state == "unsupported" && found.text.contains("ml-dsa-65"), "\(found.text)")
        }
    }

    @Test(
        "A trust server's document whose signer has a key that is not supported is not called altered",
        .needs(.openSSL))
    func trustServerDocument() async throws {
        try await SigningSite.with { site in
            let leaf = try TestAuthority.root().leaf(names: ["a.example"])
            let json = try TestTrustServer.json(
                customer: "gcx", at: SystemWallClock().now, [.init("a.example", [leaf])])
            try Data(json).write(to: site.folder.appending(path: "gcx.json"))
            for arguments in [
                [
                    "req", "-x509", "-days", "30", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", "gcx.key", "-subj", "/CN=gcx", "-out", "gcx.pem",
                ],
                [
                    "smime", "-sign", "-nodetach", "-binary", "-outform", "der", "-signer", "gcx.pem", "-inkey",
                    "gcx.key", "-in", "gcx.json", "-out", "gcx.signed",
                ],
            ] {
                let made = try await OpenSSLProgram.run(arguments, in: site.folder)
                #expect(made.status == 0, "\(made.text)")
            }
            var document = [UInt8](try Data(contentsOf: site.folder.appending(path: "gcx.signed")))
            // In its certificate id-ecPublicKey (RFC 5480 2.1.1) becomes an algorithm that is none.
            let key: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
            document[try #require(document.firstRange(of: key)).upperBound - 1] = 0x7F
            try Data(document).write(to: site.folder.appending(path: "gcx.signed"))
            let found = try #require(try await Self.signatures(site, ["gcx.signed"]).first)
            #expect(found.state == "unsupported" && found.text.contains("1.2.840.10045.2.127"), "\(found.text)")
        }
    }

    @Test("No fingerprint of a Merkle Tree Certificate is printed or signed; the pin of its key is")
    func merkleTreeCertificate() async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("mtc.pem") { $0.signature = .foreign([1, 3, 6, 1, 4, 1, 44_363, 47, 0]) }
            let (pin, key) = (Pin.certificate(leaf.der).description, try Pin.publicKey(of: leaf.der).description)
            for arguments in [["show", "mtc.pem"], ["pin", "mtc.pem"], ["show", "--json", "mtc.pem"]] {
                let run = try await site.run(arguments)
                #expect(!run.output.contains(pin) && run.output.contains(key.suffix(20)), "\(run.output)")
                #expect(run.output.contains("Merkle"))
            }
            let run = try await site.sign(["mtc.pem", "--allow-untrusted", "-o", "pins.json"])
            #expect(run.status == 1 && run.errors.contains("merkleTreeCertificate"), "\(run.status) \(run.errors)")
            #expect(!FileManager.default.fileExists(atPath: site.folder.appending(path: "pins.json").path))
        }
    }
}
