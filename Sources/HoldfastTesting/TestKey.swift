import Crypto
import CryptoExtras
import Foundation
import SwiftASN1

/// A private key for certificates in tests. Two keys are equal if their public keys are.
public struct TestKey: Sendable {
    /// The kinds of key.
    public enum Kind: Sendable, Hashable {
        /// Elliptic curve P-256.
        case p256
        /// Elliptic curve P-384.
        case p384
        /// Elliptic curve P-521.
        case p521
        /// RSA with a modulus of this many bits, at least 1024. Verifiers should require 2048.
        case rsa(bits: Int)
        /// Ed25519.
        case ed25519
    }

    /// The source of a certificate's key.
    public enum Choice: Sendable, Hashable {
        /// A new key.
        case new(Kind)
        /// The RSA key with this number among those of this size that the whole process shares. It is made when it is
        /// first needed, because making one takes up to a second. The same index is always the same key.
        case sharedRSA(bits: Int, index: Int)
        /// This existing key.
        case existing(TestKey)

        /// A new key on P-256.
        public static let p256 = Choice.new(.p256)
        /// A new key on P-384.
        public static let p384 = Choice.new(.p384)
        /// A new key on P-521.
        public static let p521 = Choice.new(.p521)
        /// A new Ed25519 key.
        public static let ed25519 = Choice.new(.ed25519)
        /// A new RSA key that nothing else uses. `sharedRSA` is quicker.
        public static func rsa(bits: Int) -> Choice { .new(.rsa(bits: bits)) }
    }

    private enum Material: Sendable {
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
        case p521(P521.Signing.PrivateKey)
        case rsa(_RSA.Signing.PrivateKey)
        case ed25519(Curve25519.Signing.PrivateKey)
    }

    /// The kind of the key.
    public let kind: Kind
    private let material: Material

    /// Makes a key, or returns the shared one. A new RSA key takes from about ten milliseconds (1024 bits) to seconds
    /// (4096 bits).
    ///
    /// Throws `keyGenerationFailed` for an RSA size that is not supported.
    public init(_ choice: Choice = .p256) throws(TestKitError) {
        switch choice {
        case .new(let kind): self = try TestKey(new: kind)
        case .sharedRSA(let bits, let index): self = try RSAKeyPool.shared.key(bits: bits, index: index)
        case .existing(let key): self = key
        }
    }

    /// The P-256 key with this private number: 32 bytes, the most significant first. It is for test vectors, whose keys
    /// must always be the same.
    package init(p256Scalar scalar: [UInt8]) throws(TestKitError) {
        kind = .p256
        do {
            material = .p256(try P256.Signing.PrivateKey(rawRepresentation: scalar))
        } catch {
            throw TestKitError(
                .keyGenerationFailed, expected: "32 octets of a number below the order of P-256",
                found: "\(scalar.count) octets", remedy: "Give a number from 1 on.")
        }
    }

