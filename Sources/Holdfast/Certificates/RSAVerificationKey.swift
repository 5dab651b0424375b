#if canImport(Security)
import Foundation
import Security
#else
import Crypto
import CryptoExtras
#endif

/// A public key of RSA, and verification with it (RFC 8017 8.1.2, 8.2.2).
///
/// On Apple's platforms SecKey verifies: swift-crypto has RSA in a separate product that would link BoringSSL into
/// every application. Elsewhere BoringSSL is linked already. The rules for acceptable keys and signatures are here, for
/// both.
struct RSAVerificationKey: Sendable {
    enum Scheme: Sendable {
        case pkcs1(CertificateSignatureAlgorithm.Digest)
        /// PKCS#1 v1.5 with SHA-1, for documents whose caller allows legacy digests, never for certificates.
        case pkcs1SHA1
        /// MGF1 with the same digest, and a salt of its length.
        case pss(CertificateSignatureAlgorithm.Digest)
    }

    /// A longer exponent would only cost time; BoringSSL has the same limit.
    static let maximumExponentBits = 33

    private let modulus: ArraySlice<UInt8>

    #if canImport(Security)
    private let key: SharedReference<SecKey>
    #else
    private let key: _RSA.Signing.PublicKey
    #endif

    /// - Returns: nil for a key under 2,048 or above 8,192 bits, for an exponent above 33 bits, which would only cost
    ///   time, and for a key that the library refuses.
    /// - Parameters:
    ///   - modulus: its magnitude, without leading zeros; the same applies to the exponent.
    init?(modulus: ArraySlice<UInt8>, exponent: ArraySlice<UInt8>) {
        guard Self.bits(modulus) >= CertificatePublicKey.minimumRSABits,
            Self.bits(modulus) <= CertificatePublicKey.maximumRSABits, Self.bits(exponent) <= Self.maximumExponentBits
        else { return nil }
        #if canImport(Security)
        let attributes: [String: Any] = [
            kSecAttrKeyType as String: kSecAttrKeyTypeRSA as String,
            kSecAttrKeyClass as String: kSecAttrKeyClassPublic as String,
        ]
        let encoded = Self.encoded(modulus: modulus, exponent: exponent)
        guard let key = SecKeyCreateWithData(Data(encoded) as CFData, attributes as CFDictionary, nil) else {
            return nil
        }
        self.key = SharedReference(key)
        #else
        guard let key = try? _RSA.Signing.PublicKey(n: modulus, e: exponent) else { return nil }
        self.key = key
        #endif
        self.modulus = modulus
    }

    func verifies(_ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>, by scheme: Scheme) -> Bool {
        // A library that pads or truncates a signature to the length of the modulus, or reduces it, would accept
        // several encodings of one signature.
        guard signature.count == modulus.count, signature.lexicographicallyPrecedes(modulus) else { return false }
        #if canImport(Security)
        let algorithm: SecKeyAlgorithm =
            switch scheme {
            case .pkcs1(.sha256): .rsaSignatureMessagePKCS1v15SHA256
            case .pkcs1(.sha384): .rsaSignatureMessagePKCS1v15SHA384
            case .pkcs1(.sha512): .rsaSignatureMessagePKCS1v15SHA512
            case .pkcs1SHA1: .rsaSignatureMessagePKCS1v15SHA1
            case .pss(.sha256): .rsaSignatureMessagePSSSHA256
            case .pss(.sha384): .rsaSignatureMessagePSSSHA384
            case .pss(.sha512): .rsaSignatureMessagePSSSHA512
            }
        return SecKeyVerifySignature(key.get, algorithm, Data(message) as CFData, Data(signature) as CFData, nil)
        #else
        let value = _RSA.Signing.RSASignature(rawRepresentation: signature)
        return switch scheme {
        case .pkcs1(let digest): isValid(value, message, digest, .insecurePKCS1v1_5)
        case .pss(let digest): isValid(value, message, digest, .PSS)
        case .pkcs1SHA1:
            key.isValidSignature(value, for: Insecure.SHA1.hash(data: message), padding: .insecurePKCS1v1_5)
        }
        #endif
    }

    private static func bits(_ magnitude: ArraySlice<UInt8>) -> Int {
        magnitude.count * 8 - (magnitude.first?.leadingZeroBitCount ?? 0)
    }

    #if canImport(Security)
    /// RSAPublicKey in DER (RFC 8017 A.1.1), the form that SecKey takes.
    private static func encoded(modulus: ArraySlice<UInt8>, exponent: ArraySlice<UInt8>) -> [UInt8] {
        DEREncoding.element(DERTag.sequence, integer(modulus) + integer(exponent))
    }

    private static func integer(_ magnitude: ArraySlice<UInt8>) -> [UInt8] {
        let sign: [UInt8] = magnitude.first.map { $0 >= 0x80 } ?? true ? [0] : []
        return DEREncoding.element(DERTag.integer, sign + magnitude)
    }
    #else
    private func isValid(
        _ signature: _RSA.Signing.RSASignature, _ message: ArraySlice<UInt8>,
        _ digest: CertificateSignatureAlgorithm.Digest,
        _ padding: _RSA.Signing.Padding
    ) -> Bool {
        switch digest {
        case .sha256: key.isValidSignature(signature, for: SHA256.hash(data: message), padding: padding)
        case .sha384: key.isValidSignature(signature, for: SHA384.hash(data: message), padding: padding)
        case .sha512: key.isValidSignature(signature, for: SHA512.hash(data: message), padding: padding)
        }
    }
    #endif
}
