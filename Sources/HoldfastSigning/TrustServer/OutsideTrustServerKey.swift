import Crypto
import CryptoExtras
public import Foundation
import Holdfast

/// The key of a trust server outside this process, in a token, a hardware security module or a key service, with its
/// certificate.
///
/// This value contains no secret.
public struct OutsideTrustServerKey: TrustServerDocumentSigner {
    /// The data to sign.
    public struct Request: Sendable, Hashable {
        /// The bytes to sign: the DER of the attributes contentType, signingTime and messageDigest (RFC 5652 5.4).
        public let message: [UInt8]
        /// The content whose SHA-256 is messageDigest.
        public let content: Data
    }

    private enum PublicKey: Sendable {
        case rsa(_RSA.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
    }

    /// The DER of the certificate, with which clients are configured.
    public let certificate: Data
    private let publicKey: PublicKey
    private let issuerAndSerialNumber: [UInt8]
    private let sign: @Sendable (Request) throws -> [UInt8]

    /// Makes a key from a closure that signs.
    /// - Parameters:
    ///   - certificate: DER or PEM of the certificate of a P-256 or RSA key.
    ///   - sign: receives the data to sign, and hashes it with SHA-256 itself. It returns an RSA signature with the
    ///     padding of PKCS #1 v1.5, or an ECDSA signature, in DER or as r and s concatenated. It may block.
    /// - Throws: ``SigningError`` `wrongCertificate` or `unsupportedKey`.
    public init(certificate: Data, signing sign: @escaping @Sendable (Request) throws -> [UInt8]) throws(SigningError) {
        let read = try TrustServerKey.certificate(in: certificate)
        let info = Array(read.subjectPublicKeyInfo)
        if let key = try? P256.Signing.PublicKey(derRepresentation: info) {
            publicKey = .p256(key)
        } else if let key = try? _RSA.Signing.PublicKey(derRepresentation: info), key.keySizeInBits >= 2_048 {
            publicKey = .rsa(key)
        } else {
            throw SigningError(
                .unsupportedKey, expected: "a certificate of RSA with 2048 bits or more, or of P-256",
                found: (try? SubjectPublicKeyInfo(der: info))?.algorithmName ?? "another")
        }
        self.certificate = Data(read.der)
        issuerAndSerialNumber = TrustServerKey.issuerAndSerialNumber(of: read)
        self.sign = sign
    }

    /// Signs content with the external key.
    /// - Throws: ``SigningError`` `signerFailed`, with the closure's error, and `wrongSignature` if the returned
    ///   signature does not verify.
    public func sign(_ content: Data, at time: Date) throws(SigningError) -> Data {
        let isRSA = if case .rsa = publicKey { true } else { false }
        return try TrustServerKey.message(
            content, at: time, certificate: certificate, issuerAndSerialNumber, isRSA: isRSA
        ) { message throws(SigningError) in
            let octets = try OutsideSignature.octets { try sign(Request(message: message, content: content)) }
            switch publicKey {
            case .rsa(let key):
                let signature = _RSA.Signing.RSASignature(rawRepresentation: octets)
                if key.isValidSignature(signature, for: SHA256.hash(data: message), padding: .insecurePKCS1v1_5) {
                    return octets
                }
            case .p256(let key):
                let candidates = [
                    try? P256.Signing.ECDSASignature(derRepresentation: octets),
                    try? P256.Signing.ECDSASignature(rawRepresentation: octets),
                ]
                for case let signature? in candidates where key.isValidSignature(signature, for: message) {
                    return Array(signature.derRepresentation)
                }
            }
            throw OutsideSignature.wrong(octets)
        }
    }
}
