import Crypto
import CryptoExtras
import Holdfast
import SwiftASN1

/// The private key of a role: from a file, or outside this process, for example in a token, a hardware security module
/// or a key service.
///
/// Unless the key is outside this process, this value contains a secret: keep its file at mode 0600, and keep the keys
/// of root and targets off every network.
public struct TUFSigningKey: Sendable {
    /// The kinds of key that Holdfast can generate.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Ed25519 (RFC 8032).
        case ed25519
        /// ECDSA on P-256 with SHA-256.
        case p256 = "p-256"
    }

    private enum Secret: Sendable {
        case ed25519(Curve25519.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case rsaPSS(_RSA.Signing.PrivateKey)
        case elsewhere(@Sendable ([UInt8]) throws -> [UInt8])
    }

    private let secret: Secret
    /// The public key, as a root lists it.
    public let publicKey: TUFPublicKey

    private init(_ key: Curve25519.Signing.PrivateKey) {
        (secret, publicKey) = (.ed25519(key), TUFPublicKey(key.publicKey))
    }

    private init(_ key: P256.Signing.PrivateKey) { (secret, publicKey) = (.p256(key), TUFPublicKey(key.publicKey)) }

    private init(_ key: P384.Signing.PrivateKey) { (secret, publicKey) = (.p384(key), TUFPublicKey(key.publicKey)) }

    /// nil for a key that is too short for a role.
    private init?(_ key: _RSA.Signing.PrivateKey) {
        guard let listed = TUFPublicKey(key.publicKey) else { return nil }
        (secret, publicKey) = (.rsaPSS(key), listed)
    }

    /// The same key, as a root lists it.
    package func listed(as publicKey: TUFPublicKey) -> TUFSigningKey { TUFSigningKey(secret, publicKey) }

    private init(_ secret: Secret, _ publicKey: TUFPublicKey) { (self.secret, self.publicKey) = (secret, publicKey) }

    /// Makes a new key.
    public init(_ kind: Kind = .p256) {
        switch kind {
        case .ed25519: self.init(Curve25519.Signing.PrivateKey())
        case .p256: self.init(P256.Signing.PrivateKey())
        }
    }

    /// Makes a key from a closure that signs outside this process.
    /// - Parameters:
    ///   - publicKey: the public key. Every signature is verified with it before it is used.
    ///   - sign: receives the bytes to sign, which are canonical JSON, and hashes them itself. It returns the
    ///     signature: 64 bytes for Ed25519; an RSA-PSS signature; for ECDSA either DER (RFC 3279 2.2.3), or r and s
    ///     concatenated, as PKCS #11 returns them. It may block, for example until the user touches a token.
    public init(publicKey: TUFPublicKey, signing sign: @escaping @Sendable ([UInt8]) throws -> [UInt8]) {
        (secret, self.publicKey) = (.elsewhere(sign), publicKey)
    }

    /// Reads a key file, as `holdfastctl keygen` and `openssl genpkey` write them: Ed25519, P-256, P-384, or RSA with
    /// 2,048 bits or more, in PEM: PKCS #8 (RFC 5958, RFC 8410), encrypted (RFC 8018 PBES2) or not, SEC 1 (RFC 5915) or
    /// PKCS #1 (RFC 8017).
    /// - Parameters:
    ///   - pem: the content of the file.
    ///   - password: the password of an encrypted key, in UTF-8; ignored if the key is not encrypted.
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
            self.init(key)
        } else if let key = try? P384.Signing.PrivateKey(derRepresentation: der) {
            self.init(key)
        } else if der.count == Self.ed25519Prefix.count + 32, der.starts(with: Self.ed25519Prefix),
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: der.dropFirst(Self.ed25519Prefix.count))
        {
            self.init(key)
        } else if let key = try? _RSA.Signing.PrivateKey(derRepresentation: der), let read = Self(key) {
            self = read
        } else {
            // A wrong password may leave well-formed padding by chance, but no DER.
            let isKey = block.kind == .privateKey || (try? DER.parse(der))?.identifier == .sequence
            throw SigningError(
                isKey ? .unsupportedKey : .wrongPassword,
                expected: "a private key of Ed25519, P-256, P-384 or RSA of 2048 bits or more",
                found: "another, or a damaged one")
        }
    }

    /// The DER of an Ed25519 OneAsymmetricKey of version 0, without the 32 bytes of the key (RFC 8410 7).
    private static let ed25519Prefix: [UInt8] = [
        0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ]

    /// Signs bytes.
    /// - Returns: 64 bytes for Ed25519, the DER of an ECDSA signature, or an RSA-PSS signature.
    /// - Throws: ``SigningError`` `cryptographyFailed`, `signerFailed` or `wrongSignature`.
    package func signature(for message: [UInt8]) throws(SigningError) -> [UInt8] {
        do {
            switch secret {
            case .ed25519(let key): return Array(try key.signature(for: message))
            case .p256(let key): return Array(try key.signature(for: message).derRepresentation)
            case .p384(let key): return Array(try key.signature(for: message).derRepresentation)
            case .rsaPSS(let key):
                return Array(try key.signature(for: SHA256.hash(data: message), padding: .PSS).rawRepresentation)
            case .elsewhere: break
            }
        } catch {
            throw SigningError(.cryptographyFailed, expected: "a signature", found: "none")
        }
        let octets = try octetsFromElsewhere(for: message)
        guard let signature = publicKey.accepted(octets, over: message) else {
            throw SigningError(
                .wrongSignature, expected: "a signature by the key \(TUFText.short(Array(publicKey.id.utf8)))",
                found: "\(TUFText.count(octets.count, "octet")) that do not verify with it")
        }
        return signature
    }

    private func octetsFromElsewhere(for message: [UInt8]) throws(SigningError) -> [UInt8] {
        guard case .elsewhere(let sign) = secret else { return [] }
        return try OutsideSignature.octets { try sign(message) }
    }
}

