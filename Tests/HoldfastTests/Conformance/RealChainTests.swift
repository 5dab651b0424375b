import Foundation
import Holdfast
import HoldfastTestSupport
import Testing

@Suite("A real chain of the public web", .needs(.interopData("gcx")))
struct RealChainTests {
    private func certificate(_ name: String) throws -> X509Certificate {
        let file = try #require(InteropData.file("gcx/\(name).cer"))
        return try #require(CertificateFile.read(file).first)
    }

    /// The answer to a leaf and its intermediate, in the middle of the leaf's validity.
    private func outcome(
        _ leaf: X509Certificate, anchor: String = "gcx-TrustedRoot", host: String,
        secondsAfterStart: TimeInterval? = nil
    ) throws -> ValidationOutcome {
        let chain = PresentedChain([leaf.der, try certificate("gcx-DigiCertCA").der])
        let half = leaf.notAfter.timeIntervalSince(leaf.notBefore) / 2
        return PathValidator(anchors: TrustAnchors([try certificate(anchor)])).validate(
            chain, for: .server(identity: try DialedHost(host)),
            at: leaf.notBefore + (secondsAfterStart ?? half)
        ) { _ in true }
    }

    @Test("Validates for its names, within its validity, to its root")
    func validates() throws {
        let leaf = try certificate("gcx-wildcard-valid")
        #expect(try outcome(leaf, host: "www.grandcentrix.net").path?.certificates.count == 3)
        #expect(try outcome(leaf, host: "grandcentrix.net").path != nil)
        #expect(try outcome(leaf, host: "a.b.grandcentrix.net").failure?.code == .hostNameMismatch)
        #expect(try outcome(leaf, host: "www.grandcentrix.net", secondsAfterStart: -1).failure?.code == .notYetValid)
        let end = leaf.notAfter.timeIntervalSince(leaf.notBefore)
        #expect(try outcome(leaf, host: "www.grandcentrix.net", secondsAfterStart: end).path != nil)
        #expect(try outcome(leaf, host: "www.grandcentrix.net", secondsAfterStart: end + 1).failure?.code == .expired)
    }

    @Test("Does not validate to another anchor")
    func anotherAnchor() throws {
        let leaf = try certificate("gcx-wildcard-valid")
        let failure = try outcome(leaf, anchor: "gcx-selfsigned-valid", host: "www.grandcentrix.net").failure
        #expect(failure?.code == .unknownIssuer)
    }

    @Test("Every file of the folder reads, and its key is found without reading all of it")
    func reads() throws {
        for name in ["gcx-selfsigned-expired", "gcx-selfsigned-valid", "gcx-wildcard-expired", "gcx-wildcard-valid"] {
            let certificate = try certificate(name)
            #expect(try SubjectPublicKeyInfo(certificateDER: certificate.der).sha256Pin == certificate.publicKeyPin)
        }
    }
}
