import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Rule: critical extensions are understood")
struct CriticalExtensionsRuleTests {
    private static func with(
        _ identifier: TestObjectIdentifier, _ isCritical: Bool, _ value: [UInt8] = [5, 0]
    ) -> CertificateSpecification {
        .testLeaf.with { $0.extensions = [.init(identifier, isCritical: isCritical, value: value)] }
    }

    @Test(
        "An unknown one ends it where it is critical, and only there",
        arguments: [
            (.testLeaf, nil), (with([1, 2, 3], false), nil), (with([1, 2, 3], true), .unknownCriticalExtension),
            (with([2, 5, 29, 32], true), .malformedExtension),  // certificatePolicies that are none
            (with([2, 5, 29, 33], true), .malformedExtension),  // policyMappings
            (with([2, 5, 29, 36], true), .malformedExtension),  // policyConstraints
            (with([2, 5, 29, 54], true), .malformedExtension),  // inhibitAnyPolicy
            (with([2, 5, 29, 36], false), nil),
            (with([2, 5, 29, 54], true, [2, 1, 0]), nil),
            (with([2, 5, 29, 54], true, [2, 1, 0x80]), .malformedExtension),
            (with([2, 5, 29, 36], true, [0x30, 3, 0x80, 1, 0]), nil),
            (with([2, 5, 29, 36], true, [0x30, 0]), .malformedExtension),
            (with([2, 5, 29, 33], true, [0x30, 0]), .malformedExtension),
            (with([2, 5, 29, 18], true), .unknownCriticalExtension),  // issuerAltName
            (with([2, 5, 29, 17, 1], true), .unknownCriticalExtension),  // under subjectAltName
            (with([2, 5, 30, 17], true), .unknownCriticalExtension),
            (with([2, 5, 29], true), .unknownCriticalExtension),
            (with([1, 3, 6, 1, 4, 1, 11129, 2, 4, 3], true), .unknownCriticalExtension),  // a precertificate's poison
            (.testLeaf.with { $0.extendedKeyUsageCritical = true }, nil),
            (.testLeaf.with { $0.subjectAltNameCritical = true }, nil),
            (.testCA.with { $0.nameConstraints = .init(permitted: [.dns("a")]) }, nil),
        ] as [(CertificateSpecification, TrustFailure.Code?)])
    func rule(specification: CertificateSpecification, code: TrustFailure.Code?) throws {
        #expect(try Judge.violation(of: PathRule.criticalExtensions, specification) == code)
    }
}
