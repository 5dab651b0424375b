internal import Crypto
internal import CryptoExtras
public import Foundation

public let kSecAttrKeyType: CFString = "type"
public let kSecAttrKeyTypeRSA: CFString = "42"
public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
public let kSecAttrKeySizeInBits: CFString = "bsiz"
public let kSecAttrKeyClass: CFString = "kcls"
public let kSecAttrKeyClassPublic: CFString = "0"

/// A key of RSA, or one on P-256; not Sendable, as Apple's is not.
public final class SecKey {
    enum Material {
        case rsaPublic(_RSA.Signing.PublicKey)
        case rsaPrivate(_RSA.Signing.PrivateKey)
        case p256Public(P256.Signing.PublicKey)
        case p256Private(P256.Signing.PrivateKey)
    }

    let material: Material
    init(_ material: Material) { self.material = material }
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
    public static let ecdsaSignatureMessageX962SHA256 = SecKeyAlgorithm(rawValue: "message X962 SHA256")
}

/// Reads PKCS #1; weak keys too, as Apple's does.
@available(macOS 10.12, iOS 10.0, tvOS 10.0, watchOS 3.0, *)
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    guard attributes[kSecAttrKeyType] as? String == kSecAttrKeyTypeRSA,
        attributes[kSecAttrKeyClass] as? String == kSecAttrKeyClassPublic
    else { return nil }
    return (try? _RSA.Signing.PublicKey(unsafeDERRepresentation: keyData)).map { SecKey(.rsaPublic($0)) }
}

/// RSA of any size, and P-256.
@available(macOS 10.12, iOS 10.0, tvOS 10.0, watchOS 3.0, *)
public func SecKeyCreateRandomKey(
    _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    guard let bits = parameters[kSecAttrKeySizeInBits] as? Int else { return nil }
    return switch parameters[kSecAttrKeyType] as? String {
    case kSecAttrKeyTypeRSA:
        (try? _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: bits))).map { SecKey(.rsaPrivate($0)) }
    case kSecAttrKeyTypeECSECPrimeRandom: bits == 256 ? SecKey(.p256Private(P256.Signing.PrivateKey())) : nil
    default: nil
    }
}

@available(macOS 10.12, iOS 10.0, tvOS 10.0, watchOS 3.0, *)
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
    switch key.material {
    case .rsaPrivate(let key): SecKey(.rsaPublic(key.publicKey))
    case .p256Private(let key): SecKey(.p256Public(key.publicKey))
    case .rsaPublic, .p256Public: key
    }
}

/// PKCS #1 for RSA, X9.63 for P-256.
@available(macOS 10.12, iOS 10.0, tvOS 10.0, watchOS 3.0, *)
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    switch key.material {
    case .rsaPublic(let key): key.pkcs1DERRepresentation
    case .rsaPrivate(let key): key.derRepresentation
    case .p256Public(let key): key.x963Representation
    case .p256Private(let key): key.x963Representation
    }
}

@available(macOS 10.12, iOS 10.0, tvOS 10.0, watchOS 3.0, *)
public func SecKeyCreateSignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ dataToSign: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    if case .p256Private(let key) = key.material, algorithm == .ecdsaSignatureMessageX962SHA256 {
        return try? key.signature(for: dataToSign).derRepresentation
    }
    guard case .rsaPrivate(let key) = key.material else { return nil }
    func sign(_ digest: some Digest, _ padding: _RSA.Signing.Padding) -> Data? {
        try? key.signature(for: digest, padding: padding).rawRepresentation
    }
    return switch algorithm {
    case .rsaSignatureMessagePKCS1v15SHA256: sign(SHA256.hash(data: dataToSign), .insecurePKCS1v1_5)
    case .rsaSignatureMessagePKCS1v15SHA384: sign(SHA384.hash(data: dataToSign), .insecurePKCS1v1_5)
    case .rsaSignatureMessagePKCS1v15SHA512: sign(SHA512.hash(data: dataToSign), .insecurePKCS1v1_5)
    case .rsaSignatureMessagePSSSHA256: sign(SHA256.hash(data: dataToSign), .PSS)
    case .rsaSignatureMessagePSSSHA384: sign(SHA384.hash(data: dataToSign), .PSS)
    case .rsaSignatureMessagePSSSHA512: sign(SHA512.hash(data: dataToSign), .PSS)
    default: nil
    }
}

/// Verifies with swift-crypto. It fills a short signature up with zeros and drops those in front of a long one, as a
/// system might: nothing in its documentation says that it does not.
@available(macOS 10.12, iOS 10.0, tvOS 10.0, watchOS 3.0, *)
public func SecKeyVerifySignature(
    _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ signedData: CFData, _ signature: CFData,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> Bool {
    guard case .rsaPublic(let key) = key.material else { return false }
    let significant = signature.drop { $0 == 0 }
    let missing = key.keySizeInBits / 8 - significant.count
    let value = _RSA.Signing.RSASignature(rawRepresentation: Data(repeating: 0, count: max(0, missing)) + significant)
    func isValid(_ digest: some Digest, _ padding: _RSA.Signing.Padding) -> Bool {
        key.isValidSignature(value, for: digest, padding: padding)
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
