package import Holdfast

public import struct Foundation.Data

/// Data with a signature to be verified.
public struct SignedData: Sendable, Hashable {
    /// The signed data.
    public let data: Data
    /// DER of an ECDSA signature (SHA-256, P-256).
    public let signature: Data

    /// Combines data and signature; nothing is verified.
    public init(data: Data, signature: Data) {
        self.data = data
        self.signature = signature
    }
}

/// A public key in the form of a ``CryptoProvider``.
public protocol ECPublicKey: AnyObject, Sendable {}

/// The cryptography of a `CertStore`, for applications that must use their own module.
///
/// It may be called from several threads at once.
public protocol CryptoProvider: Sendable {
    /// Whether an ECDSA signature (SHA-256, P-256) is valid.
    func ecdsaValidateSignatures(signedData: SignedData, publicKey: any ECPublicKey) -> Bool
    /// Reads the 65 bytes of an uncompressed P-256 point (ANSI X9.63); nil if they are not one.
    func importECPublicKey(publicKey: Data) -> (any ECPublicKey)?
    /// The SHA-256, 32 bytes.
    func hashSha256(data: Data) -> Data
    /// Random bytes suitable for keys; by default those of the system's generator. The first published generation lacks
    /// this call, so it has a default.
    func getRandomData(length: Int) -> Data
}

extension CryptoProvider {
    /// Bytes of the system's generator; empty for a length below 1.
    public func getRandomData(length: Int) -> Data { StoreCryptography.standard.random(length) }

    /// The provider in the form that a store calls.
    package var cryptography: StoreCryptography {
        StoreCryptography(
            verifier: { key in
                self.importECPublicKey(publicKey: Data(key.x963)).map { ProviderKey(provider: self, key: $0) }
            },
            digest: { self.hashSha256(data: $0) }, random: { self.getRandomData(length: $0) })
    }
}

/// A provider's key, in the form used to verify documents.
private struct ProviderKey: SignatureVerifying {
    let provider: any CryptoProvider
    let key: any ECPublicKey

    func isValid(signature: [UInt8], for message: [UInt8]) -> Bool {
        provider.ecdsaValidateSignatures(
            signedData: SignedData(data: Data(message), signature: Data(signature)), publicKey: key)
    }
}

/// The cryptography that a `CertStore` uses by default: CryptoKit on Apple's systems, swift-crypto elsewhere.
public struct SwiftCryptoProvider: CryptoProvider {
    private final class Key: ECPublicKey {
        let key: DocumentPublicKey
        init(_ key: DocumentPublicKey) { self.key = key }
    }

    /// Makes the provider; all of them are equal.
    public init() {}

    /// Whether an ECDSA signature is valid; false for a key of another provider.
    public func ecdsaValidateSignatures(signedData: SignedData, publicKey: any ECPublicKey) -> Bool {
        guard let key = publicKey as? Key else { return false }
        return key.key.isValid(signature: [UInt8](signedData.signature), for: [UInt8](signedData.data))
    }

    /// Reads a point of P-256.
    public func importECPublicKey(publicKey: Data) -> (any ECPublicKey)? {
        (try? DocumentPublicKey(x963: [UInt8](publicKey))).map(Key.init)
    }

    /// The SHA-256, 32 bytes.
    public func hashSha256(data: Data) -> Data { StoreCryptography.standard.digest(data) }
}
