#if PowerAuth && canImport(PowerAuth2) && canImport(Security)
public import Holdfast
import PowerAuthCore

public import struct Foundation.Data

/// The cryptography of PowerAuth, for a `CertStore` in an application that has it already.
public struct PowerAuthCryptoProvider: CryptoProvider {
    private final class Key: ECPublicKey {
        let key: SharedReference<PowerAuthCoreECPublicKey>
        init(_ key: PowerAuthCoreECPublicKey) { self.key = SharedReference(key) }
    }

    /// Makes the provider; all of them are equal.
    public init() {}

    /// Whether an ECDSA signature (SHA-256, P-256) is good; false for a key of another provider.
    public func ecdsaValidateSignatures(signedData: SignedData, publicKey: any ECPublicKey) -> Bool {
        guard let key = publicKey as? Key else { return false }
        return PowerAuthCoreCryptoUtils.ecdsaValidateSignature(
            signedData.signature, for: signedData.data, for: key.key.get)
    }

    /// Reads the 65 octets of an uncompressed point of P-256; nil when they are none.
    public func importECPublicKey(publicKey: Data) -> (any ECPublicKey)? {
        PowerAuthCoreECPublicKey(data: publicKey).map(Key.init)
    }

    /// The SHA-256, 32 octets.
    public func hashSha256(data: Data) -> Data { PowerAuthCoreCryptoUtils.hashSha256(data) }
}
#endif