    init(new kind: Kind) throws(TestKitError) {
        self.kind = kind
        switch kind {
        case .p256: material = .p256(P256.Signing.PrivateKey())
        case .p384: material = .p384(P384.Signing.PrivateKey())
        case .p521: material = .p521(P521.Signing.PrivateKey())
        case .ed25519: material = .ed25519(Curve25519.Signing.PrivateKey())
        case .rsa(let bits):
            do {
                material = .rsa(try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: bits)))
            } catch {
                throw TestKitError(
                    .keyGenerationFailed, expected: "an RSA key of 1024 to 8192 bits, a multiple of 128",
                    found: "\(bits) bits: \(error)", remedy: "Ask for 2048, 3072 or 4096 bits.")
            }
        }
    }

    /// The DER of the SubjectPublicKeyInfo (RFC 5280 4.1.2.7), which public key pins hash.
    public var subjectPublicKeyInfoDER: [UInt8] {
        switch material {
        case .p256(let key): Array(key.publicKey.derRepresentation)
        case .p384(let key): Array(key.publicKey.derRepresentation)
        case .p521(let key): Array(key.publicKey.derRepresentation)
        case .rsa(let key): Array(key.publicKey.derRepresentation)
        case .ed25519(let key): Array(key.publicKey.derRepresentation)
        }
    }

    /// The private key in unencrypted PKCS #8 (RFC 5958), in DER.
    public var privateKeyDER: [UInt8] {
        switch material {
        case .p256(let key): Array(key.derRepresentation)
        case .p384(let key): Array(key.derRepresentation)
        case .p521(let key): Array(key.derRepresentation)
        case .rsa(let key): Array(key.pkcs8DERRepresentation)
        case .ed25519(let key): Array(key.derRepresentation)
        }
    }

    /// The private key in unencrypted PKCS #8, in PEM (`BEGIN PRIVATE KEY`).
    public var privateKeyPEM: String { PEMDocument(type: "PRIVATE KEY", derBytes: privateKeyDER).pemString + "\n" }

    /// The SubjectPublicKeyInfo in PEM (`BEGIN PUBLIC KEY`).
    public var publicKeyPEM: String {
        PEMDocument(type: "PUBLIC KEY", derBytes: subjectPublicKeyInfoDER).pemString + "\n"
    }

    /// The first 20 bytes of the SHA-256 of the public key's BIT STRING: the key identifier of RFC 7093 2, method 1.
    public var keyIdentifier: [UInt8] {
        let bits: Data =
            switch material {
            case .p256(let key): key.publicKey.x963Representation
            case .p384(let key): key.publicKey.x963Representation
            case .p521(let key): key.publicKey.x963Representation
            case .rsa(let key): key.publicKey.pkcs1DERRepresentation
            case .ed25519(let key): key.publicKey.rawRepresentation
            }
        return Array(SHA256.hash(data: bits).prefix(20))
    }

    /// Signs bytes, and returns the signature in the form of certificates (ECDSA in DER).
    ///
    /// Throws `signatureDoesNotFitKey` if the key is of another kind, and `signingFailed` if the key is too small.
    public func signature(
        of bytes: [UInt8], by signature: TestSignature = .automatic
    ) throws(TestKitError) -> [UInt8] {
        let signature = if case .foreign = signature { TestSignature.automatic } else { signature }
        do {
            switch (material, signature.resolved(for: kind)) {
            case (.p256(let key), .ecdsa(let digest)):
                return try digest.digest(bytes) { Array(try key.signature(for: $0).derRepresentation) }
            case (.p384(let key), .ecdsa(let digest)):
                return try digest.digest(bytes) { Array(try key.signature(for: $0).derRepresentation) }
            case (.p521(let key), .ecdsa(let digest)):
                return try digest.digest(bytes) { Array(try key.signature(for: $0).derRepresentation) }
            case (.rsa(let key), .rsaPKCS1(let digest)):
                return try digest.digest(bytes) {
                    Array(try key.signature(for: $0, padding: .insecurePKCS1v1_5).rawRepresentation)
                }
            case (.rsa(let key), .rsaPSS(let digest)):
                return try digest.digest(bytes) { Array(try key.signature(for: $0, padding: .PSS).rawRepresentation) }
            case (.ed25519(let key), .ed25519):
                return Array(try key.signature(for: bytes))
            default:
                break
            }
        } catch {
            throw TestKitError(
                .signingFailed, expected: "a signature \(signature) by a key \(kind)", found: "\(error)",
                remedy: "RSA keys must be longer than the hash; choose another key or a shorter hash.")
        }
        throw TestKitError(
            .signatureDoesNotFitKey, expected: "a signature that a key \(kind) can make", found: "\(signature)",
            remedy: "Leave the signature automatic, or sign with a key of the other kind.")
    }
}

extension TestKey: Hashable {
    /// Whether the public keys are the same.
    public static func == (left: TestKey, right: TestKey) -> Bool {
        left.subjectPublicKeyInfoDER == right.subjectPublicKeyInfoDER
    }

    /// Consistent with equality.
    public func hash(into hasher: inout Hasher) { hasher.combine(subjectPublicKeyInfoDER) }
}
