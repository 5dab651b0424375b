import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Rule: the leaf's keyUsage allows what TLS does")
struct LeafKeyUsageRuleTests {
    @Test(
        "Signing, agreeing or decrypting a key is wanted, of a CA nothing",
        arguments: [
            (.testLeaf, nil), (.testLeaf.with { $0.keyUsage = nil }, nil),
            (.testLeaf.with { $0.keyUsage = .keyEncipherment }, nil),
            (.testLeaf.with { $0.keyUsage = .keyAgreement }, nil),
            (.testLeaf.with { $0.keyUsage = [] }, .keyUsageForbidsTLS),
            (.testLeaf.with { $0.keyUsage = [.crlSign, .keyCertSign] }, .keyUsageForbidsTLS),
            (.testLeaf.with { $0.keyUsage = [.contentCommitment, .encipherOnly] }, .keyUsageForbidsTLS),
            (
                .testLeaf.with {
                    $0.keyUsage = .crlSign; $0.basicConstraints = nil
                }, .keyUsageForbidsTLS
            ), (.testCA, nil),
            (.testLeaf.with { $0.faults = [.extensionContent(.keyUsage, [3, 0])] }, .malformedExtension),
            (.testCA.with { $0.faults = [.extensionContent(.basicConstraints, [3, 0])] }, .malformedExtension),
        ] as [(CertificateSpecification, TrustFailure.Code?)])
    func rule(specification: CertificateSpecification, code: TrustFailure.Code?) throws {
        #expect(try Judge.violation(of: PathRule.leafKeyUsage, specification) == code)
    }
}
