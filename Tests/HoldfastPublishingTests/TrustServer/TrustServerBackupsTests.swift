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

    @Test("An authority's certificate alone is refused where only hosts' own are published, and taken elsewhere")
    func authority() throws {
        let files = Self.files(try TestAuthority.root().certificate)
        let error = #expect(throws: PublishingError.self) { try TrustServerBackups(files: files) }
        #expect(error?.remedy.contains("--include all") == true)
        #expect(try TrustServerBackups(files: files, included: .all).fingerprints.count == 1)
    }
}
