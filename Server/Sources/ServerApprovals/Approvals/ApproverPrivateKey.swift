import Crypto
import Foundation
import HoldfastSigning
package import ServerFoundation

package import struct ServerFoundation.Digest

/// The private key of a person who approves, on that person's machine. A server never has one.
package struct ApproverPrivateKey: Sendable {
    private enum Secret: Sendable {
        case ed25519(Curve25519.Signing.PrivateKey)
        case p256(P256.Signing.PrivateKey)
        case p384(P384.Signing.PrivateKey)
    }

    private let secret: Secret
    /// The public key.
    package let key: ApproverKey

    /// Reads a file that `holdfastctl keygen` wrote: Ed25519, P-256 or P-384 in PEM.
    /// - Parameters:
    ///   - pem: the content of the file.
    ///   - password: the password of an encrypted key, in UTF-8.
    /// - Throws: ``ServerError`` `invalidValue`.
    package init(pem: String, password: [UInt8]? = nil) throws(ServerError) {
        let plain = try ServerError.translating(.invalidValue, of: "key") { () throws(SigningError) in
            try TUFSigningKey(pem: pem, password: password).pem
        }
        guard let plain else { throw Self.unusable }
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: plain) {
            secret = .p256(key)
            self.key = try ApproverKey(der: Array(key.publicKey.derRepresentation))
        } else if let key = try? P384.Signing.PrivateKey(pemRepresentation: plain) {
            secret = .p384(key)
            self.key = try ApproverKey(der: Array(key.publicKey.derRepresentation))
        } else if let key = Self.ed25519(plain) {
            secret = .ed25519(key)
            self.key = try ApproverKey(printed: Base64.encode(key.publicKey.rawRepresentation))
        } else {
            throw Self.unusable
        }
    }

    private static var unusable: ServerError {
        ServerError(
            .invalidValue, of: "key", expected: "a private key of Ed25519, P-256 or P-384 in PEM", found: "another",
            remedy: "Make one with holdfastctl keygen.")
    }

    /// Reads the one form that ``TUFSigningKey`` writes (RFC 8410 7): its last 32 bytes are the key.
    private static func ed25519(_ pem: String) -> Curve25519.Signing.PrivateKey? {
        let lines = pem.utf8.split(separator: 0x0A).filter { !$0.starts(with: "-----".utf8) }
        guard let der = Base64.decode(Array(lines.joined())), der.count == 48 else { return nil }
        return try? Curve25519.Signing.PrivateKey(rawRepresentation: der.suffix(32))
    }

    /// Signs a text.
    /// - Throws: ``ServerError`` `invalidSignature` if cryptography fails.
    package func signature(of text: [UInt8]) throws(ServerError) -> ApproverSignature {
        do {
            let bytes: [UInt8] =
                switch secret {
                case .ed25519(let key): Array(try key.signature(for: text))
                case .p256(let key): Array(try key.signature(for: text).derRepresentation)
                case .p384(let key): Array(try key.signature(for: text).derRepresentation)
                }
            return ApproverSignature(identity: key.identity, signature: bytes)
        } catch {
            throw ServerError(.invalidSignature, expected: "a signature", found: "none")
        }
    }
}

extension ApproverPrivateKey: CustomStringConvertible {
    /// Reveals nothing about the key.
    package var description: String { "the private key of an approver" }
}

extension ApproverSignature {
    private static let header = "holdfast-signature-v1"

    /// Maximum file size; the longest Base64 evidence of a passkey with its header is shorter.
    private static let maximumFile = 8 << 10

    /// A signature as a file of one line: the format, the digest of the key, and the Base64 of the signature.
    package var fileContent: [UInt8] { Array("\(Self.header) \(identity) \(Base64.encode(signature))\n".utf8) }

    /// Reads what ``fileContent`` writes.
    /// - Throws: ``ServerError`` `malformed`.
    package init(fileContent: [UInt8]) throws(ServerError) {
        let parts = fileContent.dropLast().split(separator: 0x20, omittingEmptySubsequences: false)
        guard fileContent.count <= Self.maximumFile, fileContent.last == 0x0A, parts.count == 3,
            parts[0].elementsEqual(Self.header.utf8), let identity = Digest(hex: parts[1]),
            let signature = Base64.decode(parts[2])
        else {
            throw ServerError(
                .malformed, of: "signature", expected: "one line, \(Self.header), a digest and Base64",
                found: "another text")
        }
        self.init(identity: identity, signature: signature)
    }
}
