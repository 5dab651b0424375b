import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Rule: version 3")
struct VersionRuleTests {
    @Test(
        "Versions 1 and 2 are refused",
        arguments: [(1, .unsupportedVersion), (2, .unsupportedVersion), (3, nil)] as [(Int, TrustFailure.Code?)])
    func rule(version: Int, code: TrustFailure.Code?) throws {
        #expect(try Judge.violation(of: PathRule.version, .testLeaf.with { $0.version = version }) == code)
    }
}
