import Crypto

/// The signature algorithm of a certificate (RFC 5280 4.1.1.2).
public enum TestSignature: Sendable, Hashable {
    /// The hash functions for signatures.
    public enum Digest: Sendable, Hashable {
        /// SHA-1, which verifiers should no longer accept.
        case sha1
        /// SHA-256.
        case sha256
        /// SHA-384.
        case sha384
        /// SHA-512.
        case sha512
    }

    /// Suits the signing key: ECDSA with a hash of the curve's size, RSA PKCS #1 v1.5 with SHA-256, or Ed25519.
    case automatic
    /// ECDSA (RFC 5758 3.2).
    case ecdsa(Digest)
    /// RSA with the padding of PKCS #1 v1.5 (RFC 4055 5, RFC 3279 2.2.1).
    case rsaPKCS1(Digest)
    /// RSASSA-PSS with MGF1 over the same hash, and a salt of the hash's length (RFC 4055 3.1).
    case rsaPSS(Digest)
    /// Ed25519 (RFC 8410).
    case ed25519
    /// The AlgorithmIdentifier of an algorithm that the kit cannot sign with, without parameters. The signature has the
    /// right form for a verifier that must not verify it: it is the automatic one of the key.
    case foreign(TestObjectIdentifier)

    /// The meaning of `automatic` for a kind of key. Any other signature stays as it is.
    func resolved(for kind: TestKey.Kind) -> TestSignature {
        guard self == .automatic else { return self }
        return switch kind {
        case .p256: .ecdsa(.sha256)
        case .p384: .ecdsa(.sha384)
        case .p521: .ecdsa(.sha512)
        case .rsa: .rsaPKCS1(.sha256)
        case .ed25519: .ed25519
        }
    }

    /// The AlgorithmIdentifier. `automatic` must be resolved first; otherwise it is written like Ed25519.
    var algorithmIdentifier: [UInt8] {
        switch self {
        case .foreign(let identifier): return TestDER.sequence([TestDER.objectIdentifier(identifier)])
        case .automatic, .ed25519:
            return TestDER.sequence([TestDER.objectIdentifier([1, 3, 101, 112])])
        case .ecdsa(let digest):
            return TestDER.sequence([TestDER.objectIdentifier(digest.ecdsaIdentifier)])
        case .rsaPKCS1(let digest):
            return TestDER.sequence([TestDER.objectIdentifier(digest.pkcs1Identifier), TestDER.null])
        case .rsaPSS(let digest):
            let hash = TestDER.sequence([TestDER.objectIdentifier(digest.identifier), TestDER.null])
            let mask = TestDER.sequence([TestDER.objectIdentifier([1, 2, 840, 113_549, 1, 1, 8]), hash])
            let parameters = TestDER.sequence([
                TestDER.context(0, constructed: hash),
                TestDER.context(1, constructed: mask),
                TestDER.context(2, constructed: TestDER.integer(digest.byteCount)),
            ])
            return TestDER.sequence([TestDER.objectIdentifier([1, 2, 840, 113_549, 1, 1, 10]), parameters])
        }
    }
}

extension TestSignature.Digest {
    var byteCount: Int {
        switch self {
        case .sha1: 20
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    var identifier: TestObjectIdentifier {
        switch self {
        case .sha1: [1, 3, 14, 3, 2, 26]
        case .sha256: [2, 16, 840, 1, 101, 3, 4, 2, 1]
        case .sha384: [2, 16, 840, 1, 101, 3, 4, 2, 2]
        case .sha512: [2, 16, 840, 1, 101, 3, 4, 2, 3]
        }
    }

    var ecdsaIdentifier: TestObjectIdentifier {
        switch self {
        case .sha1: [1, 2, 840, 10_045, 4, 1]
        case .sha256: [1, 2, 840, 10_045, 4, 3, 2]
        case .sha384: [1, 2, 840, 10_045, 4, 3, 3]
        case .sha512: [1, 2, 840, 10_045, 4, 3, 4]
        }
    }

    var pkcs1Identifier: TestObjectIdentifier {
        switch self {
        case .sha1: [1, 2, 840, 113_549, 1, 1, 5]
        case .sha256: [1, 2, 840, 113_549, 1, 1, 11]
        case .sha384: [1, 2, 840, 113_549, 1, 1, 12]
        case .sha512: [1, 2, 840, 113_549, 1, 1, 13]
        }
    }

    /// Calls `body` with the digest of `bytes`. The type of the digest determines the hash of the signing call.
    func digest<Result>(_ bytes: [UInt8], _ body: (any Crypto.Digest) throws -> Result) rethrows -> Result {
        switch self {
        case .sha1: try body(Insecure.SHA1.hash(data: bytes))
        case .sha256: try body(SHA256.hash(data: bytes))
        case .sha384: try body(SHA384.hash(data: bytes))
        case .sha512: try body(SHA512.hash(data: bytes))
        }
    }
}
