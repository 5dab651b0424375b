import Crypto
import Holdfast

/// The private key of a role: Ed25519 or P-256, from a file.
///
/// It holds a secret: keep its file at mode 0600, and those of root and targets away from every network.
public struct TUFSigningKey: Sendable {
    private enum Secret: Sendable {
        case ed25519(Curve25519.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
    }

    private let secret: Secret
    /// The public key, as root lists it.
    public let publicKey: TUFPublicKey

    private init(_ secret: Secret) {
        self.secret = secret
        publicKey =
            switch secret {
            case .ed25519(let key): TUFPublicKey(key.publicKey)
            case .p256(let key): TUFPublicKey(key.publicKey)
            }
    }

    /// Makes a new key.
    public init(_ kind: TUFPublicKey.Kind = .p256) {
        switch kind {
        case .ed25519: self.init(.ed25519(Curve25519.Signing.PrivateKey()))
        case .p256: self.init(.p256(P256.Signing.PrivateKey()))
        }
    }

    /// Reads a key file, as `holdfastctl keygen` and `openssl genpkey -algorithm ed25519` write them: PKCS #8 (RFC 5958,
    /// RFC 8410), encrypted (RFC 8018 PBES2) or not, or for P-256 SEC 1, in PEM.
    /// - Parameters:
    ///   - pem: the content of the file.
    ///   - password: opens an encrypted key, in UTF-8; not looked at for one that is not encrypted.
    /// - Throws: ``SigningError``.
    public init(pem: String, password: [UInt8]? = nil) throws(SigningError) {
        let block = try PrivateKeyPEM(pem)
        let der: [UInt8]
        switch block.kind {
        case .encryptedPrivateKey:
            guard let password else {
                throw SigningError(.passwordNeeded, expected: "a password", found: "an encrypted key without one")
            }
            der = try EncryptedPrivateKey(der: block.der).decrypted(with: password)
        case .privateKey: der = block.der
        default: throw PrivateKeyPEM.otherLabel
        }
        if let key = try? P256.Signing.PrivateKey(derRepresentation: der) {
            self.init(.p256(key))
        } else if der.count == Self.ed25519Prefix.count + 32, der.starts(with: Self.ed25519Prefix),
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: der.dropFirst(Self.ed25519Prefix.count))
        {
            self.init(.ed25519(key))
        } else {
            // A wrong password that leaves well-formed padding by chance leaves no key.
            throw SigningError(
                block.kind == .encryptedPrivateKey ? .wrongPassword : .unsupportedKey,
                expected: "a private key of P-256 or Ed25519", found: "another, or a damaged one")
        }
    }

    /// OneAsymmetricKey of version 0 up to the 32 octets (RFC 8410 7).
    private static let ed25519Prefix: [UInt8] = [
        0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ]

    /// Signs octets: 64 octets of Ed25519, or DER of an ECDSA signature.
    func signature(for message: [UInt8]) throws(SigningError) -> [UInt8] {
        do {
            return switch secret {
            case .ed25519(let key): Array(try key.signature(for: message))
            case .p256(let key): Array(try key.signature(for: message).derRepresentation)
            }
        } catch {
            throw SigningError(.cryptographyFailed, expected: "a signature", found: "none")
        }
    }
}

extension TUFSigningKey: CustomStringConvertible {
    /// Says nothing about the key, so that no log holds it.
    public var description: String { "a private key of a role" }
}