// MARK: Files

extension TUFSigningKey {
    /// The private key in unencrypted PKCS #8 (RFC 5958, RFC 8410), in PEM; nil for a key outside this process.
    public var pem: String? {
        der.map { PEMDocument(type: "PRIVATE KEY", derBytes: $0).pemString + "\n" }
    }

    /// The private key in encrypted PKCS #8, in PEM: PBES2, AES-128-CBC, PBKDF2 with HMAC-SHA-256.
    /// - Parameters:
    ///   - password: the password, in UTF-8; not empty.
    ///   - rounds: the rounds of PBKDF2; see ``SigningKey/pem(password:rounds:)``.
    /// - Throws: ``SigningError``; `unsupportedKey` for a key outside this process.
    public func pem(password: [UInt8], rounds: Int = 600_000) throws(SigningError) -> String {
        guard !password.isEmpty else {
            throw SigningError(.passwordNeeded, expected: "a password", found: "an empty one")
        }
        guard let der else {
            throw SigningError(.unsupportedKey, expected: "a key in this process", found: "one outside this process")
        }
        let encrypted = try EncryptedPrivateKey.encrypting(der, with: password, rounds: rounds)
        return PEMDocument(type: "ENCRYPTED PRIVATE KEY", derBytes: encrypted).pemString + "\n"
    }

    private var der: [UInt8]? {
        switch secret {
        case .ed25519(let key): Self.ed25519Prefix + key.rawRepresentation
        case .p256(let key): Array(key.derRepresentation)
        case .p384(let key): Array(key.derRepresentation)
        case .rsaPSS(let key): Array(key.pkcs8DERRepresentation)
        case .elsewhere: nil
        }
    }

    /// The public key in one line of Base64, which the initializer of ``TUFPublicKey`` reads: the X9.63 form of a P-256
    /// key, or the 32 bytes of an Ed25519 key; nil for a key of another kind, and for one outside this process.
    public var publicKeyText: String? {
        switch secret {
        case .ed25519(let key): CanonicalBase64.encode(Array(key.publicKey.rawRepresentation))
        case .p256(let key): CanonicalBase64.encode(Array(key.publicKey.x963Representation))
        case .p384, .rsaPSS, .elsewhere: nil
        }
    }
}

extension TUFSigningKey: CustomStringConvertible {
    /// A fixed text, so that logs never contain the key.
    public var description: String { "a private key of a role" }
}
