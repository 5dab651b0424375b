import Crypto
import CryptoExtras
public import Foundation
import Holdfast
import SwiftASN1

/// The key of a trust server, with its certificate. It signs documents for one customer (CMS SignedData, RFC 5652).
///
/// ```swift
/// let key = try TrustServerKey(customer: "gcx", kind: .p256, at: now)
/// let app = key.certificate.base64EncodedString()     // for the app: trustServerCertificate
/// ```
/// This value contains a secret: keep ``privateKeyPEM`` in a file of mode 0600.
public struct TrustServerKey: Sendable {
    /// The kinds of key.
    public enum Kind: String, Sendable, CaseIterable {
        /// RSA with 4,096 bits, as the published signer uses. Making such a key takes seconds.
        case rsa4096 = "rsa-4096"
        /// ECDSA on P-256: small and quick.
        case p256 = "p-256"
    }

    private enum Secret: Sendable {
        case rsa(_RSA.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
    }

    /// The DER of the certificate, with which clients are configured.
    public let certificate: Data
    private let secret: Secret
    private let issuerAndSerialNumber: [UInt8]

    /// Makes a key and a self-signed certificate. The certificate's only name is the customer, and its only use is
    /// signing.
    /// - Parameters:
    ///   - customer: 1 to 64 letters, digits, periods, hyphens and underscores, not beginning with a period, because
    ///     files are named after the customer.
    ///   - kind: the kind of key.
    ///   - time: when the certificate becomes valid.
    ///   - lifetime: how long the certificate is valid, in whole seconds: 20 years by default, at least one day, and at
    ///     most 100 years. Clients compare its bytes, and only report that it has expired.
    /// - Throws: ``SigningError``.
    public init(
        customer: String, kind: Kind, at time: Date, lifetime: Duration = .seconds(20 * 31_557_600)
    ) throws(SigningError) {
        try Self.requireCustomer(customer)
        do {
            secret =
                switch kind {
                case .rsa4096: .rsa(try _RSA.Signing.PrivateKey(keySize: .bits4096))
                case .p256: .p256(P256.Signing.PrivateKey())
                }
        } catch {
            throw SigningError(.cryptographyFailed, expected: "a key \(kind.rawValue)", found: "none")
        }
        let start = Self.seconds(time)
        let lifetime = min(max(lifetime, .seconds(86_400)), .seconds(100 * 31_557_600))
        let lastSecond = start + lifetime.components.seconds - 1
        let name = DERText.sequence([
            DERText.set([
                DERText.sequence([DERText.objectIdentifier(Identifier.commonName), DERText.utf8String(customer)])
            ])
        ])
        // 0x40 keeps the number positive and its encoding 16 bytes long (RFC 5280 4.1.2.2).
        let serial = DERText.integer(
            [UInt8.random(in: 0x40...0x7F)] + (1..<16).map { _ in UInt8.random(in: .min ... .max) })
        let algorithm = Self.certificateAlgorithm(of: secret)
        // keyUsage: critical, the one bit digitalSignature (RFC 5280 4.2.1.3).
        let usage = DERText.sequence([
            DERText.objectIdentifier(Identifier.keyUsage), DERText.primitive(.boolean, [0xFF]),
            DERText.octetString(DERText.primitive(.bitString, [7, 0x80])),
        ])
        let toBeSigned = DERText.sequence([
            DERText.context(0, [DERText.integer([2])]), serial, algorithm, name,
            DERText.sequence([DERTime.element(start), DERTime.element(lastSecond)]), name,
            Self.subjectPublicKeyInfo(of: secret), DERText.context(3, [DERText.sequence([usage])]),
        ])
        let signature = try Self.signature(of: toBeSigned, by: secret)
        certificate = Data(DERText.sequence([toBeSigned, algorithm, DERText.bitString(signature)]))
        issuerAndSerialNumber = DERText.sequence([name, serial])
    }

