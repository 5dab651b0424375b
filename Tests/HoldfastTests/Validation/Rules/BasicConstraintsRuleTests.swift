import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Rule: a signer is a CA by its basicConstraints")
struct BasicConstraintsRuleTests {
    @Test(
        "cA TRUE is wanted, critical or not",
        arguments: [
            (.testCA, nil), (.testCA.with { $0.basicConstraints = .init(isAuthority: true, isCritical: false) }, nil),
            (.testCA.with { $0.basicConstraints = .init(isAuthority: true, pathLength: 0) }, nil),
            (.testCA.with { $0.basicConstraints = .init(isAuthority: false) }, .notACertificateAuthority),
            (
                .testCA.with { $0.basicConstraints = .init(isAuthority: false, pathLength: 3) },
                .notACertificateAuthority
            ),
            (.testCA.with { $0.basicConstraints = nil }, .notACertificateAuthority),
            (.testCA.with { $0.faults = [.extensionContent(.basicConstraints, [0x30])] }, .malformedExtension),
            (
                .testCA.with { $0.faults = [.extensionContent(.basicConstraints, [0x30, 3, 1, 1, 1])] },
                .malformedExtension
            ),
        ] as [(CertificateSpecification, TrustFailure.Code?)])
    func rule(specification: CertificateSpecification, code: TrustFailure.Code?) throws {
        #expect(try Judge.violation(of: PathRule.basicConstraints, specification) == code)
    }
}
