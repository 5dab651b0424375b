import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Rule: a signer's keyUsage has keyCertSign")
struct KeyCertSignRuleTests {
    @Test(
        "Without a keyUsage there is no limit; with one the bit is wanted",
        arguments: [
            (.testCA, nil), (.testCA.with { $0.keyUsage = nil }, nil),
            (.testCA.with { $0.keyUsage = .keyCertSign }, nil),
            (
                .testCA.with {
                    $0.keyUsageCritical = false; $0.keyUsage = .digitalSignature
                }, .keyUsageForbidsSigning
            ),
            (.testCA.with { $0.keyUsage = [.crlSign, .digitalSignature] }, .keyUsageForbidsSigning),
            (.testCA.with { $0.keyUsage = [] }, .keyUsageForbidsSigning),
            (.testCA.with { $0.keyUsage = .decipherOnly }, .keyUsageForbidsSigning),
            (.testCA.with { $0.faults = [.extensionContent(.keyUsage, [5, 0])] }, .malformedExtension),
        ] as [(CertificateSpecification, TrustFailure.Code?)])
    func rule(specification: CertificateSpecification, code: TrustFailure.Code?) throws {
        #expect(try Judge.violation(of: PathRule.keyCertSign, specification) == code)
    }
}
