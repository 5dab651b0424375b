import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Signature algorithms")
struct CertificateSignatureAlgorithmTests {
    private func read(_ identifier: TestObjectIdentifier, _ parameters: [UInt8]) throws -> CertificateSignatureAlgorithm
    {
        let bytes = TestDER.objectIdentifier(identifier) + parameters
        return try CertificateSignatureAlgorithm(0..<bytes.count, of: bytes)
    }
    private static let null: [UInt8] = [5, 0]

    @Test(
        "Those of RFC 4055, 5758 and 8410 are known by identifier and parameters",
        arguments: [
            ([1, 2, 840, 113_549, 1, 1, 11], null, .rsaPKCS1(.sha256)),
            ([1, 2, 840, 113_549, 1, 1, 11], [], .rsaPKCS1(.sha256)),
            ([1, 2, 840, 113_549, 1, 1, 12], null, .rsaPKCS1(.sha384)),
            ([1, 2, 840, 113_549, 1, 1, 13], null, .rsaPKCS1(.sha512)),
            ([1, 2, 840, 10_045, 4, 3, 2], [], .ecdsa(.sha256)), ([1, 2, 840, 10_045, 4, 3, 3], [], .ecdsa(.sha384)),
            ([1, 2, 840, 10_045, 4, 3, 4], [], .ecdsa(.sha512)), ([1, 3, 101, 112], [], .ed25519),
            ([1, 2, 840, 113_549, 1, 1, 5], null, .weak("RSA PKCS#1 v1.5 with SHA-1")),
            ([1, 2, 840, 113_549, 1, 1, 4], null, .weak("RSA PKCS#1 v1.5 with MD5")),
            ([1, 2, 840, 10_045, 4, 1], [], .weak("ECDSA with SHA-1")),
        ] as [(TestObjectIdentifier, [UInt8], CertificateSignatureAlgorithm)])
    func known(identifier: TestObjectIdentifier, parameters: [UInt8], expected: CertificateSignatureAlgorithm) throws {
        #expect(try read(identifier, parameters) == expected)
    }

    private static let rsa: [UInt] = [1, 2, 840, 113_549, 1, 1]
    private static let sha256 = "RSA PKCS#1 v1.5 with SHA-256 with parameters"
    private static let others: [([UInt], [UInt8], String)] = [
        (rsa + [11], [2, 1, 0], sha256), (rsa + [11], [5, 0, 0], sha256), (rsa + [11], [5, 0, 5, 0], sha256),
        (rsa + [14], null, "RSA PKCS#1 v1.5 with SHA-224"), (rsa + [2], null, "RSA PKCS#1 v1.5 with MD2"),
        (rsa + [1], null, "RSA"), (rsa, null, "1.2.840.113549.1.1"),
        (rsa + [11, 1], null, "1.2.840.113549.1.1.11.1"), (rsa + [10], [], "RSA-PSS with SHA-1"),
        (rsa + [10], null, "RSA-PSS with unreadable parameters"), (rsa + [10], [0x30, 0], "RSA-PSS with SHA-1"),
        ([1, 2, 840, 10_045, 4, 3, 2], null, "ECDSA with SHA-256 with parameters"),
        ([1, 2, 840, 10_045, 4, 3, 1], [], "ECDSA with SHA-224"),
        ([1, 3, 101, 112], null, "Ed25519 with parameters"), ([1, 3, 101, 113], [], "Ed448"),
        ([1, 2, 840, 10_040, 4, 3], [], "DSA with SHA-1"), ([2, 16, 840, 1, 101, 3, 4, 3, 18], [], "ML-DSA-65"),
    ]

    @Test("Another identifier or other parameters are unsupported, by name", arguments: others)
    func unsupported(arcs: [UInt], parameters: [UInt8], name: String) throws {
        #expect(try read(TestObjectIdentifier(arcs), parameters) == .unsupported(name))
    }

    @Test("A Merkle tree proof is known by its registered identifier and by those of drafts")
    func merkleTreeProof() throws {
        for last: UInt in [0, 5, 127] {
            #expect(try read(TestObjectIdentifier([1, 3, 6, 1, 4, 1, 44_363, 47, last]), []) == .merkleTreeProof)
        }
        #expect(try read([1, 3, 6, 1, 5, 5, 7, 6, 67], []) == .merkleTreeProof)
        for other: TestObjectIdentifier in [
            [1, 3, 6, 1, 5, 5, 7, 6, 66], [1, 3, 6, 1, 4, 1, 44_363, 46, 0], [1, 3, 6, 1, 4, 1, 44_363, 47],
        ] {
            #expect(try read(other, []) != .merkleTreeProof)
        }
    }

    /// RSASSA-PSS-params; `nil` leaves a field out.
    private func pss(hash: UInt?, mask: UInt?, salt: Int?, trailer: Int? = nil, null: [UInt8]) -> [UInt8] {
        func digest(_ last: UInt) -> [UInt8] {
            TestDER.sequence([TestDER.objectIdentifier([2, 16, 840, 1, 101, 3, 4, 2, last]), null])
        }
        let generator = { (last: UInt) in
            TestDER.sequence([TestDER.objectIdentifier([1, 2, 840, 113_549, 1, 1, 8]), digest(last)])
        }
        return TestDER.sequence(
            [
                hash.map { TestDER.context(0, constructed: digest($0)) },
                mask.map { TestDER.context(1, constructed: generator($0)) },
                salt.map { TestDER.context(2, constructed: TestDER.integer($0)) },
                trailer.map { TestDER.context(3, constructed: TestDER.integer($0)) },
            ].compactMap(\.self))
    }

    @Test("PSS is known with one digest for both uses and a salt of its length", arguments: [[], [5, 0]] as [[UInt8]])
    func pss(null: [UInt8]) throws {
        let rsassaPSS: TestObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 10]
        for (last, salt, digest) in [
            (UInt(1), 32, CertificateSignatureAlgorithm.Digest.sha256), (2, 48, .sha384), (3, 64, .sha512),
        ] {
            #expect(try read(rsassaPSS, pss(hash: last, mask: last, salt: salt, null: null)) == .rsaPSS(digest))
            for other in [
                pss(hash: last, mask: last % 3 + 1, salt: salt, null: null),
                pss(hash: last, mask: last, salt: 20, null: null),
                pss(hash: last, mask: last, salt: 0, null: null), pss(hash: last, mask: nil, salt: salt, null: null),
                pss(hash: nil, mask: last, salt: salt, null: null), pss(hash: last, mask: last, salt: nil, null: null),
                pss(hash: last, mask: last, salt: salt, trailer: 1, null: null),
                pss(hash: last, mask: last, salt: salt, trailer: 2, null: null),
                pss(hash: 4, mask: 4, salt: 28, null: null), pss(hash: last, mask: last, salt: salt, null: null) + [0],
            ] {
                #expect(try read(rsassaPSS, other).unsupportedName?.hasPrefix("RSA-PSS with ") == true)
            }
        }
    }

    @Test("An AlgorithmIdentifier without an identifier is an error", arguments: [[], [5, 0], [6]] as [[UInt8]])
    func malformed(content: [UInt8]) {
        #expect(throws: DERError.self) { try CertificateSignatureAlgorithm(0..<content.count, of: content) }
    }
}
