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
            ([1, 2, 840, 113_549, 1, 1, 5], null, .weak("sha1WithRSAEncryption")),
            ([1, 2, 840, 113_549, 1, 1, 4], null, .weak("md5WithRSAEncryption")),
            ([1, 2, 840, 10_045, 4, 1], [], .weak("ecdsa-with-SHA1")),
        ] as [(TestObjectIdentifier, [UInt8], CertificateSignatureAlgorithm)])
    func known(identifier: TestObjectIdentifier, parameters: [UInt8], expected: CertificateSignatureAlgorithm) throws {
        #expect(try read(identifier, parameters) == expected)
    }

    private static let rsa: [UInt] = [1, 2, 840, 113_549, 1, 1]
    private static let others: [([UInt], [UInt8])] = [
        (rsa + [11], [2, 1, 0]), (rsa + [11], [5, 0, 0]), (rsa + [11], [5, 0, 5, 0]), (rsa + [14], null),
        (rsa + [2], null),
        (rsa + [1], null), (rsa, null), (rsa + [11, 1], null), (rsa + [10], []), (rsa + [10], null),
        (rsa + [10], [0x30, 0]),
        ([1, 2, 840, 10_045, 4, 3, 2], null), ([1, 2, 840, 10_045, 4, 3, 1], []), ([1, 3, 101, 112], null),
        ([1, 3, 101, 113], []), ([1, 2, 840, 10_040, 4, 3], []),
    ]

    @Test("Another identifier or other parameters are unsupported", arguments: others)
    func unsupported(arcs: [UInt], parameters: [UInt8]) throws {
        let identifier = TestObjectIdentifier(arcs)
        #expect(try read(identifier, parameters) == .unsupported(identifier.description))
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
                #expect(try read(rsassaPSS, other) == .unsupported("1.2.840.113549.1.1.10"))
            }
        }
    }

    @Test("An AlgorithmIdentifier without an identifier is an error", arguments: [[], [5, 0], [6]] as [[UInt8]])
    func malformed(content: [UInt8]) {
        #expect(throws: DERError.self) { try CertificateSignatureAlgorithm(0..<content.count, of: content) }
    }
}
