import Crypto

/// A public key in the form of the library that verifies with it. Making one is part of the verification's cost: the
/// library checks that a point is on its curve, or prepares a modulus.
enum LibraryKey: Sendable {
    case p256(P256.Signing.PublicKey)
    case p384(P384.Signing.PublicKey)
    case p521(P521.Signing.PublicKey)
    case ed25519(Curve25519.Signing.PublicKey)
    case rsa(RSAVerificationKey)
    /// An unusable key: a point that is not on its curve, or RSA under 2048 bits or with an excessive exponent.
    case refused

    /// - Parameters:
    ///   - octets: an X9.63 point, Ed25519's 32 bytes; for RSA the modulus.
    ///   - exponent: the public exponent of RSA.
    init(_ kind: CertificatePublicKey.Kind, octets: ArraySlice<UInt8>, exponent: ArraySlice<UInt8>) {
        let read: LibraryKey? =
            switch kind {
            case .p256: (try? P256.Signing.PublicKey(x963Representation: octets)).map(Self.p256)
            case .p384: (try? P384.Signing.PublicKey(x963Representation: octets)).map(Self.p384)
            case .p521: (try? P521.Signing.PublicKey(x963Representation: octets)).map(Self.p521)
            case .ed25519: (try? Curve25519.Signing.PublicKey(rawRepresentation: octets)).map(Self.ed25519)
            case .rsa, .rsaPSS: RSAVerificationKey(modulus: octets, exponent: exponent).map(Self.rsa)
            case .unsupported: nil
            }
        self = read ?? .refused
    }

    /// Whether an Ecdsa-Sig-Value verifies; false if the key is not on a curve.
    func verifiesECDSA(_ signature: ArraySlice<UInt8>, over digest: some Digest) -> Bool {
        // An empty array is not a valid signature on any of the curves.
        func octets(_ size: Int) -> [UInt8] { ECDSASignatureValue.octets(of: signature, coordinateSize: size) ?? [] }
        let isValid: Bool? =
            switch self {
            case .p256(let key):
                try? key.isValidSignature(P256.Signing.ECDSASignature(rawRepresentation: octets(32)), for: digest)
            case .p384(let key):
                try? key.isValidSignature(P384.Signing.ECDSASignature(rawRepresentation: octets(48)), for: digest)
            case .p521(let key):
                try? key.isValidSignature(P521.Signing.ECDSASignature(rawRepresentation: octets(66)), for: digest)
            case .ed25519, .rsa, .refused: false
            }
        return isValid ?? false
    }
}