    /// Uses an existing key and certificate, such as those of the published signer.
    /// - Parameters:
    ///   - certificate: DER or PEM of one certificate, self-signed or not.
    ///   - privateKeyPEM: RSA with 2,048 bits or more, or P-256; in PKCS #8, PKCS #1 or SEC 1, not encrypted.
    /// - Throws: ``SigningError``; `wrongCertificate` if the two do not belong together.
    public init(certificate: Data, privateKeyPEM: String) throws(SigningError) {
        secret = try Self.secret(privateKeyPEM)
        let read = try Self.certificate(in: certificate)
        guard read.subjectPublicKeyInfo.elementsEqual(Self.subjectPublicKeyInfo(of: secret)) else {
            throw SigningError(
                .wrongCertificate, expected: "the certificate of the private key", found: "that of another key")
        }
        self.certificate = Data(read.der)
        issuerAndSerialNumber = Self.issuerAndSerialNumber(of: read)
    }

    /// The one certificate of a file.
    static func certificate(in file: Data) throws(SigningError) -> X509Certificate {
        let all: [X509Certificate]
        do throws(CertificateFileError) {
            all = try CertificateFile.certificates(in: file, named: "certificate")
        } catch {
            throw SigningError(.wrongCertificate, expected: error.expected, found: error.found)
        }
        guard let read = all.first, all.count == 1 else {
            throw SigningError(.wrongCertificate, expected: "one certificate", found: "\(all.count)")
        }
        return read
    }

    /// The form in which a message names its signer (RFC 5652 10.2.4).
    static func issuerAndSerialNumber(of certificate: X509Certificate) -> [UInt8] {
        DERText.sequence([Array(certificate.issuer.der), DERText.integer(Array(certificate.serialNumber))])
    }

    /// The customer whose documents clients accept from this key: the certificate's common name. It is nil if the
    /// certificate does not have exactly one, and it may be any text; see `DistinguishedName.commonName`.
    public var customer: String? { (try? X509Certificate(der: [UInt8](certificate)))?.subject.commonName }

    /// The certificate in PEM.
    public var certificatePEM: String {
        PEMDocument(type: "CERTIFICATE", derBytes: [UInt8](certificate)).pemString + "\n"
    }

    /// The private key in unencrypted PKCS #8, in PEM.
    public var privateKeyPEM: String {
        let der: Data =
            switch secret {
            case .rsa(let key): key.pkcs8DERRepresentation
            case .p256(let key): key.derRepresentation
            }
        return PEMDocument(type: "PRIVATE KEY", derBytes: [UInt8](der)).pemString + "\n"
    }

    /// Signs content. The signature covers the attributes contentType, signingTime and messageDigest, with SHA-256. The
    /// RSA algorithm is named `rsaEncryption`, as in openssl.
    /// - Parameters:
    ///   - content: any bytes. The CMS type is `data`.
    ///   - time: the signing time, in whole seconds.
    /// - Returns: the DER of a CMS SignedData that contains the content and the certificate.
    /// - Throws: ``SigningError`` `cryptographyFailed`.
    public func sign(_ content: Data, at time: Date) throws(SigningError) -> Data {
        let isRSA = if case .rsa = secret { true } else { false }
        return try Self.message(content, at: time, certificate: certificate, issuerAndSerialNumber, isRSA: isRSA) {
            message throws(SigningError) in try Self.signature(of: message, by: secret)
        }
    }

    /// Assembles the signed message.
    static func message(
        _ content: Data, at time: Date, certificate: Data, _ issuerAndSerialNumber: [UInt8], isRSA: Bool,
        signing sign: ([UInt8]) throws(SigningError) -> [UInt8]
    ) throws(SigningError) -> Data {
        let digest = DERText.sequence([DERText.objectIdentifier(Identifier.sha256), DERText.null])
        let data = DERText.objectIdentifier(Identifier.data)
        func attribute(_ type: ASN1ObjectIdentifier, _ value: [UInt8]) -> [UInt8] {
            DERText.sequence([DERText.objectIdentifier(type), DERText.set([value])])
        }
        let attributes = [
            attribute(Identifier.contentType, data),
            attribute(Identifier.signingTime, DERTime.element(Self.seconds(time))),
            attribute(Identifier.messageDigest, DERText.octetString(Array(SHA256.hash(data: content)))),
        ]
        let signed = DERText.set(attributes)
        // The signature covers the attributes with the tag of a SET; the message contains them with the tag [0] (RFC
        // 5652 5.4).
        let sent = [0xA0] + signed.dropFirst()
        let algorithm =
            isRSA
            ? DERText.sequence([DERText.objectIdentifier(Identifier.rsaEncryption), DERText.null])
            : DERText.sequence([DERText.objectIdentifier(Identifier.ecdsaWithSHA256)])
        let one = DERText.integer([1])
        let signer = DERText.sequence([
            one, issuerAndSerialNumber, digest, sent, algorithm, DERText.octetString(try sign(signed)),
        ])
        let message = DERText.sequence([
            one, DERText.set([digest]),
            DERText.sequence([data, DERText.context(0, [DERText.octetString([UInt8](content))])]),
            DERText.context(0, [[UInt8](certificate)]), DERText.set([signer]),
        ])
        return Data(
            DERText.sequence([DERText.objectIdentifier(Identifier.signedData), DERText.context(0, [message])]))
    }

