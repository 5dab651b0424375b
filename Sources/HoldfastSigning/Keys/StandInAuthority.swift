import Crypto
package import Foundation
package import Holdfast
import SwiftASN1

/// An authority that stands in for a real one whose key is not available, so that clients' own code can evaluate a
/// certificate that the real authority has not issued yet.
///
/// Its key is generated for it alone and stored nowhere. A validator trusts it only if it is configured to.
package struct StandInAuthority: Sendable {
    /// The DER of the certificate.
    package let certificate: [UInt8]
    /// The DER of the name.
    private let subject: [UInt8]
    private let key: P256.Signing.PrivateKey
    /// The number of stand-ins above it, not counting copies.
    private let level: Int

    /// Makes a root that stands in for the authorities that a client trusts.
    /// - Parameters:
    ///   - begins: when the certificate becomes valid.
    ///   - ends: the last second at which it is valid.
    /// - Throws: ``SigningError`` `cryptographyFailed`.
    package init(from begins: Date, until ends: Date) throws(SigningError) {
        try self.init(issuedBy: nil, from: begins, until: ends)
    }

    /// Makes an authority below this one, for an intermediate that is not known yet.
    /// - Throws: ``SigningError`` `cryptographyFailed`.
    package func authority(from begins: Date, until ends: Date) throws(SigningError) -> StandInAuthority {
        try StandInAuthority(issuedBy: self, from: begins, until: ends)
    }

    private init(
        issuedBy issuer: StandInAuthority?, from begins: Date, until ends: Date
    ) throws(SigningError) {
        let key = P256.Signing.PrivateKey()
        // With the name of its issuer, it would be self-issued and would not count toward the length of a path.
        level = (issuer?.level ?? -1) + 1
        let subject = Self.name("Stand-in authority \(level)")
        certificate = try Self.signed(
            by: issuer?.key ?? key,
            [
                Self.version, DERText.integer([1]), Self.algorithm, issuer?.subject ?? subject,
                Self.validity(begins, ends), subject, Array(key.publicKey.derRepresentation),
                Self.extensions([
                    // BasicConstraints with cA; keyCertSign and cRLSign (RFC 5280 4.2.1.9, 4.2.1.3).
                    Self.critical(Self.basicConstraints, DERText.sequence([DERText.primitive(.boolean, [0xFF])])),
                    Self.critical(Self.keyUsage, DERText.primitive(.bitString, [1, 0x06])),
                ]),
            ])
        self.subject = subject
        self.key = key
    }

    private init(certificate: [UInt8], subject: [UInt8], key: P256.Signing.PrivateKey) {
        self.certificate = certificate
        self.subject = subject
        self.key = key
        level = 0
    }

    // MARK: Copies

    /// Copies the certificates of authorities: everything except keys and signatures is unchanged. A copy signs the
    /// copies of exactly those certificates that the original signed. A certificate whose issuer is not among them is
    /// signed by a key that is discarded.
    /// - Returns: the copies, in the order of the certificates.
    /// - Throws: ``SigningError`` `cryptographyFailed`.
    package static func copies(of certificates: [X509Certificate]) throws(SigningError) -> [StandInAuthority] {
        var keys: [Authority: P256.Signing.PrivateKey] = [:]
        for certificate in certificates where keys[Authority(certificate)] == nil {
            keys[Authority(certificate)] = P256.Signing.PrivateKey()
        }
        return try certificates.map { certificate throws(SigningError) in
            let signer = certificates.first { $0.subject == certificate.issuer && certificate.isSigned(by: $0) }
            let lost = P256.Signing.PrivateKey()
            let key = keys[Authority(certificate)] ?? lost
            return StandInAuthority(
                certificate: try copy(
                    of: certificate, for: key, signedBy: signer.flatMap { keys[Authority($0)] } ?? lost),
                subject: Array(certificate.subject.der), key: key)
        }
    }

    /// A name and a key: several certificates of one authority have one key, and so do their copies.
    private struct Authority: Hashable {
        let name: ArraySlice<UInt8>
        let key: ArraySlice<UInt8>

        init(_ certificate: X509Certificate) {
            name = certificate.subject.der
            key = certificate.subjectPublicKeyInfo
        }
    }

    /// A copy of a certificate with another key, signed by another key (RFC 5280 4.1).
    private static func copy(
        of original: X509Certificate, for key: P256.Signing.PrivateKey, signedBy signer: P256.Signing.PrivateKey
    ) throws(SigningError) -> [UInt8] {
        let der = original.der
        let parts: (before: Range<Int>, between: Range<Int>, after: Range<Int>)
        do throws(DERError) {
            var certificate = try DERReader(sequence: der)
            let content = try certificate.next(DERTag.sequence)
            var fields = certificate.inside(content)
            _ = try fields.nextIfPresent(DERTag.contextConstructed(0))
            _ = try fields.next(DERTag.integer)
            let signature = try fields.next(DERTag.sequence).encoded
            for _ in ["issuer", "validity", "subject"] { _ = try fields.next(DERTag.sequence) }
            let publicKey = try fields.next(DERTag.sequence).encoded
            parts = (
                content.content.lowerBound..<signature.lowerBound, signature.upperBound..<publicKey.lowerBound,
                publicKey.upperBound..<content.content.upperBound
            )
        } catch {
            throw SigningError(.cryptographyFailed, expected: "a certificate", found: "\(error)")
        }
        return try signed(
            by: signer,
            [
                Array(der[parts.before]), algorithm, Array(der[parts.between]),
                Array(key.publicKey.derRepresentation), Array(der[parts.after]),
            ])
    }

    // MARK: Certificates of servers

    /// Issues a certificate for a host.
    /// - Parameters:
    ///   - subjectPublicKeyInfo: DER of the key; nil for a new key that is discarded.
    ///   - host: the host in the certificate.
    ///   - begins: when it becomes valid.
    ///   - ends: the last second at which it is valid.
    /// - Returns: DER.
    /// - Throws: ``SigningError`` `cryptographyFailed`.
    package func certificate(
        of subjectPublicKeyInfo: [UInt8]? = nil, for host: DialedHost, from begins: Date, until ends: Date
    ) throws(SigningError) -> [UInt8] {
        let san =
            host.addressOctets.map { Self.context(7, $0) } ?? Self.context(2, Array(host.name.utf8))
        return try Self.signed(
            by: key,
            [
                Self.version, DERText.integer([2]), Self.algorithm, subject, Self.validity(begins, ends),
                Self.name("Stand-in"),
                subjectPublicKeyInfo ?? Array(P256.Signing.PrivateKey().publicKey.derRepresentation),
                Self.extensions([
                    Self.critical(Self.keyUsage, DERText.primitive(.bitString, [7, 0x80])),
                    Self.plain(
                        Self.extendedKeyUsage, DERText.sequence([DERText.objectIdentifier(Self.serverAuthentication)])),
                    Self.plain(Self.subjectAltName, DERText.sequence([san])),
                ]),
            ])
    }

    // MARK: Encoding

    private static let basicConstraints: ASN1ObjectIdentifier = [2, 5, 29, 19]
    private static let keyUsage: ASN1ObjectIdentifier = [2, 5, 29, 15]
    private static let extendedKeyUsage: ASN1ObjectIdentifier = [2, 5, 29, 37]
    private static let subjectAltName: ASN1ObjectIdentifier = [2, 5, 29, 17]
    private static let serverAuthentication: ASN1ObjectIdentifier = [1, 3, 6, 1, 5, 5, 7, 3, 1]
    private static let commonName: ASN1ObjectIdentifier = [2, 5, 4, 3]
    private static let algorithm = DERText.sequence([DERText.objectIdentifier([1, 2, 840, 10045, 4, 3, 2])])
    private static let version = DERText.context(0, [DERText.integer([2])])

    private static func validity(_ begins: Date, _ ends: Date) -> [UInt8] {
        DERText.sequence([DERTime.element(begins.wholeSeconds), DERTime.element(ends.wholeSeconds)])
    }

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

    private static func signed(by key: P256.Signing.PrivateKey, _ fields: [[UInt8]]) throws(SigningError) -> [UInt8] {
        let content = DERText.sequence(fields)
        let signature: [UInt8]
        do {
            signature = Array(try key.signature(for: content).derRepresentation)
        } catch {
            throw SigningError(.cryptographyFailed, expected: "a signature", found: "none")
        }
        return DERText.sequence([content, algorithm, DERText.bitString(signature)])
    }
}
