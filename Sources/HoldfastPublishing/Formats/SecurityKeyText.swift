import Crypto
import CryptoExtras
import Foundation

/// A public key as Security.framework accepts it: without the SubjectPublicKeyInfo around it.
struct SecurityKeyText {
    let base64: String
    let type: String

    /// Reads a key; nil if Security.framework has no type for it.
    init?(subjectPublicKeyInfo der: [UInt8]) {
        let octets: Data
        if let key = try? P256.Signing.PublicKey(derRepresentation: der) {
            octets = key.x963Representation
        } else if let key = try? P384.Signing.PublicKey(derRepresentation: der) {
            octets = key.x963Representation
        } else if let key = try? P521.Signing.PublicKey(derRepresentation: der) {
            octets = key.x963Representation
        } else if let key = try? _RSA.Signing.PublicKey(derRepresentation: der) {
            base64 = key.pkcs1DERRepresentation.base64EncodedString()
            type = "kSecAttrKeyTypeRSA"
            return
        } else {
            return nil
        }
        base64 = octets.base64EncodedString()
        type = "kSecAttrKeyTypeECSECPrimeRandom"
    }

    /// The Swift function that the generated code calls.
    static let function = """
        private func publicKey(_ base64: String, _ type: CFString) throws -> SecKey {
            let attributes = [kSecAttrKeyType: type, kSecAttrKeyClass: kSecAttrKeyClassPublic] as CFDictionary
            guard let data = Data(base64Encoded: base64),
                let key = SecKeyCreateWithData(data as CFData, attributes, nil)
            else { throw CocoaError(.coderInvalidValue) }
            return key
        }
        """
}
