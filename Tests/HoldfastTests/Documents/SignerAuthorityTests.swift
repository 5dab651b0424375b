import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Signers of an authority")
struct SignerAuthorityTests {
    private static let purpose: TestObjectIdentifier = [1, 3, 6, 1, 4, 1, 32_473, 1, 7]

    private let fixture: TrustServerFixture
    private let root: TestAuthority
    private let issuing: TestAuthority

    init() throws {
        fixture = try TrustServerFixture()
        root = try TestAuthority.root()
        issuing = try root.intermediate()
    }

    private func certificate(
        by authority: TestAuthority? = nil, configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws -> TestCertificate {
        var specification = CertificateSpecification.leaf(names: [], purposes: [Self.purpose], subject: "gcx")
        configure(&specification)
        return try (authority ?? issuing).issue(specification)
    }

    private func signer(intermediates: [Data] = []) throws -> TrustServerSigner {
        try .authority(
            try TrustAnchors(der: [root.root]), extendedKeyUsage: Self.purpose.description,
            intermediates: intermediates)
    }

    private func refusal(
        of certificate: TestCertificate, embedding certificates: [[UInt8]]? = nil, timestamp: Int64? = nil,
        by other: TrustServerSigner? = nil
    ) throws -> DocumentError? {
        var message = HandMadeMessage(fixture.text(timestamp: timestamp), signer: certificate)
        message.certificates = certificates ?? certificate.chain
        return try fixture.refusal(of: message, by: try other ?? signer())
    }

    @Test("A signer below the authority is accepted, with the intermediate in the document or configured")
    func accepted() throws {
        let certificate = try certificate()
        #expect(try refusal(of: certificate) == nil)
        #expect(try refusal(of: certificate, embedding: certificate.chain.reversed()) == nil)
        #expect(try refusal(of: certificate, embedding: [certificate.der])?.code == .untrustedSigner)
        let configured = try signer(intermediates: [Data(issuing.certificate.der)])
        #expect(try refusal(of: certificate, embedding: [certificate.der], by: configured) == nil)
        #expect(try refusal(of: certificate, embedding: [])?.field == "certificates")
    }

    @Test("A certificate for another purpose, for any, or for none signs nothing")
    func purposes() throws {
        for purposes in [
            nil, [.serverAuthentication], [.clientAuthentication, .emailProtection], [.anyExtendedKeyUsage],
        ] as [[TestObjectIdentifier]?] {
            let error = try refusal(of: try certificate { $0.extendedKeyUsage = purposes })
            #expect(error?.code == .untrustedSigner)
            #expect(error?.field == "extendedKeyUsage")
        }
        #expect(try refusal(of: try certificate { $0.extendedKeyUsage = [.emailProtection, Self.purpose] }) == nil)
    }

    @Test("An intermediate that is for other purposes passes none on")
    func intermediatePurposes() throws {
        let servers = try root.intermediate { $0.extendedKeyUsage = [.serverAuthentication] }
        #expect(try refusal(of: try certificate(by: servers))?.field == "wrongExtendedKeyUsage")
        let fitting = try root.intermediate { $0.extendedKeyUsage = [.serverAuthentication, Self.purpose] }
        #expect(try refusal(of: try certificate(by: fitting)) == nil)
    }

    @Test("keyUsage must be there and have digitalSignature")
    func keyUsage() throws {
        #expect(try refusal(of: try certificate { $0.keyUsage = nil })?.field == "keyUsage")
        #expect(try refusal(of: try certificate { $0.keyUsage = .keyEncipherment })?.field == "keyUsage")
    }

    @Test("The common name must be the customer, and the only one")
    func names() throws {
        for name in ["gcy", "GCX", "gcx.example.com"] as [TestName] {
            #expect(try refusal(of: try certificate { $0.subject = name })?.field == "subject")
        }
        #expect(try refusal(of: try certificate { $0.subject = .empty })?.field == "subject")
        let two = TestName([.init(.commonName, "gcy"), .init(.commonName, "gcx")])
        #expect(try refusal(of: try certificate { $0.subject = two })?.field == "subject")
    }

    @Test("A common name is the customer's octet by octet, not by what Unicode calls equivalent")
    func nameOctets() throws {
        func refusal(_ name: String) throws -> DocumentError? {
            let certificate = try certificate { $0.subject = TestName([.init(.commonName, name)]) }
            var message = HandMadeMessage(fixture.text(customer: "\u{E9}"), signer: certificate)
            message.certificates = certificate.chain
            let data = try message.der()
            do {
                _ = try TrustServerDocument(verifying: data, by: signer(), customer: "\u{E9}", at: fixture.now)
                return nil
            } catch {
                return error as? DocumentError
            }
        }
        #expect(try refusal("\u{E9}") == nil)
        #expect(try refusal("e\u{301}")?.field == "subject")
    }

    @Test("A signer who does not count is refused before anything but customer and timestamp is read")
    func signerFirst() throws {
        let stranger = try certificate(by: TestAuthority.root(name: "Other Root").intermediate())
        for (signer, code) in [(stranger, .untrustedSigner), (try certificate(), .notJSON)]
            as [(TestCertificate, DocumentError.Code)]
        {
            for content in [
                #"{"customer":"gcx","timestamp":\#(fixture.timestamp),"hashes":[];"#,
                #"{"timestamp":\#(fixture.timestamp),"customer":"gcx",;"#,
                #"{"x":{},"customer":"gcx","hashes":[],"timestamp":\#(fixture.timestamp);"#,
            ] {
                var message = HandMadeMessage(content, signer: signer)
                message.certificates = signer.chain
                #expect(try fixture.refusal(of: message, by: self.signer())?.code == code)
            }
        }
    }

    @Test("The certificate must be valid at the document's timestamp, not at the time of reading")
    func validity() throws {
        let now = fixture.timestamp
        let expired = try certificate {
            $0.notBefore = .days(-3)
            $0.notAfter = .hours(-1)
        }
        #expect(try refusal(of: expired)?.field == "expired")
        #expect(try refusal(of: expired, timestamp: now - 7_200) == nil)
        #expect(try refusal(of: try certificate(), timestamp: now - 86_400 * 30)?.code == .untrustedSigner)
    }

    @Test("Another authority's signer, and one that signed himself, are refused")
    func strangers() throws {
        let other = try TestAuthority.root(name: "Other Root").intermediate()
        #expect(try refusal(of: try certificate(by: other))?.field == "unknownIssuer")
        var specification = CertificateSpecification.leaf(names: [], purposes: [Self.purpose], subject: "gcx")
        specification.faults = []
        #expect(try refusal(of: try TestAuthority.selfSigned(specification))?.code == .untrustedSigner)
        // The ordinary certificate of a server cannot issue a signer.
        let leaf = TestAuthority(try issuing.leaf(names: ["www.example.com"]))
        #expect(try refusal(of: try certificate(by: leaf))?.code == .untrustedSigner)
    }

    @Test("A signature by another key than the certificate's is refused")
    func otherKey() throws {
        let certificate = try certificate()
        let serial = Array(try X509Certificate(der: certificate.der).serialNumber)
        let double = try self.certificate { $0.serial = serial }
        var message = HandMadeMessage(fixture.text(), signer: double)
        message.certificates = certificate.chain
        #expect(try fixture.refusal(of: message, by: try signer())?.code == .invalidSignature)
        message.certificates = certificate.chain + [double.der]
        #expect(try fixture.refusal(of: message, by: try signer())?.code == .untrustedSigner)
    }

    @Test(
        "Without a purpose, or with one that everybody has, an authority cannot be configured",
        arguments: [
            "", " ", "1", "3.1", "1.40", "1..2", "1.2.", "01.2", "serverAuth", "2.5.29.37.0", "1.3.6.1.5.5.7.3.1",
            "1.3.6.1.5.5.7.3.2", "1.2.99999999999999999999",
        ])
    func configuration(purpose: String) throws {
        #expect(throws: DocumentError(.invalidSigner, expected: "", found: "")) {
            try TrustServerSigner.authority(try TrustAnchors(der: [root.root]), extendedKeyUsage: purpose)
        }
    }

    @Test("Without anchors an authority cannot be configured")
    func noAnchors() throws {
        #expect(throws: DocumentError(.invalidSigner, expected: "", found: "")) {
            try TrustServerSigner.authority(TrustAnchors([]), extendedKeyUsage: "1.2.3")
        }
    }
}
