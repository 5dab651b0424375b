import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Rule: a certificate is signed by its issuer's key")
struct SignatureRuleTests {
    @Test("The right key and untouched content verify, others do not")
    func signature() throws {
        let (root, other) = (try Judge.root(), try Judge.root())
        let issuer = try X509Certificate(der: root.certificate.der)
        func code(_ faults: [CertificateFault]) throws -> TrustFailure.Code? {
            let leaf = try X509Certificate(der: root.leaf(names: ["a"]) { $0.faults = faults }.der)
            return SignatureRule.violation(of: leaf, by: issuer)?.code
        }
        #expect(try code([]) == nil)
        #expect(try code([.signedBy(other.certificate.key)]) == .invalidSignature)
        #expect(try code([.flippedSignatureBit]) == .invalidSignature)
        #expect(try code([.contentAfterSigning { Array($0.dropLast()) + [$0[$0.count - 1] ^ 1] }]) == .invalidSignature)
        #expect(
            try code([.innerSignatureAlgorithm(.ecdsa(.sha384)), .outerSignatureAlgorithm(.ecdsa(.sha384))])
                == .invalidSignature)
        #expect(
            try code([.innerSignatureAlgorithm(.ed25519), .outerSignatureAlgorithm(.ed25519)]) == .invalidSignature)
    }

    @Test("SHA-1 and MD5 are weak, what is not verified is unsupported")
    func algorithms() throws {
        for (key, signature, code) in [
            (.p256, .ecdsa(.sha256), nil), (.p256, .ecdsa(.sha1), .weakSignatureAlgorithm),
            (.sharedRSA(bits: 2048, index: 0), .rsaPKCS1(.sha1), .weakSignatureAlgorithm),
            (.sharedRSA(bits: 2048, index: 0), .rsaPKCS1(.sha256), nil),
            (.sharedRSA(bits: 2048, index: 0), .rsaPSS(.sha512), nil),
            (.sharedRSA(bits: 2048, index: 0), .rsaPSS(.sha1), .unsupportedSignatureAlgorithm),
            (.ed25519, .ed25519, nil),
        ] as [(TestKey.Choice, TestSignature, TrustFailure.Code?)] {
            let made = try TestAuthority.selfSigned(names: ["a"], key: key) { $0.signature = signature }
            #expect(
                SignatureRule.algorithmViolation(of: try X509Certificate(der: made.der))?.code == code, "\(signature)")
        }
    }
}
