import Foundation
import Testing

@testable import Holdfast
@testable import HoldfastTesting

/// The freedoms that CMS gives an attacker, one per test.
@Suite("Signed messages")
struct CMSSignedDataTests {
    private let fixture: TrustServerFixture

    init() throws { fixture = try TrustServerFixture() }

    private func refusal(_ change: (inout HandMadeMessage) -> Void) throws -> DocumentError? {
        var message = fixture.message()
        change(&message)
        return try fixture.refusal(of: message)
    }

    @Test(
        "A message verifies with every digest, with attributes and without, under RSA and ECDSA",
        arguments: [TestSignature.Digest.sha256, .sha384, .sha512], [true, false])
    func accepted(digest: TestSignature.Digest, hasAttributes: Bool) throws {
        for key in [TestKey.Choice.p256, .p384, .p521, .sharedRSA(bits: 2048, index: 0)] {
            let fixture = try TrustServerFixture(key: key)
            var message = fixture.message()
            message.digest = digest
            message.hasAttributes = hasAttributes
            let document = try fixture.document(try message.der())
            #expect(document.customer == "gcx")
            #expect(document.timestamp == fixture.now)
            #expect(document.entries.map(\.hostname) == ["www.example.com"])
            #expect(document.signerExpired == nil)
        }
    }

    @Test("RSA-PSS verifies, and RSA with its digest named in the algorithm", arguments: [true, false])
    func paddings(isPSS: Bool) throws {
        let fixture = try TrustServerFixture(key: .sharedRSA(bits: 2048, index: 0))
        for digest in [TestSignature.Digest.sha256, .sha384, .sha512] {
            var message = fixture.message()
            message.digest = digest
            message.signature = isPSS ? .rsaPSS(digest) : .rsaPKCS1(digest)
            message.signatureAlgorithm = message.signature?.algorithmIdentifier
            #expect(try fixture.refusal(of: message) == nil)
        }
    }

    @Test("A message without its certificate verifies: the configured one counts")
    func withoutCertificate() throws {
        #expect(try refusal { $0.certificates = [] } == nil)
    }

    @Test("A byte of the content changed after signing is refused", arguments: [true, false])
    func changedContent(hasAttributes: Bool) throws {
        var message = fixture.message()
        message.hasAttributes = hasAttributes
        var data = try message.der()
        let place = try #require(data.range(of: Data("www.example.com".utf8)))
        data[place.lowerBound] = UInt8(ascii: "v")
        #expect(throws: invalid) { try fixture.document(data) }
    }

    private var invalid: DocumentError {
        DocumentError(.invalidSignature, expected: "", found: "")
    }

