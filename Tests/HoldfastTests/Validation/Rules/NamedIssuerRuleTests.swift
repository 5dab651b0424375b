import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Rule: a certificate names its issuer")
struct NamedIssuerRuleTests {
    @Test("An empty issuer is nobody; an empty subject is a matter of other rules")
    func rule() throws {
        #expect(try Judge.violation(of: PathRule.namedIssuer, .testLeaf) == nil)
        let nameless = CertificateSpecification.testLeaf.with { $0.subject = .empty }
        #expect(try Judge.violation(of: PathRule.namedIssuer, nameless) == .emptyName)
        let certificate = try X509Certificate(der: Judge.root().issue(nameless).der)
        #expect(PathRule.namedIssuer.violation(of: certificate, in: PathRuleContext(time: 0, isServer: true)) == nil)
    }
}
