#if PowerAuth && canImport(PowerAuth2) && canImport(Security)
import Holdfast
public import HoldfastCompatibility
import PowerAuthCore

public import struct Foundation.Data

/// PowerAuth's cryptography, for a `CertStore` in an application that links PowerAuth anyway.
public struct PowerAuthCryptoProvider: CryptoProvider {
    private final class Key: ECPublicKey {
        let key: SharedReference<PowerAuthCoreECPublicKey>
        init(_ key: PowerAuthCoreECPublicKey) { self.key = SharedReference(key) }
    }

    /// Makes a provider. It has no state.
    public init() {}

    /// Whether an ECDSA signature (P-256, SHA-256) verifies; false for a key from another provider.
    public func ecdsaValidateSignatures(signedData: SignedData, publicKey: any ECPublicKey) -> Bool {
        guard let key = publicKey as? Key else { return false }
        return PowerAuthCoreCryptoUtils.ecdsaValidateSignature(
            signedData.signature, for: signedData.data, for: key.key.get)
    }

    /// Reads a public key: the 65 octets of an uncompressed point on P-256 (X9.63); nil if it is something else.
    public func importECPublicKey(publicKey: Data) -> (any ECPublicKey)? {
        PowerAuthCoreECPublicKey(data: publicKey).map(Key.init)
    }

    /// The SHA-256, 32 octets.
    public func hashSha256(data: Data) -> Data { PowerAuthCoreCryptoUtils.hashSha256(data) }
}
#endif
