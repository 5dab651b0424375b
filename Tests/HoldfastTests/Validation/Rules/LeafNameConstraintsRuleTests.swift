import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Rule: only a CA constrains names")
struct LeafNameConstraintsRuleTests {
    private static let constraints = CertificateSpecification.NameConstraints(permitted: [.dns("a")])

    @Test(
        "An end entity with nameConstraints is refused",
        arguments: [
            (.testLeaf, nil), (.testCA.with { $0.nameConstraints = constraints }, nil),
            (.testLeaf.with { $0.nameConstraints = constraints }, .malformedExtension),
            (
                .testLeaf.with {
                    $0.nameConstraints = constraints; $0.basicConstraints = nil
                }, .malformedExtension
            ),
            (
                .testCA.with {
                    $0.nameConstraints = constraints; $0.faults = [.extensionContent(.basicConstraints, [5, 0])]
                }, .malformedExtension
            ),
        ] as [(CertificateSpecification, TrustFailure.Code?)])
    func rule(specification: CertificateSpecification, code: TrustFailure.Code?) throws {
        #expect(try Judge.violation(of: PathRule.leafNameConstraints, specification) == code)
    }
}
