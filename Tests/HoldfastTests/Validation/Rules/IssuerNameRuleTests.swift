import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Rule: a CA has a name")
struct IssuerNameRuleTests {
    @Test("An empty subject is no CA's")
    func rule() throws {
        #expect(try Judge.violation(of: PathRule.issuerName, .testCA) == nil)
        #expect(try Judge.violation(of: PathRule.issuerName, .testCA.with { $0.subject = .empty }) == .emptyName)
    }
}
