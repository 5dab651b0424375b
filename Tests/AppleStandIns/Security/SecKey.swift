internal import Crypto
internal import CryptoExtras
public import Foundation

public let kSecAttrKeyType: CFString = "type"
public let kSecAttrKeyTypeRSA: CFString = "42"
public let kSecAttrKeyClass: CFString = "kcls"
public let kSecAttrKeyClassPublic: CFString = "0"

/// A public key of RSA; not Sendable, as Apple's is not.
public final class SecKey {
    let key: _RSA.Signing.PublicKey
    init(_ key: _RSA.Signing.PublicKey) { self.key = key }
}

public struct SecKeyAlgorithm: RawRepresentable, Hashable, Sendable {
    public let rawValue: CFString
    public init(rawValue: CFString) { self.rawValue = rawValue }

    public static let rsaSignatureMessagePKCS1v15SHA1 = SecKeyAlgorithm(rawValue: "message PKCS1 SHA1")
    public static let rsaSignatureMessagePKCS1v15SHA256 = SecKeyAlgorithm(rawValue: "message PKCS1 SHA256")
    public static let rsaSignatureMessagePKCS1v15SHA384 = SecKeyAlgorithm(rawValue: "message PKCS1 SHA384")
    public static let rsaSignatureMessagePKCS1v15SHA512 = SecKeyAlgorithm(rawValue: "message PKCS1 SHA512")
    public static let rsaSignatureMessagePSSSHA256 = SecKeyAlgorithm(rawValue: "message PSS SHA256")
    public static let rsaSignatureMessagePSSSHA384 = SecKeyAlgorithm(rawValue: "message PSS SHA384")
    public static let rsaSignatureMessagePSSSHA512 = SecKeyAlgorithm(rawValue: "message PSS SHA512")
}

/// Reads PKCS #1; weak keys too, as Apple's does.
@available(macOS 10.12, iOS 10.0, tvOS 10.0, watchOS 3.0, *)
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    guard attributes[kSecAttrKeyType] as? String == kSecAttrKeyTypeRSA,
        attributes[kSecAttrKeyClass] as? String == kSecAttrKeyClassPublic
    else { return nil }
    return (try? _RSA.Signing.PublicKey(unsafeDERRepresentation: keyData)).map(SecKey.init)
}

/// Verifies with swift-crypto. It fills a short signature up with zeros and drops those in front of a long one, as a
/// system might: nothing in its documentation says that it does not.
@available(macOS 10.12, iOS 10.0, tvOS 10.0, watchOS 3.0, *)
public func SecKeyVerifySignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
    let significant = signature.drop { $0 == 0 }
    let missing = key.key.keySizeInBits / 8 - significant.count
    let value = _RSA.Signing.RSASignature(rawRepresentation: Data(repeating: 0, count: max(0, missing)) + significant)
    func isValid(_ digest: some Digest, _ padding: _RSA.Signing.Padding) -> Bool {
        key.key.isValidSignature(value, for: digest, padding: padding)
    }
    return switch algorithm {
    case .rsaSignatureMessagePKCS1v15SHA1: isValid(Insecure.SHA1.hash(data: signedData), .insecurePKCS1v1_5)
    case .rsaSignatureMessagePKCS1v15SHA256: isValid(SHA256.hash(data: signedData), .insecurePKCS1v1_5)
    case .rsaSignatureMessagePKCS1v15SHA384: isValid(SHA384.hash(data: signedData), .insecurePKCS1v1_5)
    case .rsaSignatureMessagePKCS1v15SHA512: isValid(SHA512.hash(data: signedData), .insecurePKCS1v1_5)
    case .rsaSignatureMessagePSSSHA256: isValid(SHA256.hash(data: signedData), .PSS)
    case .rsaSignatureMessagePSSSHA384: isValid(SHA384.hash(data: signedData), .PSS)
    case .rsaSignatureMessagePSSSHA512: isValid(SHA512.hash(data: signedData), .PSS)
    default: false
    }
}
