import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Reading certificates, RFC 5280 4.1")
struct X509CertificateTests {
    private func make(_ configure: (inout CertificateSpecification) -> Void = { _ in }) throws -> [UInt8] {
        try TestAuthority.selfSigned(names: ["www.example.com"], configure: configure).der
    }

    @Test("The fields are those that were written")
    func fields() throws {
        let root = try TestAuthority.root()
        let made = try root.leaf(names: ["www.example.com", "127.0.0.1"]) { $0.serial = [0x01, 0x02] }
        let read = try X509Certificate(der: made.der)
        #expect(read.version == 3)
        #expect(Array(read.serialNumber) == [1, 2])
        #expect(read.issuer.description == "CN=Test Root")
        #expect(read.subject.description == "CN=www.example.com")
        #expect(read.subjectAlternativeNames == [.dNSName("www.example.com"), .iPAddress([127, 0, 0, 1])])
        #expect(Array(read.subjectPublicKeyInfo) == made.key.subjectPublicKeyInfoDER)
        #expect(read.keyKind == .p256)
        #expect(read.signatureAlgorithm == .ecdsa(.sha256))
        #expect(read.notAfter.timeIntervalSince1970 == made.notAfter?.timeIntervalSince1970.rounded(.down))
        #expect(!read.isSelfIssued)
        let identifier = try #require(try X509Certificate(der: root.certificate.der).subjectKeyIdentifier)
        #expect(read.authorityKeyIdentifier?.elementsEqual(identifier) == true)
        #expect(read.publicKeyPin == Pin(subject: .publicKey, hashing: read.subjectPublicKeyInfo))
        #expect(read.certificatePin == Pin.certificate(made.der))
    }

    /// A fault, the code and field of the error it makes.
    private static let faults: [(CertificateFault, CertificateError.Code, String)] = [
        (.trailingBytes([0]), .trailingBytes, "certificate"), (.truncated(1), .notDER, "certificate"),
        (.outerSignatureAlgorithm(.ecdsa(.sha384)), .algorithmMismatch, "signatureAlgorithm"),
        (.innerSignatureAlgorithm(.ed25519), .algorithmMismatch, "signatureAlgorithm"),
        (.duplicatedExtension(.subjectAltName), .duplicateExtension, "extensions"),
        (
            .extensions { $0 = (0...64).map { .init([1, 2, 3, UInt($0)], value: [5, 0]) } }, .malformedField,
            "extensions"
        ),
    ]

    @Test("A fault is an error that names its field", arguments: faults.indices)
    func damage(index: Int) throws {
        let (fault, code, field) = Self.faults[index]
        let der = try make { $0.faults = [fault] }
        let error = #expect(throws: CertificateError.self) { try X509Certificate(der: der) }
        #expect(error?.code == code)
        #expect(error?.field == field)
    }

