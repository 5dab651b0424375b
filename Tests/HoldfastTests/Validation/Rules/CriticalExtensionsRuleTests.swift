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

    private static func qualifier(_ identifier: TestObjectIdentifier) -> [UInt8] {
        TestDER.sequence([TestDER.objectIdentifier(identifier), TestDER.sequence([[UInt8]]())])
    }

    private static func qualified(_ qualifiers: [UInt8]..., isCritical: Bool = true) -> CertificateSpecification {
        let policy = TestDER.objectIdentifier([1, 2, 3])
        return with(
            [2, 5, 29, 32], isCritical,
            TestDER.sequence([TestDER.sequence([policy] + (qualifiers.isEmpty ? [] : [TestDER.sequence(qualifiers)]))]))
    }

    @Test(
        "Critical certificatePolicies with a qualifier that RFC 5280 4.2.1.4 does not define are refused",
        arguments: [
            (qualified(), nil), (qualified(qualifier([1, 3, 6, 1, 5, 5, 7, 2, 1])), nil),
            (qualified(qualifier([1, 3, 6, 1, 5, 5, 7, 2, 2])), nil),
            (qualified(qualifier([1, 3, 6, 1, 5, 5, 7, 2, 3])), .unknownCriticalExtension),
            (
                qualified(qualifier([1, 3, 6, 1, 5, 5, 7, 2, 1]), qualifier([1, 2, 3, 4])), .unknownCriticalExtension
            ),
            (qualified(qualifier([1, 2, 3, 4]), isCritical: false), nil),
            (qualified([5, 0]), .malformedExtension),
        ] as [(CertificateSpecification, TrustFailure.Code?)])
    func qualifiers(specification: CertificateSpecification, code: TrustFailure.Code?) throws {
        #expect(try Judge.violation(of: PathRule.criticalExtensions, specification) == code)
    }

    /// Microsoft's application policies, critical, next to extendedKeyUsage for servers and clients.
    private static func stating(
        _ purposes: [TestObjectIdentifier], more: [UInt8] = [], hasUsage: Bool = true
    ) -> CertificateSpecification {
        with(
            [1, 3, 6, 1, 4, 1, 311, 21, 10], true,
            TestDER.sequence(purposes.map { TestDER.sequence([TestDER.objectIdentifier($0) + more]) })
        ).with { $0.extendedKeyUsage = hasUsage ? [.serverAuthentication, .clientAuthentication] : nil }
    }

    private static let server = TestObjectIdentifier.serverAuthentication
    private static let client = TestObjectIdentifier.clientAuthentication

    @Test(
        "Critical application policies are understood if they state the purposes of extendedKeyUsage",
        arguments: [
            (stating([server, client]), nil), (stating([client, server]), nil),
            (stating([server]), .unknownCriticalExtension),
            (stating([server, client, [1, 2, 3]]), .unknownCriticalExtension),
            (stating([server, client], hasUsage: false), .unknownCriticalExtension),
            (
                stating([server, client], more: TestDER.sequence([[UInt8]]())), .unknownCriticalExtension
            ),
        ] as [(CertificateSpecification, TrustFailure.Code?)])
    func applicationPolicies(specification: CertificateSpecification, code: TrustFailure.Code?) throws {
        #expect(try Judge.violation(of: PathRule.criticalExtensions, specification) == code)
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
