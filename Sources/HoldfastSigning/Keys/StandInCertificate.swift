import Crypto
package import Foundation
package import Holdfast
import SwiftASN1

/// A certificate that stands for one that an authority has yet to issue, for a key of which there is only a request.
///
/// It lets clients' own code say what they would make of the key. Its root is made for it alone, and nobody keeps the
/// root's key; only a validator that is told to trusts it.
package struct StandInCertificate: Sendable {
    /// DER of the certificate, which names the host.
    package let certificate: [UInt8]
    /// DER of the root that issued it.
    package let root: [UInt8]

    /// - Parameters:
    ///   - subjectPublicKeyInfo: DER of the key.
    ///   - host: the host for which it would be issued.
    ///   - begins: when both become valid.
    ///   - ends: the last second at which both are valid.
    /// - Throws: ``SigningError`` `cryptographyFailed`.
    package init(
        of subjectPublicKeyInfo: [UInt8], for host: DialedHost, from begins: Date, until ends: Date
    ) throws(SigningError) {
        let key = P256.Signing.PrivateKey()
        let issuer = Self.name("Stand-in root")
        let validity = DERText.sequence([DERTime.element(begins.wholeSeconds), DERTime.element(ends.wholeSeconds)])
        let san =
            host.addressOctets.map { Self.context(7, $0) } ?? Self.context(2, Array(host.name.utf8))
        root = try Self.signed(
            by: key,
            [
                DERText.integer([1]), Self.algorithm, issuer, validity, issuer,
                Array(key.publicKey.derRepresentation),
                Self.extensions([
                    // BasicConstraints with cA; keyCertSign and cRLSign (RFC 5280 4.2.1.9, 4.2.1.3).
                    Self.critical(Self.basicConstraints, DERText.sequence([DERText.primitive(.boolean, [0xFF])])),
                    Self.critical(Self.keyUsage, DERText.primitive(.bitString, [1, 0x06])),
                ]),
            ])
        certificate = try Self.signed(
            by: key,
            [
                DERText.integer([2]), Self.algorithm, issuer, validity, Self.name("Stand-in"), subjectPublicKeyInfo,
                Self.extensions([
                    Self.critical(Self.keyUsage, DERText.primitive(.bitString, [7, 0x80])),
                    Self.plain(
                        Self.extendedKeyUsage, DERText.sequence([DERText.objectIdentifier(Self.serverAuthentication)])),
                    Self.plain(Self.subjectAltName, DERText.sequence([san])),
                ]),
            ])
    }

    private static let basicConstraints: ASN1ObjectIdentifier = [2, 5, 29, 19]
    private static let keyUsage: ASN1ObjectIdentifier = [2, 5, 29, 15]
    private static let extendedKeyUsage: ASN1ObjectIdentifier = [2, 5, 29, 37]
    private static let subjectAltName: ASN1ObjectIdentifier = [2, 5, 29, 17]
    private static let serverAuthentication: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 3, 1]
    private static let commonName: ASN1ObjectIdentifier = [2, 5, 4, 3]
    private static let algorithm = DERText.sequence([DERText.objectIdentifier([1, 2, 840, 10045, 4, 3, 2])])

    private static func name(_ text: String) -> [UInt8] {
        DERText.sequence([
            DERText.set([DERText.sequence([DERText.objectIdentifier(commonName), DERText.utf8String(text)])])
        ])
    }

    private static func context(_ number: UInt, _ content: [UInt8]) -> [UInt8] {
        DERText.primitive(ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific), content)
    }

    private static func critical(_ identifier: ASN1ObjectIdentifier, _ content: [UInt8]) -> [UInt8] {
        DERText.sequence([
            DERText.objectIdentifier(identifier), DERText.primitive(.boolean, [0xFF]), DERText.octetString(content),
        ])
    }

    private static func plain(_ identifier: ASN1ObjectIdentifier, _ content: [UInt8]) -> [UInt8] {
        DERText.sequence([DERText.objectIdentifier(identifier), DERText.octetString(content)])
    }

    private static func extensions(_ all: [[UInt8]]) -> [UInt8] { DERText.context(3, [DERText.sequence(all)]) }

    private static func signed(by key: P256.Signing.PrivateKey, _ parts: [[UInt8]]) throws(SigningError) -> [UInt8] {
        let version = DERText.context(0, [DERText.integer([2])])
        let content = DERText.sequence([version] + parts)
        let signature: [UInt8]
        do {
            signature = Array(try key.signature(for: content).derRepresentation)
        } catch {
            throw SigningError(.cryptographyFailed, expected: "a signature", found: "none")
        }
        return DERText.sequence([content, algorithm, DERText.bitString(signature)])
    }
}
