public import Foundation
import SwiftASN1

/// A certificate that a test authority made, with its private key. Two certificates are equal if their DER is.
public struct TestCertificate: Sendable {
    /// The DER of the certificate.
    public let der: [UInt8]
    /// The private key of the subject.
    public let key: TestKey
    /// The specification from which it was made.
    public let specification: CertificateSpecification
    /// The certificates above it, from its signer to the root; empty if it is self-signed.
    public let issuers: [TestCertificate]
    /// The time on the authority's clock when the certificate was made; the base of validity offsets.
    public let issuedAt: Date

    init(
        der: [UInt8], key: TestKey, specification: CertificateSpecification, issuers: [TestCertificate],
        issuedAt: Date
    ) {
        self.der = der
        self.key = key
        self.specification = specification
        self.issuers = issuers
        self.issuedAt = issuedAt
    }

    /// The certificate in PEM (RFC 7468).
    public var pem: String { Self.pem(der) }

    /// Whether it is self-signed.
    public var isSelfSigned: Bool { issuers.isEmpty }

    /// The DER of a server's chain: this certificate first, then those above it without the root. A self-signed
    /// certificate is a chain by itself.
    public var chain: [[UInt8]] { [der] + issuers.filter { !$0.isSelfSigned }.map(\.der) }

    /// The chain as one PEM file.
    public var chainPEM: String { chain.map(Self.pem).joined() }

    /// The DER of the certificate that a client has to trust: the root, or the certificate itself if it is self-signed.
    public var root: [UInt8] { issuers.last?.der ?? der }

    /// The beginning of the validity; nil if it was given as DER.
    public var notBefore: Date? { specification.notBefore.date(now: issuedAt) }

    /// The end of the validity; nil if it was given as DER.
    public var notAfter: Date? { specification.notAfter.date(now: issuedAt) }

    /// Any bytes in PEM, with the label `CERTIFICATE`.
    public static func pem(_ der: [UInt8]) -> String {
        PEMDocument(type: "CERTIFICATE", derBytes: der).pemString + "\n"
    }

    var keyIdentifier: [UInt8]? {
        switch specification.subjectKeyIdentifier {
        case .automatic: key.keyIdentifier
        case .absent: nil
        case .octets(let octets): octets
        }
    }
}

extension TestCertificate: Hashable {
    /// Whether the DER is the same.
    public static func == (left: TestCertificate, right: TestCertificate) -> Bool { left.der == right.der }

    /// Consistent with equality.
    public func hash(into hasher: inout Hasher) { hasher.combine(der) }
}
