import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Rule: path length")
struct PathLengthRuleTests {
    private func code(
        pathLength: Int?, intermediates: Int, isAnchor: Bool = false, isSelfIssued: Bool = false, limit: Int = 8
    ) throws -> TrustFailure.Code? {
        let specification = CertificateSpecification.intermediate("CA", pathLength: pathLength)
        let made =
            try isSelfIssued
            ? TestAuthority.selfSigned(specification, clock: Judge.clock) : Judge.root().issue(specification)
        var limits = ValidationLimits()
        limits.intermediates = limit
        return PathLengthRule(limits: limits).violation(
            of: try X509Certificate(der: made.der), isAnchor: isAnchor, intermediates: intermediates)?.code
    }

    @Test("A CA's limit counts the intermediates below it", arguments: 0..<4, 0..<4)
    func authority(pathLength: Int, intermediates: Int) throws {
        #expect(
            try code(pathLength: pathLength, intermediates: intermediates)
                == (intermediates > pathLength ? .pathLengthExceeded : nil))
        #expect(try code(pathLength: nil, intermediates: intermediates) == nil)
    }

    @Test("The setting counts the CA itself, unless it is the anchor or self-issued")
    func setting() throws {
        #expect(try code(pathLength: nil, intermediates: 2, limit: 2) == .pathTooLong)
        #expect(try code(pathLength: nil, intermediates: 2, isAnchor: true, limit: 2) == nil)
        #expect(try code(pathLength: nil, intermediates: 2, isSelfIssued: true, limit: 2) == nil)
        #expect(try code(pathLength: nil, intermediates: 1, limit: 2) == nil)
        #expect(try code(pathLength: nil, intermediates: 0, limit: 0) == .pathTooLong)
        #expect(try code(pathLength: nil, intermediates: 0, isAnchor: true, limit: 0) == nil)
    }
}
