import Crypto
public import Foundation

/// Not Sendable, as the real one is not.
public class PA2ECPublicKey: NSObject {
    let key: P256.Signing.PublicKey

    public init?(data: Data) {
        guard let key = try? P256.Signing.PublicKey(x963Representation: data) else { return nil }
        self.key = key
    }
}

public class PA2CryptoUtils: NSObject {
    public static func ecdsaValidateSignature(
        _ signature: Data, for data: Data, for publicKey: PA2ECPublicKey
    ) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature) else { return false }
        return publicKey.key.isValidSignature(signature, for: data)
    }

    public static func hashSha256(_ data: Data) -> Data { Data(SHA256.hash(data: data)) }
}