    @Test("More than a certificate may have is not read")
    func size() throws {
        let big = try make {
            $0.extensions = [.init([1, 2, 3], value: [UInt8](repeating: 0, count: CertificateLimits.maximumBytes))]
        }
        #expect(throws: CertificateError(.tooLarge, field: "", expected: "", found: "")) {
            try X509Certificate(der: big)
        }
        let error = #expect(throws: CertificateError.self) { try X509Certificate(der: []) }
        #expect(error?.code == .notDER)
    }

    @Test("Versions 1 to 3 are read, others and a written default are not")
    func versions() throws {
        for version in 1...3 { #expect(try X509Certificate(der: make { $0.version = version }).version == version) }
        for version in [0, 4, 5, 255, 256, -1] {
            #expect(throws: CertificateError.self) { try X509Certificate(der: make { $0.version = version }) }
        }
        // INTEGER 0 inside the tag: the default, which DER leaves out.
        let written = HandMadeDER.certificate(version: HandMadeDER.element(0xA0, HandMadeDER.element(2, [0])))
        #expect(throws: CertificateError.self) { try X509Certificate(der: written) }
    }

    @Test("Certificates with odd serial numbers are read: they are no danger")
    func serials() throws {
        for serial in [[0], [0xFF], [0, 0, 1], [UInt8](repeating: 1, count: 200)] as [[UInt8]] {
            #expect(try Array(X509Certificate(der: make { $0.serial = serial }).serialNumber) == serial)
        }
        #expect(throws: CertificateError.self) { try X509Certificate(der: make { $0.serial = [] }) }
    }

    @Test("What is in the wrong place in what is signed is an error")
    func structure() throws {
        let good = HandMadeDER.certificate()
        #expect(throws: Never.self) { try X509Certificate(der: good) }
        let extensions = HandMadeDER.element(0xA3, HandMadeDER.sequence())
        for bad in [
            HandMadeDER.certificate(afterKey: [5, 0]), HandMadeDER.certificate(afterKey: extensions),
            HandMadeDER.certificate(afterKey: HandMadeDER.element(0xA3, [])),
            HandMadeDER.certificate(afterKey: [0x82, 0, 0x81, 0]),
            HandMadeDER.certificate(afterKey: [0x81, 0, 0x81, 0]),
            HandMadeDER.certificate(subject: [0x31, 0]), HandMadeDER.certificate(issuer: [5, 0]),
            HandMadeDER.certificate(serial: []), HandMadeDER.certificate(serial: [0x0A, 1, 1]),
        ] {
            #expect(throws: CertificateError.self) { try X509Certificate(der: bad) }
        }
        #expect(throws: Never.self) { try X509Certificate(der: HandMadeDER.certificate(afterKey: [0x81, 0, 0x82, 0])) }
    }

    @Test("Extensions are read in the one form that DER has")
    func extensions() throws {
        let identifier = TestDER.objectIdentifier([2, 5, 29, 19])
        func certificate(_ one: [UInt8]) -> [UInt8] {
            HandMadeDER.certificate(
                afterKey: HandMadeDER.element(0xA3, HandMadeDER.sequence(HandMadeDER.element(0x30, one))))
        }
        let critical = try X509Certificate(der: certificate(identifier + [1, 1, 0xFF, 4, 0])).layout.extensions
        #expect(critical.map(\.isCritical) == [true])
        #expect(critical.map(\.known) == [.basicConstraints])
        // FALSE written out is not DER, but harmless and seen.
        #expect(
            try X509Certificate(der: certificate(identifier + [1, 1, 0, 4, 0])).layout.extensions.map(\.isCritical) == [
                false
            ])
        for bad in [
            identifier, identifier + [1, 1, 0xFF], identifier + [1, 1, 1, 4, 0], identifier + [1, 0, 4, 0],
            identifier + [4, 0, 5, 0], [4, 0], identifier + [4, 0, 1, 1, 0xFF], identifier + [5, 0], [],
        ] {
            #expect(throws: CertificateError.self) { try X509Certificate(der: certificate(bad)) }
        }
    }

    @Test("Key identifiers that are no key identifiers are none")
    func keyIdentifiers() throws {
        for value in [[], [5, 0], [0x30], [0x30, 0], [0x30, 2, 0x81, 0], [4]] as [[UInt8]] {
            let read = try X509Certificate(
                der: make {
                    $0.authorityKeyIdentifier = .octets([1])
                    $0.faults = [
                        .extensionContent(.subjectKeyIdentifier, value),
                        .extensionContent(.authorityKeyIdentifier, value),
                    ]
                })
            #expect(read.authorityKeyIdentifier == nil)
            #expect(read.subjectKeyIdentifier == nil)
        }
    }

    @Test("Equality is that of the DER")
    func equality() throws {
        let der = try make()
        let (one, same) = (try X509Certificate(der: der), try X509Certificate(der: der))
        #expect(one == same)
        #expect(one.hashValue == same.hashValue)
        #expect(try one != X509Certificate(der: make()))
    }

    @Test("A subjectAltName that cannot be read names nobody, and is an error for the rules")
    func unreadableNames() throws {
        let read = try X509Certificate(der: make { $0.faults = [.extensionContent(.subjectAltName, [0x30])] })
        #expect(read.subjectAlternativeNames == [])
        #expect(throws: DERError.self) { try read.subjectAltName }
    }
}
