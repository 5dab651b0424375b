import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HoldfastPublishing

@Suite("Backups of a trust server's hosts")
struct TrustServerBackupsTests {
    private static func files(_ certificates: TestCertificate...) -> [(name: String, data: Data)] {
        [("next.pem", Data(certificates.map(\.pem).joined().utf8))]
    }

    @Test("A file with a chain gives the host's own certificate, and its authority's only if those are published")
    func chain() throws {
        let root = try TestAuthority.root()
        let issuing = try root.intermediate()
        let leaf = try issuing.leaf(names: [.dns("www.example.com")])
        let files = Self.files(leaf, issuing.certificate)
        let own = try X509Certificate(der: leaf.der)
        #expect(try TrustServerBackups(files: files) == TrustServerBackups(certificates: [own], keys: []))
        for included in [PublishingRound.Included.issuers, .all] {
            #expect(try TrustServerBackups(files: files, included: included).fingerprints.count == 2)
        }
    }

    @Test("Keys that clients refuse are no backups, in whatever file, nor are requests that their key did not sign")
    func keys() throws {
        let weak = try TestKey(.sharedRSA(bits: 1_024, index: 0))
        let certificate = try TestAuthority.root().leaf(
            names: [.dns("www.example.com")], key: .sharedRSA(bits: 1_024, index: 0))
        func pem(_ label: String, _ der: [UInt8]) -> Data {
            Data("-----BEGIN \(label)-----\n\(Data(der).base64EncodedString())\n-----END \(label)-----\n".utf8)
        }
        var request = Array(
            try CertificateRequestDraft(names: [HostPattern("www.example.com")]).signed(by: SigningKey()))
        #expect(
            try TrustServerBackups(files: [("next.csr", pem("CERTIFICATE REQUEST", request))]).publicKeys.count == 1)
        request[request.count - 1] ^= 1
        for (data, code) in [
            (pem("PUBLIC KEY", weak.subjectPublicKeyInfoDER), "weakKey"), (Data(certificate.pem.utf8), "weakKey"),
            (Data(certificate.der), "weakKey"), (pem("CERTIFICATE REQUEST", request), "unsignedRequest"),
        ] {
            let error = #expect(throws: PublishingError.self) { try TrustServerBackups(files: [("next.pem", data)]) }
            #expect(error?.code == .notTheHosts && error?.found.contains(code) == true, "\(error as Any)")
        }
    }

    @Test("An authority's certificate alone is refused where only hosts' own are published, and taken elsewhere")
    func authority() throws {
        let files = Self.files(try TestAuthority.root().certificate)
        let error = #expect(throws: PublishingError.self) { try TrustServerBackups(files: files) }
        #expect(error?.remedy.contains("--include all") == true)
        #expect(try TrustServerBackups(files: files, included: .all).fingerprints.count == 1)
    }
}
