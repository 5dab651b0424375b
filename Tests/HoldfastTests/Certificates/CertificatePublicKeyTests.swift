import Crypto
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Public keys of certificates")
struct CertificatePublicKeyTests {
    typealias Kind = CertificatePublicKey.Kind

    private func read(_ der: [UInt8]) throws(DERError) -> CertificatePublicKey {
        try CertificatePublicKey(0..<der.count, of: der)
    }
    private func key(_ identifier: TestObjectIdentifier, _ parameters: [UInt8], _ bits: [UInt8]) -> [UInt8] {
        let algorithm = TestDER.sequence([TestDER.objectIdentifier(identifier), parameters])
        return TestDER.sequence([algorithm, TestDER.bitString(bits)])
    }
    private func rsa(_ modulus: [UInt8], _ exponent: [UInt8] = [1, 0, 1]) -> [UInt8] {
        TestDER.sequence([TestDER.integer(octets: modulus), TestDER.integer(octets: exponent)])
    }
    private static let rsaEncryption: TestObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 1]
    private static let rsassaPSS: TestObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 10]
    private static let ecPublicKey: TestObjectIdentifier = [1, 2, 840, 10_045, 2, 1]

    @Test(
        "Every kind that the kit makes is known",
        arguments: [
            (.p256, .p256), (.p384, .p384), (.p521, .p521), (.ed25519, .ed25519),
            (.sharedRSA(bits: 1024, index: 0), .rsa(bits: 1024)), (.sharedRSA(bits: 2048, index: 0), .rsa(bits: 2048)),
        ] as [(TestKey.Choice, Kind)])
    func kinds(choice: TestKey.Choice, kind: Kind) throws {
        #expect(try read(TestKey(choice).subjectPublicKeyInfoDER).kind == kind)
    }

    @Test(
        "The size of an RSA key is that of its modulus",
        arguments: [
            ([0x00, 0x80], 127, 1_024), ([0x40], 127, 1_023), ([0x01], 256, 2_049), ([0x00, 0xFF], 1_023, 8_192),
            ([0x00, 0x80], 1_024, 8_200), ([0x7F], 0, 7),
        ] as [([UInt8], Int, Int)])
    func sizes(head: [UInt8], more: Int, bits: Int) throws {
        let modulus = head + [UInt8](repeating: 0xFF, count: more)
        #expect(try read(key(Self.rsaEncryption, TestDER.null, rsa(modulus))).kind == .rsa(bits: bits))
        #expect(try read(key(Self.rsassaPSS, [], rsa(modulus))).kind == .rsaPSS(bits: bits, digest: nil))
    }

    @Test("A modulus that is padded with zeros does not make a weak key a strong one")
    func padding() {
        let weak = [UInt8](repeating: 0, count: 130) + [0x80] + [UInt8](repeating: 0xFF, count: 127)
        #expect(throws: DERError.self) { try read(key(Self.rsaEncryption, TestDER.null, rsa(weak))) }
        #expect(throws: DERError.self) { try read(key(Self.rsaEncryption, TestDER.null, rsa([0x00, 0x7F]))) }
        #expect(throws: DERError.self) {
            try read(key(Self.rsaEncryption, TestDER.null, rsa([0x00, 0x80], [0, 1, 0, 1])))
        }
    }

    @Test("An RSA key of negative or no numbers, or with more than two, is an error")
    func malformedRSA() {
        let good = [UInt8](repeating: 0x7F, count: 256)
        for bits in [
            rsa([0x80] + good), rsa([]), rsa([0]), rsa(good, [0]), rsa(good, [0xFF]), rsa(good, []), [], [0x30, 0x00],
            rsa(good) + [0],
            TestDER.sequence([TestDER.integer(1)]),
            TestDER.sequence([TestDER.integer(1), TestDER.integer(1), TestDER.integer(1)]), [0x02, 0x01, 0x01],
        ] {
            #expect(throws: DERError.self) { try read(key(Self.rsaEncryption, TestDER.null, bits)) }
        }
    }

    @Test("RSA-PSS keys say their digest or none; other parameters are unsupported")
    func pss() throws {
        let modulus = rsa([0x00] + [UInt8](repeating: 0xFF, count: 256))
        for (signature, digest) in [
            (TestSignature.rsaPSS(.sha256), CertificateSignatureAlgorithm.Digest.sha256), (.rsaPSS(.sha384), .sha384),
            (.rsaPSS(.sha512), .sha512),
        ] {
            let certificate = try TestAuthority.selfSigned(names: ["a"], key: .sharedRSA(bits: 2048, index: 0)) {
                $0.signature = signature
            }
            let read = try X509Certificate(der: certificate.der)
            #expect(read.layout.signatureAlgorithm == .rsaPSS(digest))
            let parameters = try #require(CertificateSignatureAlgorithm.pss.first { $0.value == digest }?.key)
            #expect(
                try self.read(key(Self.rsassaPSS, parameters, modulus)).kind == .rsaPSS(bits: 2_048, digest: digest))
        }
        for parameters in [TestDER.null, [0x30, 0x00], TestDER.sequence([TestDER.integer(1)])] {
            guard case .unsupported = try read(key(Self.rsassaPSS, parameters, modulus)).kind else {
                Issue.record("parameters \(parameters) were accepted")
                continue
            }
        }
    }

    @Test(
        "What is not verified is unsupported, by name",
        arguments: [
            (ecPublicKey, TestDER.objectIdentifier([1, 3, 132, 0, 33]), "elliptic curve P-224"),
            (ecPublicKey, TestDER.objectIdentifier([1, 3, 132, 0, 10]), "elliptic curve secp256k1"),
            // explicit parameters, which can name any generator (CVE-2020-0601), none, NULL
            (ecPublicKey, TestDER.sequence([TestDER.integer(1)]), "elliptic curve with explicit parameters"),
            (ecPublicKey, [], "elliptic curve with explicit parameters"),
            (ecPublicKey, TestDER.null, "elliptic curve with explicit parameters"),
            ([1, 3, 101, 112], TestDER.null, "Ed25519 with parameters"), ([1, 3, 101, 113], [], "Ed448"),
            ([1, 2, 840, 10_040, 4, 1], [], "DSA"), ([1, 2, 3, 4], [], "1.2.3.4"),
        ] as [(TestObjectIdentifier, [UInt8], String)])
    func unsupported(identifier: TestObjectIdentifier, parameters: [UInt8], name: String) throws {
        #expect(try read(key(identifier, parameters, [4, 1, 2, 3])).kind == .unsupported(name))
    }

    @Test("A curve's name with something behind it is no curve that is verified")
    func curveWithMore() throws {
        let p256 = TestDER.objectIdentifier([1, 2, 840, 10_045, 3, 1, 7])
        let point = [4] + [UInt8](repeating: 1, count: 64)
        #expect(try read(key(Self.ecPublicKey, p256, point)).kind == .p256)
        #expect(try read(key(Self.ecPublicKey, p256 + TestDER.null, point)).kind != .p256)
        #expect(
            try read(key(Self.rsaEncryption, TestDER.integer(1), rsa([1]))).kind == .unsupported("RSA with parameters"))
    }

    @Test("A BIT STRING with unused bits, or none at all, is an error")
    func bitStrings() {
        let algorithm = TestDER.sequence([TestDER.objectIdentifier([1, 3, 101, 112])])
        for bits in [TestDER.bitString([1], unusedBits: 1), TestDER.element(3, []), TestDER.octetString([0, 1])] {
            #expect(throws: DERError.self) { try read(TestDER.sequence([algorithm, bits])) }
        }
        #expect(throws: DERError.self) { try read(TestDER.sequence([algorithm, TestDER.bitString([1])]) + [0]) }
    }

    private static let choices: [(TestKey.Choice, TestSignature, CertificateSignatureAlgorithm)] = [
        (.p256, .ecdsa(.sha256), .ecdsa(.sha256)), (.p256, .ecdsa(.sha384), .ecdsa(.sha384)),
        (.p256, .ecdsa(.sha512), .ecdsa(.sha512)), (.p384, .ecdsa(.sha256), .ecdsa(.sha256)),
        (.p384, .ecdsa(.sha384), .ecdsa(.sha384)), (.p384, .ecdsa(.sha512), .ecdsa(.sha512)),
        (.p521, .ecdsa(.sha256), .ecdsa(.sha256)), (.p521, .ecdsa(.sha384), .ecdsa(.sha384)),
        (.p521, .ecdsa(.sha512), .ecdsa(.sha512)), (.ed25519, .ed25519, .ed25519),
        (.sharedRSA(bits: 2048, index: 0), .rsaPKCS1(.sha256), .rsaPKCS1(.sha256)),
        (.sharedRSA(bits: 2048, index: 0), .rsaPKCS1(.sha384), .rsaPKCS1(.sha384)),
        (.sharedRSA(bits: 2048, index: 0), .rsaPKCS1(.sha512), .rsaPKCS1(.sha512)),
        (.sharedRSA(bits: 2048, index: 0), .rsaPSS(.sha256), .rsaPSS(.sha256)),
        (.sharedRSA(bits: 2048, index: 0), .rsaPSS(.sha384), .rsaPSS(.sha384)),
        (.sharedRSA(bits: 2048, index: 0), .rsaPSS(.sha512), .rsaPSS(.sha512)),
    ]

    @Test("A signature verifies under its key, over its message, by its algorithm, and not otherwise")
    func verification() throws {
        let message: [UInt8] = Array("message".utf8)
        for (choice, made, algorithm) in Self.choices {
            let secret = try TestKey(choice)
            let key = try read(secret.subjectPublicKeyInfoDER)
            var signature = try secret.signature(of: message, by: made)
            #expect(key.verifies(signature[...], over: message[...], with: algorithm) == true, "\(algorithm)")
            #expect(key.verifies(signature[...], over: [0], with: algorithm) == false, "\(algorithm)")
            #expect(key.verifies([], over: message[...], with: algorithm) == false, "\(algorithm)")
            for (_, _, other) in Self.choices where other != algorithm {
                #expect(
                    key.verifies(signature[...], over: message[...], with: other) != true, "\(algorithm) as \(other)")
            }
            for never in [CertificateSignatureAlgorithm.weak("x"), .unsupported("x")] {
                #expect(key.verifies(signature[...], over: message[...], with: never) == nil)
            }
            signature[signature.count / 2] ^= 1
            #expect(key.verifies(signature[...], over: message[...], with: algorithm) == false, "\(algorithm)")
        }
    }

    @Test("Key and algorithm of different kinds do not go together")
    func mismatch() throws {
        let (p256, ed25519) = (
            try read(TestKey(.p256).subjectPublicKeyInfoDER), try read(TestKey(.ed25519).subjectPublicKeyInfoDER)
        )
        let rsa = try read(TestKey(.sharedRSA(bits: 2048, index: 0)).subjectPublicKeyInfoDER)
        #expect(p256.verifies([1], over: [1], with: .rsaPKCS1(.sha256)) == nil)
        #expect(p256.verifies([1], over: [1], with: .ed25519) == nil)
        #expect(ed25519.verifies([1], over: [1], with: .ecdsa(.sha256)) == nil)
        #expect(rsa.verifies([1], over: [1], with: .ecdsa(.sha256)) == nil)
    }

    @Test("A key for PSS verifies no PKCS#1 signature, and one with a digest only that digest's")
    func pssKeys() throws {
        let secret = try TestKey(.sharedRSA(bits: 2048, index: 0))
        let plain = secret.subjectPublicKeyInfoDER
        // The BIT STRING is the same; only the identifier of the algorithm differs.
        var reader = DERReader(plain)
        var fields = reader.inside(try reader.next())
        _ = try fields.next()
        let bits = Array(plain[try fields.next().content].dropFirst())
        let any = try read(key(Self.rsassaPSS, [], bits))
        let parameters = try #require(CertificateSignatureAlgorithm.pss.first { $0.value == .sha256 }?.key)
        let only256 = try read(key(Self.rsassaPSS, parameters, bits))
        let pkcs1 = try secret.signature(of: [1], by: .rsaPKCS1(.sha256))
        let (pss256, pss384) = (
            try secret.signature(of: [1], by: .rsaPSS(.sha256)), try secret.signature(of: [1], by: .rsaPSS(.sha384))
        )
        #expect(any.verifies(pkcs1[...], over: [1], with: .rsaPKCS1(.sha256)) == nil)
        #expect(any.verifies(pss256[...], over: [1], with: .rsaPSS(.sha256)) == true)
        #expect(any.verifies(pss384[...], over: [1], with: .rsaPSS(.sha384)) == true)
        #expect(only256.verifies(pss256[...], over: [1], with: .rsaPSS(.sha256)) == true)
        #expect(only256.verifies(pss384[...], over: [1], with: .rsaPSS(.sha384)) == nil)
    }

    @Test("Keys of no sense verify nothing")
    func nonsense() throws {
        let p256 = TestDER.objectIdentifier([1, 2, 840, 10_045, 3, 1, 7])
        // not on the curve, compressed, infinity, empty
        for point in [[4] + [UInt8](repeating: 1, count: 64), [2] + [UInt8](repeating: 1, count: 32), [0], []]
            as [[UInt8]]
        {
            let key = try read(key(Self.ecPublicKey, p256, point))
            #expect(key.verifies([0x30, 6, 2, 1, 1, 2, 1, 1], over: [1], with: .ecdsa(.sha256)) != true)
            #expect((key.kind == .p256) == (point.count == 65))
        }
        // RSA with exponent 1: everything would be its own signature
        let modulus = [0x00] + [UInt8](repeating: 0xFF, count: 256)
        for exponent in [[1], [2]] as [[UInt8]] {
            let key = try read(key(Self.rsaEncryption, TestDER.null, rsa(modulus, exponent)))
            #expect(key.verifies([UInt8](repeating: 0, count: 256)[...], over: [1], with: .rsaPKCS1(.sha256)) != true)
        }
        let weak = try TestKey(.sharedRSA(bits: 1024, index: 0))
        let signature = try weak.signature(of: [1], by: .rsaPKCS1(.sha256))
        #expect(
            try read(weak.subjectPublicKeyInfoDER).verifies(signature[...], over: [1], with: .rsaPKCS1(.sha256))
                == false)
    }

    @Test("An RSA signature of another length than the modulus, or not below it, verifies under no library")
    func lengthsOfSignatures() throws {
        let secret = try TestKey(.sharedRSA(bits: 2048, index: 0))
        let key = try read(secret.subjectPublicKeyInfoDER)
        for (made, algorithm) in [
            (TestSignature.rsaPKCS1(.sha256), CertificateSignatureAlgorithm.rsaPKCS1(.sha256)),
            (.rsaPSS(.sha256), .rsaPSS(.sha256)),
        ] {
            let signature = try secret.signature(of: [1], by: made)
            #expect(key.verifies(signature[...], over: [1], with: algorithm) == true)
            #expect(key.verifies([0] + signature, over: [1], with: algorithm) == false)
            #expect(key.verifies(signature + [0], over: [1], with: algorithm) == false)
            #expect(key.verifies([UInt8](repeating: 0xFF, count: 256)[...], over: [1], with: algorithm) == false)
        }
    }

    @Test("Legacy RSA verifies SHA-1, and nothing else")
    func legacy() throws {
        let secret = try TestKey(.sharedRSA(bits: 2048, index: 0))
        let key = try read(secret.subjectPublicKeyInfoDER)
        let signature = try secret.signature(of: [1], by: .rsaPKCS1(.sha1))
        #expect(key.verifiesLegacyRSA(signature[...], over: [1]) == true)
        #expect(key.verifiesLegacyRSA(signature[...], over: [2]) == false)
        let newer = try secret.signature(of: [1], by: .rsaPKCS1(.sha256))
        #expect(key.verifiesLegacyRSA(newer[...], over: [1]) == false)
    }

    @Test("RSA keys with an exponent above 33 bits, or above 8,192 bits, verify nothing")
    func expensiveKeys() throws {
        let modulus = [UInt8](repeating: 0xFF, count: 256)
        #expect(RSAVerificationKey(modulus: modulus[...], exponent: [1, 0xFF, 0xFF, 0xFF, 0xFF]) != nil)
        #expect(RSAVerificationKey(modulus: modulus[...], exponent: [2, 0, 0, 0, 1]) == nil)
        let long = [1] + [UInt8](repeating: 0xFF, count: 1_024)
        #expect(RSAVerificationKey(modulus: long[...], exponent: [1, 0, 1]) == nil)
        #expect(RSAVerificationKey(modulus: modulus.dropLast(), exponent: [1, 0, 1]) == nil)
    }
}
