import Crypto
import CryptoExtras
import Foundation
import NIOCore
import NIOSSL

/// The private key of a client's certificate, which signs in handshakes (RFC 8446 4.4.3, RFC 5246 7.4.8).
///
/// TLS signs at once with a key that it holds, and any server with a certificate would get the client's. With an
/// external key, the signature can wait for a decision.
enum ClientKey: Sendable {
    case p256(P256.Signing.PrivateKey)
    case p384(P384.Signing.PrivateKey)
    case p521(P521.Signing.PrivateKey)
    case rsa(_RSA.Signing.PrivateKey)
    case ed25519(Curve25519.Signing.PrivateKey)
    /// A key that the application keeps, such as in a hardware module.
    case outside(any NIOSSLCustomPrivateKey)

    /// A key that NIOSSL has read; nil for a custom key, which NIOSSL does not expose, and for one of another kind.
    /// - Parameter certificate: the client's.
    init?(_ key: NIOSSLPrivateKey, of certificate: NIOSSLCertificate) {
        let der: [UInt8]
        do {
            der = try key.derBytes
        } catch {
            // Not a custom key: their `derBytes` does not throw.
            guard let key = Ed25519KeyExport.key(in: key, with: certificate) else { return nil }
            self = .ed25519(key)
            return
        }
        self.init(der: der)
    }

    /// A key in DER: PKCS #8 (RFC 5958), SEC 1 (RFC 5915) or PKCS #1 (RFC 8017 A.1.2); nil for any other.
    private init?(der: [UInt8]) {
        if let key = try? P256.Signing.PrivateKey(derRepresentation: der) {
            self = .p256(key)
        } else if let key = try? P384.Signing.PrivateKey(derRepresentation: der) {
            self = .p384(key)
        } else if let key = try? P521.Signing.PrivateKey(derRepresentation: der) {
            self = .p521(key)
        } else if let key = try? _RSA.Signing.PrivateKey(unsafeDERRepresentation: der) {
            self = .rsa(key)
        } else {
            return nil
        }
    }

    /// The signature algorithms of the key, the preferred first. Up to TLS 1.2 a curve may be combined with any digest.
    var signatureAlgorithms: [SignatureAlgorithm] {
        switch self {
        case .p256: [.ecdsaSecp256R1Sha256, .ecdsaSecp384R1Sha384, .ecdsaSecp521R1Sha512]
        case .p384: [.ecdsaSecp384R1Sha384, .ecdsaSecp256R1Sha256, .ecdsaSecp521R1Sha512]
        case .p521: [.ecdsaSecp521R1Sha512, .ecdsaSecp256R1Sha256, .ecdsaSecp384R1Sha384]
        case .rsa:
            [
                .rsaPssRsaeSha256, .rsaPkcs1Sha256, .rsaPssRsaeSha384, .rsaPkcs1Sha384, .rsaPssRsaeSha512,
                .rsaPkcs1Sha512,
            ]
        case .ed25519: [.ed25519]
        case .outside(let key): key.signatureAlgorithms
        }
    }

    /// Signs data of TLS, on the connection's event loop.
    func sign(
        on channel: any Channel, _ algorithm: SignatureAlgorithm, _ data: ByteBuffer
    ) -> EventLoopFuture<ByteBuffer> {
        if case .outside(let key) = self { return key.sign(channel: channel, algorithm: algorithm, data: data) }
        return channel.eventLoop.makeCompletedFuture {
            ByteBuffer(bytes: try signature(of: Array(data.readableBytesView), by: algorithm))
        }
    }

    private func signature(of octets: [UInt8], by algorithm: SignatureAlgorithm) throws -> Data {
        // Ed25519 is the only algorithm that does not sign a digest (RFC 8032 5.1).
        if case .ed25519(let key) = self { return try key.signature(for: octets) }
        switch algorithm {
        case .ecdsaSecp256R1Sha256, .rsaPkcs1Sha256, .rsaPssRsaeSha256:
            return try signature(of: SHA256.hash(data: octets), by: algorithm)
        case .ecdsaSecp384R1Sha384, .rsaPkcs1Sha384, .rsaPssRsaeSha384:
            return try signature(of: SHA384.hash(data: octets), by: algorithm)
        case .ecdsaSecp521R1Sha512, .rsaPkcs1Sha512, .rsaPssRsaeSha512:
            return try signature(of: SHA512.hash(data: octets), by: algorithm)
        default: throw NIOSSLError.failedToLoadPrivateKey
        }
    }

    private func signature(of digest: some Digest, by algorithm: SignatureAlgorithm) throws -> Data {
        switch self {
        case .p256(let key): return try key.signature(for: digest).derRepresentation
        case .p384(let key): return try key.signature(for: digest).derRepresentation
        case .p521(let key): return try key.signature(for: digest).derRepresentation
        case .rsa(let key):
            let isPSS = [.rsaPssRsaeSha256, .rsaPssRsaeSha384, .rsaPssRsaeSha512].contains(algorithm)
            return try key.signature(for: digest, padding: isPSS ? .PSS : .insecurePKCS1v1_5).rawRepresentation
        case .ed25519, .outside: throw NIOSSLError.failedToLoadPrivateKey
        }
    }
}
