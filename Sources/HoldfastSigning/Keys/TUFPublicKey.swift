import Crypto
import CryptoExtras
public import Foundation
import Holdfast
package import HoldfastTUF

/// The public key of a role (section 4.2.2).
///
/// Two keys are equal if they have the same id and the same content.
public struct TUFPublicKey: Sendable {
    /// The kinds of key that a repository can have.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Ed25519 (RFC 8032).
        case ed25519
        /// ECDSA on P-256 with SHA-256.
        case p256 = "p-256"
        /// ECDSA on P-384 with SHA-384.
        case p384 = "p-384"
        /// RSA of 2,048 bits or more with PSS and SHA-256 (RFC 8017).
        case rsaPSS = "rsa-pss"
    }

    /// The key id. A new key has the SHA-256 of its canonical JSON, in 64 lower-case hexadecimal digits. A key from a
    /// root has the id that the root gives it.
    public let id: String
    /// Its kind.
    public let kind: Kind
    /// The key as a root file lists it.
    package let tree: JSONTree

    private init(_ kind: Kind, _ value: String) {
        let (type, scheme) =
            switch kind {
            case .ed25519: ("ed25519", "ed25519")
            case .p256: ("ecdsa", "ecdsa-sha2-nistp256")
            case .p384: ("ecdsa", "ecdsa-sha2-nistp384")
            case .rsaPSS: ("rsa", "rsassa-pss-sha256")
            }
        let tree = JSONTree(fields: [
            "keytype": JSONTree(text: type), "scheme": JSONTree(text: scheme),
            "keyval": JSONTree(fields: ["public": JSONTree(text: value)]),
        ])
        self.kind = kind
        self.tree = tree
        id = HexText.text(of: SHA256.hash(data: tree.canonical))
    }

    private init(_ other: TUFPublicKey, tree: JSONTree) {
        kind = other.kind
        self.tree = tree
        id = HexText.text(of: SHA256.hash(data: tree.canonical))
    }

    private static let longestName = 64

    /// The holder of the key, according to the root; nil for a key without a name. The root's signatures cover the
    /// name, so it cannot be changed unnoticed.
    public var name: String? {
        guard case .text(let octets)? = tree["x-holdfast-name"], Self.isName(octets) else { return nil }
        return String(decoding: octets, as: UTF8.self)
    }

    /// The key with the name of its holder, for people who sign together. The root's readers can see the name. The
    /// key's id changes, because it covers the name as well.
    /// - Parameter name: 1 to 64 letters, digits, and `.`, `_`, `@`, `-` of ASCII.
    /// - Throws: ``SigningError`` `invalidName` for another name.
    public func named(_ name: String) throws(SigningError) -> TUFPublicKey {
        guard Self.isName(name.utf8) else {
            throw SigningError(
                .invalidName, expected: "1 to \(Self.longestName) letters, digits and . _ @ - as the name of a key",
                found: name.utf8.count <= 200 ? name.quoted : "a longer one")
        }
        return TUFPublicKey(self, tree: tree.setting(["x-holdfast-name": JSONTree(text: name)]))
    }

    private static func isName(_ octets: some Collection<UInt8>) -> Bool {
        (1...longestName).contains(octets.count)
            && octets.allSatisfy { octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: ".-_@".utf8.contains(octet)
                }
            }
    }

    /// Reads a key as a root file lists it; nil if it verifies nothing, or if its id cannot be typed.
    package init?(id: [UInt8], _ tree: JSONTree) {
        guard (1...128).contains(id.count), id.allSatisfy({ (0x21...0x7E).contains($0) }),
            let read = try? MetadataKey(tree), read.identity != nil
        else { return nil }
        switch read.signatureScheme {
        case .ed25519: kind = .ed25519
        case .ecdsaP256: kind = .p256
        case .ecdsaP384: kind = .p384
        case .rsaPSS: kind = .rsaPSS
        // New keys for this scheme are no longer made.
        case .rsaPKCS1: return nil
        }
        self.id = String(decoding: id, as: UTF8.self)
        self.tree = tree
    }

    init(_ key: Curve25519.Signing.PublicKey) { self.init(.ed25519, HexText.text(of: key.rawRepresentation)) }

    init(_ key: P256.Signing.PublicKey) { self.init(.p256, key.pemRepresentation) }

    init(_ key: P384.Signing.PublicKey) { self.init(.p384, key.pemRepresentation) }

    /// nil for a key of less than 2,048 bits.
    init?(_ key: _RSA.Signing.PublicKey) {
        guard key.keySizeInBits >= 2_048 else { return nil }
        self.init(.rsaPSS, key.pemRepresentation)
    }

    /// Reads a public key: the PEM of a SubjectPublicKeyInfo (RFC 7468), or the output of `holdfastctl keygen`. That is
    /// the Base64 of the X9.63 form of a P-256 key, 65 bytes, or of the 32 bytes of an Ed25519 key.
    /// - Parameter content: the content of a file, at most 64 KiB.
    /// - Throws: ``SigningError`` `notAKeyFile` or `unsupportedKey`.
    public init(_ content: Data) throws(SigningError) {
        guard content.count <= Self.maximumBytes else {
            throw SigningError(.notAKeyFile, expected: "at most \(Self.maximumBytes) bytes", found: "more")
        }
        if let block = PEMBlocks.read(content).first {
            guard block.kind == .publicKey, case .success(let der) = block.content else {
                throw SigningError(
                    .notAKeyFile, expected: "a public key in PEM (BEGIN PUBLIC KEY)", found: "another block")
            }
            try self.init(der: der)
            return
        }
        let text = content.filter { !" \t\r\n".utf8.contains($0) }
        let octets = CanonicalBase64.decode(text) ?? []
        if octets.count == 32, let key = try? Curve25519.Signing.PublicKey(rawRepresentation: octets) {
            self.init(key)
        } else if let key = try? P256.Signing.PublicKey(x963Representation: octets) {
            self.init(key)
        } else {
            throw SigningError(
                .notAKeyFile, expected: "a public key in PEM, or what holdfastctl keygen prints",
                found: "another content"
            )
        }
    }

    /// Reads a public key from the DER of a SubjectPublicKeyInfo (RFC 5280 4.1.2.7).
    /// - Throws: ``SigningError`` `unsupportedKey`.
    public init(der: [UInt8]) throws(SigningError) {
        if let key = try? P256.Signing.PublicKey(derRepresentation: der) {
            self.init(key)
        } else if let key = try? P384.Signing.PublicKey(derRepresentation: der) {
            self.init(key)
        } else if der.count == 44, der.starts(with: Self.ed25519Prefix),
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: der.dropFirst(Self.ed25519Prefix.count))
        {
            self.init(key)
        } else if let key = try? _RSA.Signing.PublicKey(derRepresentation: der), let read = Self(key) {
            self = read
        } else {
            throw SigningError(
                .unsupportedKey, expected: "a key of Ed25519, P-256, P-384 or RSA of 2048 bits or more",
                found: (try? SubjectPublicKeyInfo(der: der))?.algorithmName ?? "another content")
        }
    }

    private static let maximumBytes = 65_536
    /// The DER of an Ed25519 SubjectPublicKeyInfo, without the 32 bytes of the key (RFC 8410 4).
    private static let ed25519Prefix: [UInt8] = [
        0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]

    /// The key as clients read it; nil if clients cannot use it.
    private var metadataKey: MetadataKey? { try? MetadataKey(tree) }

    /// Whether both are the same key, even if their ids differ.
    public func isSameKey(as other: TUFPublicKey) -> Bool {
        guard let identity = metadataKey?.identity else { return false }
        return identity == other.metadataKey?.identity
    }

    /// A signature in the form that metadata uses, if it verifies; otherwise nil.
    /// - Parameter signature: 64 bytes for Ed25519; an RSA-PSS signature; for ECDSA either DER (RFC 3279 2.2.3), or r
    ///   and s concatenated, as PKCS #11 returns them.
    package func accepted(_ signature: [UInt8], over message: [UInt8]) -> [UInt8]? {
        guard let metadataKey else { return nil }
        let sideBySide: Data? =
            switch kind {
            case .p256: (try? P256.Signing.ECDSASignature(rawRepresentation: signature))?.derRepresentation
            case .p384: (try? P384.Signing.ECDSASignature(rawRepresentation: signature))?.derRepresentation
            case .ed25519, .rsaPSS: nil
            }
        return ([signature] + (sideBySide.map { [Array($0)] } ?? [])).first {
            metadataKey.verifies($0, over: message)
        }
    }
}

extension TUFPublicKey: Hashable {
    /// Whether both have the same id and the same content.
    public static func == (left: TUFPublicKey, right: TUFPublicKey) -> Bool {
        left.id.utf8.elementsEqual(right.id.utf8) && left.tree.canonical == right.tree.canonical
    }

    /// Hashes the content.
    public func hash(into hasher: inout Hasher) { hasher.combine(tree.canonical) }
}
