import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("How each rule came out")
struct RuleOutcomeTests {
    private func broken(_ outcomes: [RuleOutcome]) -> [String] {
        outcomes.filter { $0.failure != nil }.map(\.rule)
    }

    private func outcomes(
        _ chain: [[UInt8]], _ root: TestAuthority, revocation: Revocation = .none, anchors: [[UInt8]]? = nil
    ) throws -> [RuleOutcome] {
        let validator = PathValidator(anchors: try TrustAnchors(der: anchors ?? [root.root]), revocation: revocation)
        return validator.outcomes(
            of: PresentedChain(chain), for: .server(identity: try DialedHost(Judge.host)), at: Judge.now)
    }

    @Test("A revoked certificate breaks the rule of revocation, and no other")
    func revoked() throws {
        let root = try Judge.root { $0.keyUsage = [.keyCertSign, .crlSign] }
        let leaf = try root.leaf(names: ["www.example.com"])
        let serial = Array(try X509Certificate(der: leaf.der).serialNumber)
        let list = try CertificateRevocationList(der: root.revocationList { $0.serialNumbers = [serial] })
        let found = try outcomes(leaf.chain, root, revocation: .crls([list]))
        #expect(broken(found) == ["revocation"])
        #expect(found.first { $0.rule == "revocation" }?.failure?.code == .revoked)
        let clean = try CertificateRevocationList(der: root.revocationList())
        let kept = try outcomes(leaf.chain, root, revocation: .crls([clean]))
        #expect(broken(kept).isEmpty && kept.contains { $0.rule == "revocation" })
        #expect(try !outcomes(leaf.chain, root).contains { $0.rule == "revocation" })
    }

    @Test("An issuer whose name is spelled otherwise is found, as the search finds it")
    func foldedNames() throws {
        let root = try Judge.root(TestName([.init(.country, "DE"), .init(.commonName, "Test  Root")]))
        let leaf = try root.leaf(names: ["www.example.com"]) {
            $0.issuer = TestName([.init(.country, "de"), .init(.commonName, "TEST ROOT")])
            $0.notAfter = .hours(-1)
            $0.notBefore = .hours(-2)
        }
        let found = try outcomes(leaf.chain, root)
        #expect(broken(found) == ["validity"])
        #expect(found.last?.rule == "trust anchor" && found.last?.certificate.der == root.root)
    }

    @Test("Rules after the first that is broken are examined as well, those of issuers too")
    func severalBroken() throws {
        let root = try Judge.root()
        let issuing = try root.intermediate { $0.keyUsage = [.crlSign] }
        let leaf = try issuing.leaf(names: ["www.example.org"]) { $0.extendedKeyUsage = [.clientAuthentication] }
        let found = try outcomes(leaf.chain, root)
        #expect(Set(broken(found)) == ["server identity", "extendedKeyUsage", "keyCertSign"])
        #expect(found.last?.failure == nil && found.last?.rule == "trust anchor")
    }

    @Test("A certificate that leads nowhere ends with the missing anchor")
    func nowhere() throws {
        let root = try Judge.root()
        let found = try outcomes(
            root.leaf(names: ["www.example.com"]).chain, root, anchors: [Judge.root("Another").root])
        #expect(broken(found) == ["trust anchor"])
    }

    @Test("A purpose of one's own is asked of the leaf and of its issuers", arguments: [true, false])
    func purpose(isGiven: Bool) throws {
        let root = try Judge.root()
        let own: TestObjectIdentifier = [1, 3, 6, 1, 4, 1, 32_473, 1, 7]
        let leaf = try root.leaf(names: [], purposes: [isGiven ? own : .serverAuthentication])
        let validator = PathValidator(anchors: try TrustAnchors(der: [root.root]))
        func code(_ purpose: ValidationPurpose) -> TrustFailure.Code? {
            validator.validate(PresentedChain(leaf.chain), for: purpose, at: Judge.now) { _ in true }.failure?.code
        }
        #expect(code(.extendedKeyUsage("1.3.6.1.4.1.32473.1.7")) == (isGiven ? nil : .wrongExtendedKeyUsage))
        #expect(code(.extendedKeyUsage("1.3.6.1.4.1.32473.1.8")) == .wrongExtendedKeyUsage)
        #expect(code(.extendedKeyUsage("no identifier")) == .wrongExtendedKeyUsage)
        #expect(code(.server(identity: nil)) == (isGiven ? .wrongExtendedKeyUsage : nil))
    }
}