    @Test("A content of another type than data is refused, also when the signer signed that")
    func contentTypes() throws {
        let other: TestObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 16, 1, 4]
        #expect(try refusal { $0.eContentType = other }?.code == .unsupportedMessage)
        #expect(try refusal { $0.outerType = HandMadeMessage.data }?.code == .unsupportedMessage)
        let error = try refusal {
            $0.attributes = { list in
                [HandMadeMessage.attribute(HandMadeMessage.contentType, [TestDER.objectIdentifier(other)])]
                    + list.dropFirst()
            }
        }
        #expect(error?.code == .malformedMessage)
        #expect(error?.field == "contentType")
    }

    @Test("Attributes without contentType or without messageDigest are refused", arguments: [0, 2])
    func missingAttributes(index: Int) throws {
        let error = try refusal {
            $0.attributes = { list in list.enumerated().filter { $0.offset != index }.map(\.element) }
        }
        #expect(error?.code == .malformedMessage)
        #expect(error?.field == "signedAttrs")
    }

    @Test("Empty attributes are refused")
    func emptyAttributes() throws {
        #expect(try refusal { $0.attributes = { _ in [] } }?.code == .malformedMessage)
    }

    @Test("An attribute that stands twice, or has two values or none, is refused", arguments: 0..<3)
    func doubleAttributes(index: Int) throws {
        let fixture = fixture
        let good = HandMadeMessage.attribute(
            HandMadeMessage.messageDigest, [TestDER.octetString(fixture.message().digest(of: [1]))])
        let type = [HandMadeMessage.contentType, HandMadeMessage.signingTime, HandMadeMessage.messageDigest][index]
        #expect(try refusal { $0.attributes = { $0 + [good] } }?.code == .malformedMessage)
        #expect(try refusal { $0.attributes = { $0 + [$0[index]] } }?.code == .malformedMessage)
        for count in [0, 2] {
            let value = [UInt8](try X509Certificate(der: fixture.certificate.der).subject.der)
            let values = [[UInt8]](repeating: value, count: count)
            let error = try refusal {
                $0.attributes = { list in
                    list.enumerated().map { $0.offset == index ? HandMadeMessage.attribute(type, values) : $0.element }
                }
            }
            #expect(error?.code == .malformedMessage)
        }
    }

    @Test("A messageDigest of something else is refused, also when it is signed")
    func wrongDigest() throws {
        let error = try refusal {
            $0.attributes = { list in
                let digest = TestDER.octetString([UInt8](repeating: 7, count: 32))
                return list.dropLast() + [HandMadeMessage.attribute(HandMadeMessage.messageDigest, [digest])]
            }
        }
        #expect(error?.code == .invalidSignature)
        #expect(error?.field == "messageDigest")
    }

    @Test("Attributes in another order than that of DER are refused, also when they were signed so")
    func order() throws {
        let error = try refusal {
            $0.sortsAttributes = false
            $0.attributes = { $0.sorted { $1.lexicographicallyPrecedes($0) } }
        }
        #expect(error?.code == .malformedMessage)
        #expect(error?.found == "another order")
    }

    @Test("No signer, or several, even the same one twice, are refused", arguments: [0, 2])
    func signers(count: Int) throws {
        let error = try refusal { $0.signers = { [[UInt8]](repeating: $0, count: count) } }
        #expect(error?.code == .unsupportedMessage)
        #expect(error?.field == "signerInfos")
    }

    @Test("Another serial number or another issuer than the configured certificate's is refused")
    func wrongSigner() throws {
        let certificate = try X509Certificate(der: fixture.certificate.der)
        let other = try X509Certificate(der: try TrustServerFixture.selfSigned("other").der)
        let issuer = Array(certificate.issuer.der)
        let serial = TestDER.integer(octets: Array(certificate.serialNumber))
        #expect(
            try refusal { $0.identifier = TestDER.sequence([issuer, TestDER.integer(1)]) }?.code == .untrustedSigner)
        #expect(
            try refusal { $0.identifier = TestDER.sequence([Array(other.issuer.der), serial]) }?.code
                == .untrustedSigner)
    }

    @Test("A signer named by a key identifier is refused with the way out")
    func keyIdentifier() throws {
        let error = try refusal {
            $0.signerVersion = 3
            $0.version = 3
            $0.identifier = TestDER.context(0, primitive: fixture.certificate.key.keyIdentifier)
        }
        #expect(error?.code == .unsupportedMessage)
        #expect(try refusal { $0.identifier = TestDER.context(0, primitive: [1]) }?.field == "sid")
    }

    @Test("A certificate that looks like the signer's is refused, whether it signed or not")
    func lookAlike() throws {
        let serial = Array(try X509Certificate(der: fixture.certificate.der).serialNumber)
        let double = try TrustServerFixture.selfSigned("gcx") { $0.serial = serial }
        let original = fixture.certificate.der
        for list in [[double.der], [double.der, original], [original, double.der]] {
            #expect(try refusal { $0.certificates = list }?.code == .untrustedSigner)
        }
        var message = HandMadeMessage(fixture.text(), signer: double)
        #expect(try fixture.refusal(of: message)?.code == .untrustedSigner)
        message.certificates = []
        #expect(try fixture.refusal(of: message)?.code == .invalidSignature)
        // The same bytes twice are the same certificate.
        #expect(try refusal { $0.certificates = [original, original] } == nil)
    }

    @Test("Other embedded certificates change nothing, but must be certificates, and few")
    func embedded() throws {
        let other = try TrustServerFixture.selfSigned("other").der
        #expect(try refusal { $0.certificates = [other] } == nil)
        #expect(try refusal { $0.certificates = [TestDER.sequence([TestDER.null])] }?.code == .malformedMessage)
        #expect(try refusal { $0.certificates = [TestDER.context(1, constructed: [])] }?.code == .malformedMessage)
        let many = [[UInt8]](repeating: other, count: 17)
        #expect(try refusal { $0.certificates = many }?.field == "certificates")
    }

    @Test("Detached content, revocation lists and unsigned attributes are refused by name")
    func parts() throws {
        let detached = try refusal { $0.isDetached = true }
        #expect(detached?.code == .unsupportedMessage)
        #expect(detached?.field == "eContent")
        #expect(try refusal { $0.lists = TestDER.context(1, constructed: []) }?.field == "crls")
        let countersigned = try refusal { $0.unsignedAttributes = TestDER.context(1, constructed: TestDER.null) }
        #expect(countersigned?.field == "unsignedAttrs")
    }

    @Test("Bytes after the message are refused")
    func trailing() throws {
        for bytes in [[0], [0, 0], TestDER.null] as [[UInt8]] {
            #expect(try refusal { $0.trailing = bytes }?.code == .malformedMessage)
        }
    }

    @Test("Versions that do not go with the form are refused")
    func versions() throws {
        for version in [0, 2, 3, 4] {
            #expect(try refusal { $0.version = version }?.field == "version")
            #expect(try refusal { $0.signerVersion = version }?.field == "version")
        }
    }

    @Test("Digests that are announced must be the signer's, and one")
    func digestAlgorithms() throws {
        func algorithm(_ digest: TestSignature.Digest) -> [UInt8] {
            TestDER.sequence([TestDER.objectIdentifier(digest.identifier)])
        }
        #expect(try refusal { $0.digestAlgorithms = [algorithm(.sha256)] } == nil)
        #expect(try refusal { $0.digestAlgorithms = [algorithm(.sha384)] }?.field == "digestAlgorithm")
        #expect(try refusal { $0.digestAlgorithms = [] }?.field == "digestAlgorithms")
        let two = [algorithm(.sha256), algorithm(.sha384)]
        #expect(try refusal { $0.digestAlgorithms = two }?.field == "digestAlgorithms")
    }

    @Test("A signature algorithm with another digest than the one named apart is refused")
    func disagreement() throws {
        for fixture in [try TrustServerFixture(key: .sharedRSA(bits: 2048, index: 0)), try TrustServerFixture()] {
            for (named, used) in [(TestSignature.Digest.sha256, TestSignature.Digest.sha512), (.sha512, .sha256)] {
                var message = fixture.message()
                message.digest = named
                let choices: [TestSignature] =
                    if case .ecdsa = message.automaticSignature { [.ecdsa(used)] } else {
                        [.rsaPKCS1(used), .rsaPSS(used)]
                    }
                for choice in choices {
                    message.signature = choice
                    message.signatureAlgorithm = choice.algorithmIdentifier
                    let error = try fixture.refusal(of: message)
                    #expect(error?.code == .unsupportedMessage)
                    #expect(error?.field == "signatureAlgorithm")
                }
            }
        }
    }

    @Test("An algorithm that does not go with the signer's key is refused")
    func wrongKind() throws {
        let algorithm = TestSignature.rsaPSS(.sha256).algorithmIdentifier
        #expect(try refusal { $0.signatureAlgorithm = algorithm }?.code == .invalidSignature)
        let bare = TestDER.sequence([TestDER.objectIdentifier(HandMadeMessage.rsaEncryption), TestDER.null])
        #expect(try refusal { $0.signatureAlgorithm = bare }?.code == .invalidSignature)
        let ed25519 = TestSignature.ed25519.algorithmIdentifier
        #expect(try refusal { $0.signatureAlgorithm = ed25519 }?.code == .unsupportedAlgorithm)
    }

    @Test("The signed attributes of one message are not the content of another")
    func strippedAttributes() throws {
        // The signature is over the SET of attributes: a message without attributes whose content is that SET verifies,
        // and must then fail as the text that it is not.
        var attributes: [[UInt8]] = []
        let original = fixture.message()
        attributes = [
            HandMadeMessage.attribute(
                HandMadeMessage.contentType, [TestDER.objectIdentifier(HandMadeMessage.data)]),
            HandMadeMessage.attribute(
                HandMadeMessage.messageDigest, [TestDER.octetString(original.digest(of: original.content))]),
        ]
        var message = original
        message.hasAttributes = false
        message.content = TestDER.set(attributes)
        #expect(try fixture.refusal(of: message)?.code == .wrongType)
    }

    @Test("CMSAlgorithmProtection must name the algorithms that are used")
    func algorithmProtection() throws {
        func protection(_ digest: TestSignature.Digest) -> [UInt8] {
            let named = TestDER.sequence([TestDER.objectIdentifier(digest.identifier), TestDER.null])
            let signature = TestDER.context(
                1, constructed: TestDER.objectIdentifier(TestSignature.Digest.sha256.ecdsaIdentifier))
            return HandMadeMessage.attribute(
                [1, 2, 840, 113_549, 1, 9, 52], [TestDER.sequence([named, signature])])
        }
        let good = protection(.sha256)
        let bad = protection(.sha512)
        #expect(try refusal { $0.attributes = { $0 + [good] } } == nil)
        #expect(try refusal { $0.attributes = { $0 + [bad] } }?.code == .malformedMessage)
    }

    @Test("SHA-1 is refused with an explanation unless it is allowed, under RSA and ECDSA")
    func legacy() throws {
        for key in [TestKey.Choice.sharedRSA(bits: 2048, index: 0), .p256] {
            let fixture = try TrustServerFixture(key: key)
            var message = fixture.message()
            message.digest = .sha1
            let error = try #require(try fixture.refusal(of: message))
            #expect(error.code == .legacyDigest)
            #expect(error.remedy.contains("allow legacy digests"))
            let data = try message.der()
            #expect(try fixture.document(data, allowsLegacyDigests: true).customer == "gcx")
            // Allowing SHA-1 does not allow a signature with it under a digest that is not.
            message.digest = .sha256
            message.signature =
                if case .rsaPKCS1 = message.automaticSignature { .rsaPKCS1(.sha1) } else { .ecdsa(.sha1) }
            message.signatureAlgorithm = message.signature?.algorithmIdentifier
            let mixed = try message.der()
            #expect(throws: DocumentError(.unsupportedMessage, expected: "", found: "")) {
                try fixture.document(mixed, allowsLegacyDigests: true)
            }
        }
    }

    @Test("The signer's certificate is taken in DER, in PEM, and in PEM with text around it")
    func pemConfiguration() throws {
        let signer = try TrustServerFixture.selfSigned("gcx")
        let pem = "-----BEGIN CERTIFICATE-----\n\(Data(signer.der).base64EncodedString())\n-----END CERTIFICATE-----\n"
        for text in [pem, "Certificate:\n    Data: …\n" + pem, "\u{FEFF}" + pem] {
            #expect(try TrustServerSigner(certificate: Data(text.utf8)).identity == signer.der)
        }
        #expect(try TrustServerSigner(certificate: Data(signer.der)).identity == signer.der)
        for (text, found) in [
            (pem + pem, "2 certificates"), (pem.replacing("CERTIFICATE", with: "PUBLIC KEY"), "no certificate"),
            (pem.replacing("-----END", with: "-----EDN"), "other characters"), ("MIIF", "instead"),
        ] {
            do throws(DocumentError) {
                _ = try TrustServerSigner(certificate: Data(text.utf8))
                Issue.record("\(text) is not the certificate of one signer")
            } catch {
                #expect(error.code == .invalidSigner)
                #expect(error.found.contains(found) || found == "instead", "\(error)")
                #expect(error.remedy.contains("trust-server show") && !error.description.contains(". ."))
                #expect(error.description.split(separator: ". ").count == 2, "\(error)")
            }
        }
    }

    @Test("Weak keys and what is no certificate cannot be configured")
    func configuration() throws {
        let weak = try TrustServerFixture.selfSigned("gcx", key: .sharedRSA(bits: 1024, index: 0))
        for data in [Data(weak.der), Data(), Data("MIIF".utf8)] {
            #expect(throws: DocumentError(.invalidSigner, expected: "", found: "")) {
                try TrustServerSigner(certificate: data)
            }
        }
    }
}
