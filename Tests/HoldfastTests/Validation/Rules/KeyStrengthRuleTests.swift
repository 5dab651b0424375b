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

    private struct Key: CustomTestStringConvertible {
        let specification: CertificateSpecification
        let code: TrustFailure.Code?
        var testDescription: String {
            "\(specification.subjectPublicKeyInfo?.count ?? 0) octets, \(code?.rawValue ?? "accepted")"
        }
    }

    @Test(
        "RSA has 2048 to 8192 bits",
        arguments: ([
            (rsa([0, 0x80], 255), nil), (rsa([0x7F], 255), .weakKey), (rsa([0, 0x80], 127), .weakKey),
            (rsa([1], 0), .weakKey),
            (rsa([0], 0), .unsupportedKey), (rsa([0, 0x80], 1_023), nil), (rsa([1], 1_024), .unsupportedKey),
            (rsa([0, 0x80], 1_024), .unsupportedKey),
            (rsa([0, 0x80], 100_000), .unsupportedKey), (pss([0, 0x80], 255), nil), (pss([0x7F], 255), .weakKey),
            (pss([1], 1_024), .unsupportedKey),
            // RSA 1024 behind zeros
            (rsa([UInt8](repeating: 0, count: 130) + [0x80], 127), .unsupportedKey),
            (rsa([0x80], 255), .unsupportedKey),
        ] as [(CertificateSpecification, TrustFailure.Code?)]).map { Key(specification: $0, code: $1) })
    private func rsaSizes(key: Key) throws {
        #expect(try Judge.violation(of: PathRule.keyStrength, key.specification) == key.code)
    }

    @Test("RSA numbers are odd, and the exponent is not 1; points are uncompressed, and whole")
    func shapes() throws {
        let odd = [0] + [UInt8](repeating: 0xFF, count: 256)
        let rsa: TestObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 1]
        func complaint(_ algorithm: [[UInt8]], _ key: [UInt8]) throws -> TrustFailure.Code? {
            let info = TestDER.sequence([TestDER.sequence(algorithm), TestDER.bitString(key)])
            return try Judge.violation(of: PathRule.keyStrength, .testLeaf.with { $0.subjectPublicKeyInfo = info })
        }
        for (modulus, exponent, code) in [
            (odd, [3], nil), (odd, [1], .unsupportedKey), (odd, [2], .unsupportedKey),
            (odd.dropLast() + [0xFE], [1, 0, 1], .unsupportedKey), (odd, [1, 0, 0], .unsupportedKey),
        ] as [([UInt8], [UInt8], TrustFailure.Code?)] {
            let numbers = TestDER.sequence([TestDER.integer(octets: modulus), TestDER.integer(octets: exponent)])
            #expect(try complaint([TestDER.objectIdentifier(rsa), TestDER.null], numbers) == code)
        }
        let p256 = [[1, 2, 840, 10_045, 2, 1], [1, 2, 840, 10_045, 3, 1, 7]].map { arcs in
            TestDER.objectIdentifier(TestObjectIdentifier(arcs))
        }
        for (head, count) in [(4 as UInt8, 63), (4, 65), (2, 32), (3, 32), (0, 0), (6, 64), (2, 64)] {
            #expect(try complaint(p256, [head] + [UInt8](repeating: 1, count: count)) == .unsupportedKey)
        }
        for count in [31, 33, 0] {
            let key = [UInt8](repeating: 1, count: count)
            #expect(try complaint([TestDER.objectIdentifier([1, 3, 101, 112])], key) == .unsupportedKey)
        }
    }

    @Test("The curves that are verified pass", arguments: [.p256, .p384, .p521, .ed25519] as [TestKey.Choice])
    func curves(key: TestKey.Choice) throws {
        #expect(try Judge.violation(of: PathRule.keyStrength, .testLeaf, key: key) == nil)
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
        #expect(try Judge.violation(of: PathRule.keyStrength, specification) == .unsupportedKey)
    }
}
