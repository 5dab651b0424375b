import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Rule: keys are supported and strong")
struct KeyStrengthRuleTests {
    private static func rsa(_ modulus: [UInt8], _ identifier: TestObjectIdentifier, _ parameters: [UInt8])
        -> CertificateSpecification
    {
        let numbers = TestDER.sequence([TestDER.integer(octets: modulus), TestDER.integer(65_537)])
        return .testLeaf.with {
            $0.subjectPublicKeyInfo = TestDER.sequence([
                TestDER.sequence([TestDER.objectIdentifier(identifier), parameters]), TestDER.bitString(numbers),
            ])
        }
    }
    private static func rsa(_ head: [UInt8], _ more: Int) -> CertificateSpecification {
        rsa(head + [UInt8](repeating: 0xFF, count: more), [1, 2, 840, 113_549, 1, 1, 1], TestDER.null)
    }
    private static func pss(_ head: [UInt8], _ more: Int) -> CertificateSpecification {
        rsa(head + [UInt8](repeating: 0xFF, count: more), [1, 2, 840, 113_549, 1, 1, 10], [])
    }

    @Test(
        "RSA has 2048 to 8192 bits",
        arguments: [
            (rsa([0, 0x80], 255), nil), (rsa([0x7F], 255), .weakKey), (rsa([0, 0x80], 127), .weakKey),
            (rsa([1], 0), .weakKey),
            (rsa([0], 0), .unsupportedKey), (rsa([0, 0x80], 1_023), nil), (rsa([1], 1_024), .unsupportedKey),
            (rsa([0, 0x80], 1_024), .unsupportedKey),
            (rsa([0, 0x80], 100_000), .unsupportedKey), (pss([0, 0x80], 255), nil), (pss([0x7F], 255), .weakKey),
            (pss([1], 1_024), .unsupportedKey),
            // RSA 1024 behind zeros
            (rsa([UInt8](repeating: 0, count: 130) + [0x80], 127), .unsupportedKey),
            (rsa([0x80], 255), .unsupportedKey),
        ] as [(CertificateSpecification, TrustFailure.Code?)])
    func rsaSizes(specification: CertificateSpecification, code: TrustFailure.Code?) throws {
        #expect(try Judge.violation(of: KeyStrengthRule(), specification) == code)
    }

    @Test("The curves that are verified pass", arguments: [.p256, .p384, .p521, .ed25519] as [TestKey.Choice])
    func curves(key: TestKey.Choice) throws {
        #expect(try Judge.violation(of: KeyStrengthRule(), .testLeaf, key: key) == nil)
    }

    @Test(
        "What is no SubjectPublicKeyInfo, or another kind, is unsupported",
        arguments: [
            [0x30, 0],
            TestDER.sequence([
                TestDER.sequence([TestDER.objectIdentifier([1, 3, 101, 113])]), TestDER.bitString([1]),
            ]),
        ])
    func others(key: [UInt8]) throws {
        let specification = CertificateSpecification.testLeaf.with { $0.subjectPublicKeyInfo = key }
        #expect(try Judge.violation(of: KeyStrengthRule(), specification) == .unsupportedKey)
    }
}
