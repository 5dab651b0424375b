import Crypto
import Foundation
import Holdfast
package import ServerFoundation

package import struct ServerFoundation.Digest

/// The public key of an approver: Ed25519, P-256 or P-384, of `holdfastctl keygen` or a signer program.
///
/// The digest of this key identifies a person. So each key has exactly one accepted encoding: otherwise one key in two
/// encodings would be two people.
package struct ApproverKey: Sendable, Hashable {
    private enum Key: Sendable {
        case ed25519(Curve25519.Signing.PublicKey)
        case p256(P256.Signing.PublicKey)
        case p384(P384.Signing.PublicKey)
    }

    private let key: Key
    /// The DER of the SubjectPublicKeyInfo (RFC 5280 4.1.2.7); for elliptic curves with an uncompressed point.
    package let subjectPublicKeyInfo: [UInt8]
    /// The identity of the approver: the SHA-256 of ``subjectPublicKeyInfo``.
    package let identity: Digest

    /// The DER of an Ed25519 SubjectPublicKeyInfo, without the 32 bytes of the key (RFC 8410 4).
    private static let ed25519Prefix: [UInt8] = [
        0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]

    /// Reads a key.
    /// - Parameter der: the DER of a SubjectPublicKeyInfo.
    /// - Throws: ``ServerError`` `invalidValue` for another kind of key and for another encoding.
    package init(der: [UInt8]) throws(ServerError) {
        let written: [UInt8]
        if der.count == 44, der.starts(with: Self.ed25519Prefix), Ed25519Point.isUsable(der.suffix(32)),
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: der.suffix(32))
        {
            self.key = .ed25519(key)
            written = Self.ed25519Prefix + key.rawRepresentation
        } else if let key = try? P256.Signing.PublicKey(derRepresentation: der) {
            self.key = .p256(key)
            written = Array(key.derRepresentation)
        } else if let key = try? P384.Signing.PublicKey(derRepresentation: der) {
            self.key = .p384(key)
            written = Array(key.derRepresentation)
        } else {
            let name = (try? SubjectPublicKeyInfo(der: der))?.algorithmName
            let isKnown = ["Ed25519", "P-256", "P-384"].contains(name)
            throw Self.unusable(name.map { isKnown ? "an unusable key of \($0)" : "a key of \($0)" })
        }
        guard written == der else { throw Self.unusable("another encoding of a key") }
        subjectPublicKeyInfo = der
        identity = Digest(of: der)
    }

    /// Reads the output of `holdfastctl keygen`: the Base64 of the X9.63 form of a P-256 key, or of the 32 bytes of an
    /// Ed25519 key.
    /// - Throws: ``ServerError`` `invalidValue`.
    package init(printed text: String) throws(ServerError) {
        try self.init(raw: text.utf8.count <= 128 ? Base64.decode(Array(text.utf8)) ?? [] : [])
    }

    /// Reads a raw key: the X9.63 form of a P-256 key, or the 32 bytes of an Ed25519 key.
    /// - Throws: ``ServerError`` `invalidValue`, also for a point that is not on the curve.
    package init(raw bytes: [UInt8]) throws(ServerError) {
        if bytes.count == 32 {
            try self.init(der: Self.ed25519Prefix + bytes)
        } else if let key = try? P256.Signing.PublicKey(x963Representation: bytes) {
            try self.init(der: Array(key.derRepresentation))
        } else {
            throw Self.unusable(nil)
        }
    }

    /// Whether passkeys support keys of this kind.
    package var isOfPasskeys: Bool {
        switch key {
        case .ed25519, .p256: true
        case .p384: false
        }
    }

    private static func unusable(_ found: String?) -> ServerError {
        ServerError(
            .invalidValue, of: "key", expected: "an Ed25519, P-256 or P-384 key in its DER encoding",
            found: found ?? "another key or encoding", remedy: "Give the public key that holdfastctl keygen prints.")
    }

    /// Whether a signature is valid for this key.
    /// - Parameters:
    ///   - signature: 64 bytes for Ed25519; for ECDSA the DER of RFC 3279 2.2.3. P-256 signs with SHA-256, P-384 with
    ///     SHA-384.
    ///   - message: the signed bytes.
    func verifies(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        switch key {
        case .ed25519(let key): return signature.count == 64 && key.isValidSignature(signature, for: message)
        case .p256(let key):
            guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: message)
        case .p384(let key):
            guard let signature = try? P384.Signing.ECDSASignature(derRepresentation: signature) else { return false }
            return key.isValidSignature(signature, for: message)
        }
    }

    /// Whether both identify the same person.
    package static func == (left: ApproverKey, right: ApproverKey) -> Bool { left.identity == right.identity }

    /// Consistent with equality.
    package func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}
