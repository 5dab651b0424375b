import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Rule: name constraints can be read")
struct NameConstraintsRuleTests {
    @Test(
        "Those that cannot are no license",
        arguments: [
            (.testCA, nil), (.testCA.with { $0.nameConstraints = .init(permitted: [.dns("a")]) }, nil),
            (.testCA.with { $0.nameConstraints = .init() }, .malformedExtension),
            (.testCA.with { $0.nameConstraints = .init(excluded: [.address([10, 0, 0, 0])]) }, .malformedExtension),
            (
                .testCA.with { $0.nameConstraints = .init(excluded: [.dns("é")], isCritical: false) },
                .malformedExtension
            ),
        ] as [(CertificateSpecification, TrustFailure.Code?)])
    func rule(specification: CertificateSpecification, code: TrustFailure.Code?) throws {
        #expect(try Judge.violation(of: PathRule.nameConstraints, specification) == code)
    }
}
