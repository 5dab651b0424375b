public import Foundation
public import Holdfast
import SwiftASN1

/// A draft of a certificate signing request (PKCS #10, RFC 2986), with which the owner of a key requests a certificate
/// from an authority.
///
/// A backup pin belongs to a key that has no certificate yet. If you store a request next to that key, you can get a
/// certificate for it within minutes if the key in use is lost.
public struct CertificateRequestDraft: Sendable, Hashable {
    /// The names that the certificate should have (subjectAltName). The first one is also the common name, unless it
    /// has more than 64 bytes.
    public let names: [HostPattern]

    /// Longer names do not fit into a common name (RFC 5280 A.1, ub-common-name).
    private static let maximumCommonName = 64
    /// More than any public authority accepts.
    private static let maximumNames = 100

    /// Makes a request for these names.
    /// - Parameter names: 1 to 100 hosts, IP addresses, and wildcards that cover one label.
    /// - Throws: ``SigningError`` `invalidRequest`.
    public init(names: [HostPattern]) throws(SigningError) {
        guard (1...Self.maximumNames).contains(names.count) else {
            throw SigningError(
                .invalidRequest, expected: "1 to \(Self.maximumNames) names", found: "\(names.count)")
        }
        if let wide = names.first(where: { $0.scope == .subtree }) {
            throw SigningError(
                .invalidRequest, expected: "a name that certificates have, such as *.\(wide.base.name)",
                found: wide.description)
        }
        self.names = names
    }

    /// Signs the request with the key that the certificate is for (ECDSA with SHA-256).
    /// - Returns: the DER of the CertificationRequest.
    /// - Throws: ``SigningError`` `cryptographyFailed`.
    public func signed(by key: SigningKey) throws(SigningError) -> Data {
        let information = DERText.sequence([
            DERText.integer([0]), subject, key.subjectPublicKeyInfo, DERText.context(0, [extensionRequest]),
        ])
        let algorithm = DERText.sequence([DERText.objectIdentifier(Self.ecdsaWithSHA256)])
        let signature = try key.signature(for: information)
        return Data(DERText.sequence([information, algorithm, DERText.bitString(signature)]))
    }

    /// Signs the request as ``signed(by:)`` does.
    /// - Returns: the request in PEM (RFC 7468), `BEGIN CERTIFICATE REQUEST`.
    /// - Throws: ``SigningError`` `cryptographyFailed`.
    public func pem(signedBy key: SigningKey) throws(SigningError) -> String {
        PEMDocument(type: "CERTIFICATE REQUEST", derBytes: Array(try signed(by: key))).pemString + "\n"
    }

    /// The subject with the first name as its common name; empty if the name is too long.
    private var subject: [UInt8] {
        guard let name = names.first?.description, name.utf8.count <= Self.maximumCommonName else {
            return DERText.sequence([])
        }
        let common = DERText.sequence([DERText.objectIdentifier(Self.commonName), DERText.utf8String(name)])
        return DERText.sequence([DERText.set([common])])
    }

    /// The attribute extensionRequest (RFC 2985 5.4.2), with the names as subjectAltName.
    private var extensionRequest: [UInt8] {
        let alternatives = names.map { name in
            name.base.addressOctets.map { Self.tagged(7, $0) } ?? Self.tagged(2, Array(name.description.utf8))
        }
        let alternativeNames = DERText.sequence([
            DERText.objectIdentifier(Self.subjectAlternativeName), DERText.octetString(DERText.sequence(alternatives)),
        ])
        return DERText.sequence([
            DERText.objectIdentifier(Self.extensionRequestIdentifier),
            DERText.set([DERText.sequence([alternativeNames])]),
        ])
    }

    /// A GeneralName (RFC 5280 4.2.1.6).
    private static func tagged(_ number: UInt, _ content: [UInt8]) -> [UInt8] {
        DERText.primitive(ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific), content)
    }

    private static let commonName: ASN1ObjectIdentifier = [2, 5, 4, 3]
    private static let subjectAlternativeName: ASN1ObjectIdentifier = [2, 5, 29, 17]
    private static let extensionRequestIdentifier: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 14]
    private static let ecdsaWithSHA256: ASN1ObjectIdentifier = [1, 2, 840, 10_045, 4, 3, 2]
}
