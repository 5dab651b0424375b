import Foundation
import Holdfast

@testable import HoldfastTesting

/// A CMS SignedData made piece by piece, with no line of what reads it, so that a test can make any one piece wrong.
struct HandMadeMessage {
    static let data: TestObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 1]
    static let signedData: TestObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 2]
    static let contentType: TestObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 3]
    static let messageDigest: TestObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 4]
    static let signingTime: TestObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 5]
    static let rsaEncryption: TestObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 1]

    var content: [UInt8]
    var signer: TestCertificate
    var digest = TestSignature.Digest.sha256
    /// nil: ECDSA or RSA PKCS#1 v1.5, with the digest.
    var signature: TestSignature?

    var outerType = signedData
    var version = 1
    /// nil: that of the signer.
    var digestAlgorithms: [[UInt8]]?
    var eContentType = data
    var isDetached = false
    /// nil: the signer's certificate; empty: no field.
    var certificates: [[UInt8]]?
    var lists: [UInt8] = []
    var signerVersion = 1
    /// nil: issuer and serial number of the signer's certificate.
    var identifier: [UInt8]?
    /// nil: the algorithm that was used; RSA PKCS#1 v1.5 as `rsaEncryption`.
    var signatureAlgorithm: [UInt8]?
    var hasAttributes = true
    /// Changes the attributes before they are put in order and signed.
    var attributes: @Sendable ([[UInt8]]) -> [[UInt8]] = { $0 }
    var sortsAttributes = true
    var unsignedAttributes: [UInt8] = []
    /// Changes the list of signers.
    var signers: @Sendable ([UInt8]) -> [[UInt8]] = { [$0] }
    var trailing: [UInt8] = []

    init(_ text: String, signer: TestCertificate) {
        content = Array(text.utf8)
        self.signer = signer
    }

    static func attribute(_ type: TestObjectIdentifier, _ values: [[UInt8]]) -> [UInt8] {
        TestDER.sequence([TestDER.objectIdentifier(type), TestDER.set(values)])
    }

    func digest(of message: [UInt8]) -> [UInt8] { digest.digest(message) { Array($0) } }

    var automaticSignature: TestSignature {
        if let signature { return signature }
        if case .rsa = signer.key.kind { return .rsaPKCS1(digest) }
        return .ecdsa(digest)
    }

    func der() throws -> Data {
        let certificate = try X509Certificate(der: signer.der)
        let digestAlgorithm = TestDER.sequence([TestDER.objectIdentifier(digest.identifier), TestDER.null])
        var list = attributes([
            Self.attribute(Self.contentType, [TestDER.objectIdentifier(eContentType)]),
            Self.attribute(Self.signingTime, [TestDER.element(0x17, Array("260101000000Z".utf8))]),
            Self.attribute(Self.messageDigest, [TestDER.octetString(digest(of: content))]),
        ])
        if sortsAttributes { list.sort { $0.lexicographicallyPrecedes($1) } }
        let signed = hasAttributes ? TestDER.element(0x31, list.flatMap(\.self)) : content
        let algorithm: [UInt8] =
            if let signatureAlgorithm {
                signatureAlgorithm
            } else if case .rsaPKCS1 = automaticSignature {
                TestDER.sequence([TestDER.objectIdentifier(Self.rsaEncryption), TestDER.null])
            } else {
                automaticSignature.algorithmIdentifier
            }
        let serial = TestDER.integer(octets: Array(certificate.serialNumber))
        let signerInfo = TestDER.sequence(
            [
                TestDER.integer(signerVersion),
                identifier ?? TestDER.sequence([Array(certificate.issuer.der), serial]),
                digestAlgorithm,
            ] + (hasAttributes ? [TestDER.context(0, constructed: list.flatMap(\.self))] : []) + [
                algorithm,
                TestDER.octetString(try signer.key.signature(of: signed, by: automaticSignature)),
                unsignedAttributes,
            ])
        let embedded = certificates ?? [signer.der]
        let wrapped = TestDER.context(0, constructed: TestDER.octetString(content))
        let encapsulated = TestDER.sequence(
            [TestDER.objectIdentifier(eContentType)] + (isDetached ? [] : [wrapped]))
        let signedData = TestDER.sequence([
            TestDER.integer(version), TestDER.set(digestAlgorithms ?? [digestAlgorithm]), encapsulated,
            embedded.isEmpty ? [] : TestDER.context(0, constructed: embedded.flatMap(\.self)), lists,
            TestDER.element(0x31, signers(signerInfo).flatMap(\.self)),
        ])
        let outer = [TestDER.objectIdentifier(outerType), TestDER.context(0, constructed: signedData)]
        return Data(TestDER.sequence(outer) + trailing)
    }
}

/// A customer with a signer, for tests of documents.
struct TrustServerFixture {
    /// In the middle of the signer's validity.
    let now: Date
    let customer = "gcx"
    let certificate: TestCertificate

    init(key: TestKey.Choice = .p256) throws {
        let clock = SystemWallClock()
        certificate = try Self.selfSigned("gcx", key: key)
        now = Date(timeIntervalSince1970: clock.now.timeIntervalSince1970.rounded(.down))
    }

    static func selfSigned(
        _ name: TestName, key: TestKey.Choice = .p256, configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws -> TestCertificate {
        var specification = CertificateSpecification(subject: name)
        configure(&specification)
        return try TestAuthority.selfSigned(specification, key: key)
    }

    var signer: TrustServerSigner {
        get throws { try TrustServerSigner(certificate: Data(certificate.der)) }
    }

    var timestamp: Int64 { Int64(now.timeIntervalSince1970) }

    static let hexadecimal = String(repeating: "a5", count: 32)

    var entry: String {
        let key = Data(certificate.key.subjectPublicKeyInfoDER).base64EncodedString()
        return #"{"hostname":"www.example.com","port":"443","fp":["\#(Self.hexadecimal)"],"pk":["\#(key)"]}"#
    }

    func text(_ hashes: String? = nil, customer: String? = nil, timestamp: Int64? = nil, more: String = "") -> String {
        #"{"customer":"\#(customer ?? self.customer)","hashes":[\#(hashes ?? entry)],"timestamp":\#(timestamp ?? self.timestamp)\#(more)}"#
    }

    func message(_ text: String? = nil) -> HandMadeMessage { HandMadeMessage(text ?? self.text(), signer: certificate) }

    func document(
        _ data: Data, by other: TrustServerSigner? = nil, at time: Date? = nil,
        limits: DocumentLimits = DocumentLimits(), allowsLegacyDigests: Bool = false
    ) throws -> TrustServerDocument {
        try TrustServerDocument(
            verifying: data, by: try other ?? signer, customer: customer, at: time ?? now, limits: limits,
            allowsLegacyDigests: allowsLegacyDigests)
    }

    /// Why a message is refused; nil when it is accepted.
    func refusal(of message: HandMadeMessage, by other: TrustServerSigner? = nil) throws -> DocumentError? {
        let data = try message.der()
        do {
            _ = try document(data, by: other)
            return nil
        } catch {
            return error as? DocumentError
        }
    }
}
