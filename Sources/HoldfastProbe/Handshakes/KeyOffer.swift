import Holdfast
import NIOSSL

/// The kinds of keys that a client accepts from a server. A server may have a certificate for each kind, and presents
/// the one that suits the client.
public enum KeyOffer: Sendable, Hashable, CaseIterable {
    /// Every known kind; the server chooses.
    case any
    /// Only elliptic curves: ECDSA and Ed25519.
    case ecdsa
    /// Only RSA.
    case rsa

    /// The offer that a server can satisfy only with a key of another kind than this certificate's.
    static func other(than leaf: X509Certificate) -> KeyOffer { leaf.keyKind?.isRSA == true ? .ecdsa : .rsa }

    /// The signature algorithms of the offer; nil for all known ones.
    var algorithms: [SignatureAlgorithm]? {
        switch self {
        case .any: nil
        case .ecdsa: [.ecdsaSecp256R1Sha256, .ecdsaSecp384R1Sha384, .ecdsaSecp521R1Sha512, .ed25519]
        case .rsa:
            [
                .rsaPssRsaeSha256, .rsaPkcs1Sha256, .rsaPssRsaeSha384, .rsaPkcs1Sha384, .rsaPssRsaeSha512,
                .rsaPkcs1Sha512,
            ]
        }
    }
}

extension CertificatePublicKey.Kind {
    /// Whether it is an RSA key, with either padding.
    fileprivate var isRSA: Bool {
        switch self {
        case .rsa, .rsaPSS: true
        case .p256, .p384, .p521, .ed25519, .unsupported: false
        }
    }
}
