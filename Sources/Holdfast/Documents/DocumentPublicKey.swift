import Crypto

/// Verifies a signature over a message; called from several threads at once.
package protocol SignatureVerifying: Sendable {
    /// Whether a DER signature over a message is valid.
    func isValid(signature: [UInt8], for message: [UInt8]) -> Bool
}

/// The public key that signs documents: a point of P-256.
public struct DocumentPublicKey: Sendable {
    private let key: P256.Signing.PublicKey

    /// Reads a key as the published systems write it.
    /// - Parameter base64: canonical Base64 of the 65 bytes of the uncompressed point (ANSI X9.63).
    /// - Throws: ``DocumentError`` `notCanonicalBase64` or `invalidPublicKey`.
    public init(base64: String) throws(DocumentError) {
        guard let octets = CanonicalBase64.decode(base64.utf8) else {
            // The text is not quoted, because the caller may have passed a private key by mistake.
            throw DocumentError(
                .notCanonicalBase64, field: "publicKey", expected: "the Base64 of a public key",
                found: "a text of \(base64.utf8.count) octets that is not canonical Base64",
                remedy: "Give the Base64 that `holdfastctl export --key signer.pem` prints.")
        }
        try self.init(x963: octets)
    }

    /// Takes the 65 bytes of the uncompressed point (ANSI X9.63).
    /// - Throws: ``DocumentError`` `invalidPublicKey`.
    package init(x963 octets: [UInt8]) throws(DocumentError) {
        guard octets.count == 65, octets.first == 0x04,
            let key = try? P256.Signing.PublicKey(x963Representation: octets)
        else {
            throw DocumentError(
                .invalidPublicKey, field: "publicKey", expected: "65 octets, a point of P-256 (ANSI X9.63)",
                found: Self.description(of: octets))
        }
        self.key = key
    }

    /// The kind of another key, so that a valid key of another kind is not reported as a damaged one.
    private static func description(of octets: [UInt8]) -> String {
        if let info = try? SubjectPublicKeyInfo(der: octets) {
            return "a SubjectPublicKeyInfo of \(info.algorithmName)"
        }
        return switch (octets.count, octets.first) {
        case (97, 0x04): "97 octets, as a point of P-384 has, which is not supported"
        case (133, 0x04): "133 octets, as a point of P-521 has, which is not supported"
        case (32, _): "32 octets, as an Ed25519 key has, which is not supported"
        default: "\(octets.count) octets that are not such a point"
        }
    }

    /// The key as ``init(base64:)`` reads it.
    public var base64: String { CanonicalBase64.encode(x963) }

    /// The key as ``init(x963:)`` takes it.
    package var x963: [UInt8] { Array(key.x963Representation) }
}

extension DocumentPublicKey: SignatureVerifying {
    /// Whether a DER signature over a message verifies under this key.
    package func isValid(signature: [UInt8], for message: [UInt8]) -> Bool {
        guard let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature) else { return false }
        return key.isValidSignature(signature, for: message)
    }
}

extension DocumentPublicKey: Hashable {
    /// Whether both are the same point.
    public static func == (left: DocumentPublicKey, right: DocumentPublicKey) -> Bool {
        left.key.rawRepresentation == right.key.rawRepresentation
    }

    /// Consistent with equality.
    public func hash(into hasher: inout Hasher) { hasher.combine(key.rawRepresentation) }
}
