import Crypto
public import Foundation
import Holdfast
import HoldfastTUF

/// The public key of a role (section 4.2.2): Ed25519 or P-256.
public struct TUFPublicKey: Sendable, Hashable {
    /// The kinds of key that a repository is made with. Clients know more.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Ed25519 (RFC 8032).
        case ed25519
        /// ECDSA on P-256 with SHA-256.
        case p256 = "p-256"
    }

    /// The key id: SHA-256 over the canonical JSON of the key, in 64 small hexadecimal digits.
    public let id: String
    /// Its kind.
    public let kind: Kind
    /// 32 octets in hexadecimal, or a SubjectPublicKeyInfo in PEM.
    private let value: String

    private init(_ kind: Kind, _ value: String) {
        self.kind = kind
        self.value = value
        id = HexText.text(of: SHA256.hash(data: Self.object(kind, value).canonical))
    }

    init(_ key: Curve25519.Signing.PublicKey) { self.init(.ed25519, HexText.text(of: key.rawRepresentation)) }

    init(_ key: P256.Signing.PublicKey) { self.init(.p256, key.pemRepresentation) }

    /// Reads a public key: PEM of a SubjectPublicKeyInfo, or the Base64 of a P-256 key's X9.63 form that
    /// `holdfastctl keygen` prints.
    /// - Parameter content: of a file.
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
            if let key = try? P256.Signing.PublicKey(derRepresentation: der) {
                self.init(key)
            } else if der.count == 44, der.starts(with: Self.ed25519Prefix),
                let key = try? Curve25519.Signing.PublicKey(rawRepresentation: der.dropFirst(Self.ed25519Prefix.count))
            {
                self.init(key)
            } else {
                throw SigningError(.unsupportedKey, expected: "a key of P-256 or Ed25519", found: "another")
            }
            return
        }
        let text = content.filter { !" \t\r\n".utf8.contains($0) }
        guard let octets = CanonicalBase64.decode(text),
            let key = try? P256.Signing.PublicKey(x963Representation: octets)
        else {
            throw SigningError(
                .notAKeyFile, expected: "a public key in PEM, or the Base64 of a P-256 key's X9.63 form",
                found: "another content")
        }
        self.init(key)
    }

    private static let maximumBytes = 65_536
    /// SubjectPublicKeyInfo up to the 32 octets (RFC 8410 4).
    private static let ed25519Prefix: [UInt8] = [
        0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]

    /// As root lists it.
    var tree: JSONTree { Self.object(kind, value) }

    private static func object(_ kind: Kind, _ value: String) -> JSONTree {
        let (type, scheme) =
            switch kind {
            case .ed25519: ("ed25519", "ed25519")
            case .p256: ("ecdsa", "ecdsa-sha2-nistp256")
            }
        return JSONTree(fields: [
            "keytype": JSONTree(text: type), "scheme": JSONTree(text: scheme),
            "keyval": JSONTree(fields: ["public": JSONTree(text: value)]),
        ])
    }
}
