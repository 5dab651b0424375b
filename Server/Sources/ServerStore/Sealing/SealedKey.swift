import Crypto
import CryptoExtras
import HoldfastSigning
import ServerApprovals
package import ServerFoundation
import ServerModel

/// A stored private key, encrypted and authenticated with AES-256-GCM.
///
/// The additional data are the server, the app, the key's id, its purpose and its public key, so a row moved to another
/// app or purpose cannot be opened. An attacker with write access to the database and another sealed key could still
/// store that one. Therefore an opened key must also match the public key of the row, which clients know.
package struct SealedKey: Sendable, Hashable {
    /// The documents that a key signs.
    package enum Purpose: String, Sendable, Hashable, CaseIterable {
        /// Fingerprint lists and challenge answers: clients of both have the same key.
        case fingerprints
        /// Trust-server documents.
        case trustServer = "trust-server"
        /// The snapshot role of a repository.
        case snapshot
        /// The timestamp role of a repository.
        case timestamp
    }

    /// The server, app and purpose that a key belongs to.
    package struct Place: Sendable, Hashable {
        /// The server.
        package let server: RandomID
        /// The app.
        package let app: AppName
        /// The id of the key: 1 to 64 letters, digits and hyphens.
        package let id: String
        /// The documents that it signs.
        package let purpose: Purpose

        /// Makes a place.
        /// - Throws: ``ServerError`` `invalidValue` for an invalid id.
        package init(server: RandomID, app: AppName, id: String, purpose: Purpose) throws(ServerError) {
            guard ASCIIText.isName(id.utf8, 1...64, others: "-") else {
                throw ServerError(
                    .invalidValue, of: "key id", expected: "1 to 64 letters, digits and hyphens", found: "another text")
            }
            self.server = server
            self.app = app
            self.id = id
            self.purpose = purpose
        }
    }

    /// The server, app and purpose that it belongs to.
    package let place: Place
    /// The DER of the SubjectPublicKeyInfo.
    package let publicKey: [UInt8]
    /// The ``SigningSecret/id`` of the secret that opens it.
    package let secretID: [UInt8]
    /// Nonce, ciphertext and tag.
    package let sealed: [UInt8]

    /// Seals a key.
    /// - Parameters:
    ///   - pem: the private key, unencrypted, in PEM: P-256, P-384, Ed25519 or RSA of 2,048 bits or more.
    ///   - place: the server, app and purpose that it belongs to.
    ///   - secret: the secret to seal it with.
    /// - Throws: ``ServerError`` `invalidValue` for another kind of key.
    package init(sealing pem: String, at place: Place, with secret: SigningSecret) throws(ServerError) {
        let publicKey = try Self.publicKey(of: pem)
        guard
            let box = try? AES.GCM.seal(
                Array(pem.utf8), using: secret.sealingKey, authenticating: Self.associated(place, publicKey)),
            let combined = box.combined
        else { throw ServerError(.sealedKey, of: place.id, expected: "a sealed key", found: "none") }
        self.init(place: place, publicKey: publicKey, secretID: secret.id, sealed: Array(combined))
    }

    /// Makes one from stored values.
    package init(place: Place, publicKey: [UInt8], secretID: [UInt8], sealed: [UInt8]) {
        self.place = place
        self.publicKey = publicKey
        self.secretID = secretID
        self.sealed = sealed
    }

    /// Opens the key.
    /// - Returns: the private key in PEM.
    /// - Throws: ``ServerError`` `sealedKey` for another secret, for a changed or moved row, and for a key that does
    ///   not match the public key.
    package func opened(with secret: SigningSecret) throws(ServerError) -> String {
        let pem = try unsealed(with: secret)
        guard try Self.publicKey(of: pem) == publicKey else {
            throw ServerError(
                .sealedKey, of: place.id, expected: "the private key of the public key beside it",
                found: "that of another")
        }
        return pem
    }

    /// Requires that a secret opens the key. The result is not compared with the public key, which takes longer:
    /// opening the key does that each time.
    /// - Throws: ``ServerError`` `sealedKey` for another secret, and for a changed or moved row.
    package func require(_ secret: SigningSecret) throws(ServerError) { _ = try unsealed(with: secret) }

    private func unsealed(with secret: SigningSecret) throws(ServerError) -> String {
        guard secretID == secret.id else {
            throw ServerError(
                .sealedKey, of: place.id, expected: "the secret \(Hex.encode(secretID))",
                found: "the secret \(Hex.encode(secret.id))")
        }
        guard let box = try? AES.GCM.SealedBox(combined: sealed),
            let opened = try? AES.GCM.open(
                box, using: secret.sealingKey, authenticating: Self.associated(place, publicKey)),
            let pem = String(validating: opened, as: UTF8.self)
        else {
            throw ServerError(
                .sealedKey, of: place.id, expected: "a key that was sealed for this place",
                found: "one that was changed or moved")
        }
        return pem
    }

    /// Seals the key with another secret.
    /// - Throws: ``ServerError`` `sealedKey`, as ``opened(with:)`` does.
    package func resealed(from old: SigningSecret, to new: SigningSecret) throws(ServerError) -> SealedKey {
        try SealedKey(sealing: opened(with: old), at: place, with: new)
    }

    /// The additional authenticated data: one line per value, so that no two places have the same bytes.
    static func associated(_ place: Place, _ publicKey: [UInt8]) -> [UInt8] {
        let lines = [
            "holdfast-sealed-key-v1", "\(place.server)", "\(place.app)", place.id, place.purpose.rawValue,
            Base64.encode(publicKey),
        ]
        return Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    /// The DER of the SubjectPublicKeyInfo of a private key.
    package static func publicKey(of pem: String) throws(ServerError) -> [UInt8] {
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: pem) {
            return Array(key.publicKey.derRepresentation)
        }
        if let key = try? P384.Signing.PrivateKey(pemRepresentation: pem) {
            return Array(key.publicKey.derRepresentation)
        }
        if let key = try? TUFSigningKey(pem: pem), key.publicKey.kind == .ed25519, let text = key.publicKeyText {
            return try ApproverKey(printed: text).subjectPublicKeyInfo
        }
        if let key = try? _RSA.Signing.PrivateKey(pemRepresentation: pem), key.keySizeInBits >= 2_048 {
            return Array(key.publicKey.derRepresentation)
        }
        throw ServerError(
            .invalidValue, of: "key", expected: "a private key of P-256, P-384, Ed25519 or RSA in PEM, not encrypted",
            found: "another")
    }
}
