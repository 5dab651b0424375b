import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Rule: extendedKeyUsage includes the purpose")
struct ExtendedKeyUsageRuleTests {
    private static func with(_ purposes: [TestObjectIdentifier]?) -> CertificateSpecification {
        .testLeaf.with { $0.extendedKeyUsage = purposes }
    }

    @Test(
        "Servers and clients are told apart; none and any allow both",
        arguments: [
            (with([.serverAuthentication]), true, false), (with([.clientAuthentication]), false, true),
            (with([.serverAuthentication, .clientAuthentication]), true, true),
            (with([.anyExtendedKeyUsage]), true, true),
            (with(nil), true, true), (with([.emailProtection]), false, false),
            (with([.codeSigning, .ocspSigning]), false, false),
            (with([[1, 3, 6, 1, 5, 5, 7, 3, 17]]), false, false),
        ] as [(CertificateSpecification, Bool, Bool)])
    func rule(specification: CertificateSpecification, server: Bool, client: Bool) throws {
        for (isServer, allowed) in [(true, server), (false, client)] {
            let code = try Judge.violation(of: PathRule.extendedKeyUsage, specification, isServer: isServer)
            #expect(code == (allowed ? nil : .wrongExtendedKeyUsage))
        }
    }

    @Test("One that cannot be read, or is empty, allows nothing", arguments: [[], [0x30, 0], [0x30, 1]] as [[UInt8]])
    func malformed(value: [UInt8]) throws {
        let specification = CertificateSpecification.testLeaf.with {
            $0.faults = [.extensionContent(.extendedKeyUsage, value)]
        }
        #expect(try Judge.violation(of: PathRule.extendedKeyUsage, specification) == .malformedExtension)
    }

    @Test("The words of a failure name a few of the purposes, not thousands")
    func words() throws {
        let specification = Self.with((0..<5_000).map { [1, 2, 3, $0] })
        let certificate = try X509Certificate(der: TestAuthority.selfSigned(specification, clock: Judge.clock).der)
        let context = PathRuleContext(time: 0, isServer: true)
        let violation = try #require(PathRule.extendedKeyUsage.violation(of: certificate, in: context))
        let failure = violation.failure(host: nil, chain: PresentedChain([]))
        #expect(failure.found.hasPrefix("1.2.3.0, 1.2.3.1"))
        #expect(failure.found.count < 1_000)
    }
}
