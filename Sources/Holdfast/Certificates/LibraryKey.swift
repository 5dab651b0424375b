import Crypto

/// A public key in the form of the library that verifies with it. To make one takes a part of a verification: a point
/// has to be checked to lie on its curve, a modulus to be prepared.
enum LibraryKey: Sendable {
    case p256(P256.Signing.PublicKey)
    case p384(P384.Signing.PublicKey)
    case p521(P521.Signing.PublicKey)
    case ed25519(Curve25519.Signing.PublicKey)
    case rsa(RSAVerificationKey)
    /// A key that verifies nothing: a point beside its curve, RSA under 2048 bits or with an exponent that only costs time.
    case refused

    /// - Parameters:
    ///   - octets: an X9.63 point, Ed25519's 32 octets; for RSA the modulus.
    ///   - exponent: for RSA.
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
}
