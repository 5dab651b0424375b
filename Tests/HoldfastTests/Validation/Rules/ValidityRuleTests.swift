import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Rule: validity, to the second")
struct ValidityRuleTests {
    private static let hour = CertificateSpecification.testLeaf.with {
        $0.notBefore = .after(.seconds(0)); $0.notAfter = .after(.seconds(3_600))
    }

    @Test(
        "Both ends are included",
        arguments: [
            (0, nil), (-1, .notYetValid), (3_600, nil), (3_601, .expired), (-0.001, .notYetValid), (3_600.999, nil),
            (1_800, nil), (.infinity, .expired), (-.infinity, .expired), (.nan, .expired), (1e300, .expired),
            (-1e14, .notYetValid),
        ] as [(Double, TrustFailure.Code?)])
    func ends(offset: Double, code: TrustFailure.Code?) throws {
        let time = Date(timeIntervalSince1970: Judge.now.timeIntervalSince1970 + offset)
        #expect(try Judge.violation(of: PathRule.validity, Self.hour, at: time) == code)
        #expect(try Judge.violation(of: PathRule.validity, Self.hour, checksValidity: false, at: time) == nil)
    }

    @Test("A validity that ends before it begins holds no time")
    func backwards() throws {
        let backwards = CertificateSpecification.testLeaf.with {
            $0.notBefore = .after(.seconds(10)); $0.notAfter = .after(.seconds(-10))
        }
        for offset in [-20.0, 0, 20] {
            #expect(try Judge.violation(of: PathRule.validity, backwards, at: Judge.now + offset) != nil)
        }
    }

    @Test(
        "The words of a failure can be made for any time",
        arguments: [.nan, .infinity, -.infinity, 1e300, 9e14, -9e14, -62_135_596_801, 253_402_300_800, 0] as [Double])
    func words(seconds: Double) throws {
        let made = try TestAuthority.selfSigned(Self.hour, clock: Judge.clock)
        let outcome = try Judge.outcome([made.der], trusting: [made.der], at: Date(timeIntervalSince1970: seconds))
        let failure = try #require(outcome.failure)
        #expect([.expired, .notYetValid].contains(failure.code))
        #expect(failure.description.contains("2033"))
    }
}
