import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Rule: critical extensions are understood")
struct CriticalExtensionsRuleTests {
    private static func with(_ identifier: TestObjectIdentifier, _ isCritical: Bool) -> CertificateSpecification {
        .testLeaf.with { $0.extensions = [.init(identifier, isCritical: isCritical, value: [5, 0])] }
    }

    @Test(
        "An unknown one ends it where it is critical, and only there",
        arguments: [
            (.testLeaf, nil), (with([1, 2, 3], false), nil), (with([1, 2, 3], true), .unknownCriticalExtension),
            (with([2, 5, 29, 32], true), nil),  // certificatePolicies
            (with([2, 5, 29, 33], true), .unknownCriticalExtension),  // policyMappings
            (with([2, 5, 29, 36], true), .unknownCriticalExtension),  // policyConstraints
            (with([2, 5, 29, 54], true), .unknownCriticalExtension),  // inhibitAnyPolicy
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
        #expect(try Judge.violation(of: CriticalExtensionsRule(), specification) == code)
    }
}
