import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("What a revoked certificate cannot hide behind")
struct RevocationEvasionTests {
    private func code(_ leaf: TestCertificate, _ list: [UInt8], root: [UInt8]) throws -> TrustFailure.Code? {
        let validator = PathValidator(
            anchors: try TrustAnchors(der: [root]), revocation: .crls([try CertificateRevocationList(der: list)]))
        let purpose = ValidationPurpose.server(identity: try DialedHost(Judge.host))
        let outcome = validator.validate(PresentedChain(leaf.chain), for: purpose, at: Judge.now) { _ in true }
        return outcome.failure?.code
    }

    private let serial: [UInt8] = [0x11, 0x22]

    @Test("The issuer's name in another case or string type is the same issuer's")
    func names() throws {
        let root = try Judge.root(TestName([.init(.commonName, "Root CA", as: .printable)]))
        for alike in ["ROOT CA", "Root  CA", "Root CA"] as [TestName] {
            let leaf = try root.leaf(names: ["www.example.com"]) {
                $0.issuer = alike
                $0.serial = serial
            }
            #expect(try code(leaf, root.revocationList(), root: root.root) == nil)
            let list = try root.revocationList { $0.serialNumbers = [serial] }
            #expect(try code(leaf, list, root: root.root) == .revoked)
        }
    }

    @Test("A padded serial number is the same number")
    func serials() throws {
        let root = try Judge.root()
        for (own, listed) in [
            ([0, 0x11, 0x22], serial), (serial, [0, 0x11, 0x22]), ([0xFF, 0x91], [0x91]), ([0], [0, 0]),
        ] {
            let leaf = try root.leaf(names: ["www.example.com"]) { $0.serial = own }
            #expect(try code(leaf, root.revocationList { $0.serialNumbers = [listed] }, root: root.root) == .revoked)
        }
        // The sign counts: 0x0091 is positive, 0x91 is not.
        let leaf = try root.leaf(names: ["www.example.com"]) { $0.serial = [0x00, 0x91] }
        #expect(try code(leaf, root.revocationList { $0.serialNumbers = [[0x91]] }, root: root.root) == nil)
    }
}