    // MARK: Keys

    /// Checks that a customer's name can be part of a file name.
    /// - Throws: ``SigningError`` `invalidCustomer`.
    package static func requireCustomer(_ customer: String) throws(SigningError) {
        let isName = customer.utf8.allSatisfy { octet in
            switch octet {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
        guard isName, (1...64).contains(customer.utf8.count), customer.utf8.first != UInt8(ascii: ".") else {
            throw SigningError(.invalidCustomer, expected: "a customer's name", found: "another text")
        }
    }

    private static func secret(_ pem: String) throws(SigningError) -> Secret {
        let block = try PrivateKeyPEM(pem)
        switch block.kind {
        case .privateKey:
            if let key = try? P256.Signing.PrivateKey(derRepresentation: block.der) { return .p256(key) }
            if let key = try? _RSA.Signing.PrivateKey(derRepresentation: block.der) { return .rsa(key) }
            throw SigningError(
                .unsupportedKey, expected: "RSA of 2048 bits or more, or P-256", found: "another, or a damaged one")
        case .encryptedPrivateKey:
            throw SigningError(.passwordNeeded, expected: "a key that is not encrypted", found: "an encrypted one")
        default:
            throw PrivateKeyPEM.otherLabel
        }
    }

    private static func signature(of message: [UInt8], by secret: Secret) throws(SigningError) -> [UInt8] {
        do {
            return switch secret {
            case .rsa(let key):
                Array(
                    try key.signature(for: SHA256.hash(data: message), padding: .insecurePKCS1v1_5).rawRepresentation)
            case .p256(let key): Array(try key.signature(for: message).derRepresentation)
            }
        } catch {
            throw SigningError(.cryptographyFailed, expected: "a signature", found: "none")
        }
    }

    private static func subjectPublicKeyInfo(of secret: Secret) -> [UInt8] {
        switch secret {
        case .rsa(let key): [UInt8](key.publicKey.derRepresentation)
        case .p256(let key): [UInt8](key.publicKey.derRepresentation)
        }
    }

    private static func certificateAlgorithm(of secret: Secret) -> [UInt8] {
        switch secret {
        case .rsa: DERText.sequence([DERText.objectIdentifier(Identifier.sha256WithRSA), DERText.null])
        case .p256: DERText.sequence([DERText.objectIdentifier(Identifier.ecdsaWithSHA256)])
        }
    }

    private static func seconds(_ time: Date) -> Int64 {
        // A certificate cannot state a time that is not a number; use the beginning of 1970 instead.
        time.wholeSeconds == .max ? 0 : time.wholeSeconds
    }

    private enum Identifier {
        static let commonName: ASN1ObjectIdentifier = [2, 5, 4, 3]
        static let keyUsage: ASN1ObjectIdentifier = [2, 5, 29, 15]
        static let data: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 1]
        static let signedData: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 2]
        static let contentType: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 3]
        static let messageDigest: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 4]
        static let signingTime: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 5]
        static let rsaEncryption: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 1]
        static let sha256WithRSA: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 11]
        static let ecdsaWithSHA256: ASN1ObjectIdentifier = [1, 2, 840, 10_045, 4, 3, 2]
        static let sha256: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 2, 1]
    }
}

extension TrustServerKey: CustomStringConvertible {
    /// A fixed text, so that logs never contain the key.
    public var description: String { "the private key of a trust server" }
}
