import Crypto
import CryptoExtras
import HoldfastSigning

/// A private key as it is stored: encrypted and authenticated with AES-256-GCM.
///
/// The server, the app, the key's id, its purpose and its public key are authenticated with it, so a row that is moved to
/// another app or purpose does not open. Whoever can write to the database and has some key sealed could still put a
/// sealed key of theirs in place; so an opened key must also give the public key of the row, and clients know that key.
public struct SealedKey: Sendable, Hashable {
    /// What a key signs.
    public enum Purpose: String, Sendable, Hashable, CaseIterable {
        /// Fingerprint lists and challenge answers: clients of both have one key.
        case fingerprints
        /// Trust-server documents.
        case trustServer = "trust-server"
        /// The snapshot role of a repository.
        case snapshot
        /// The timestamp role of a repository.
        case timestamp
    }

    /// Where a key belongs.
    public struct Place: Sendable, Hashable {
        /// The server.
        public let server: RandomID
        /// The app.
        public let app: AppName
        /// The id of the key: 1 to 64 letters, digits and hyphens.
        public let id: String
        /// What it signs.
        public let purpose: Purpose

        /// Names a place.
        /// - Throws: ``ServerError`` `invalidValue` for an id that is not one.
        public init(server: RandomID, app: AppName, id: String, purpose: Purpose) throws(ServerError) {
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

    /// Where it belongs.
    public let place: Place
    /// The DER of the SubjectPublicKeyInfo.
    public let publicKey: [UInt8]
    /// The ``SigningSecret/id`` of the secret that opens it.
    public let secretID: [UInt8]
    /// Nonce, ciphertext and tag.
    public let sealed: [UInt8]

    /// Seals a key.
    /// - Parameters:
    ///   - pem: the private key, unencrypted, in PEM: P-256, P-384, Ed25519 or RSA of 2,048 bits or more.
    ///   - place: where it belongs.
    ///   - secret: what seals it.
    /// - Throws: ``ServerError`` `invalidValue` for another kind of key.
    public init(sealing pem: String, at place: Place, with secret: SigningSecret) throws(ServerError) {
        let publicKey = try Self.publicKey(of: pem)
        guard
            let box = try? AES.GCM.seal(
                Array(pem.utf8), using: secret.sealingKey, authenticating: Self.associated(place, publicKey)),
            let combined = box.combined
        else { throw ServerError(.sealedKey, of: place.id, expected: "a sealed key", found: "none") }
        self.init(place: place, publicKey: publicKey, secretID: secret.id, sealed: Array(combined))
    }

    /// Takes what is stored.
    public init(place: Place, publicKey: [UInt8], secretID: [UInt8], sealed: [UInt8]) {
        self.place = place
        self.publicKey = publicKey
        self.secretID = secretID
        self.sealed = sealed
    }

    /// Opens the key.
    /// - Returns: the private key in PEM.
    /// - Throws: ``ServerError`` `sealedKey` for another secret, for a row that was changed or moved, and for a key that
    ///   has another public key.
    public func opened(with secret: SigningSecret) throws(ServerError) -> String {
        let pem = try unsealed(with: secret)
        guard try Self.publicKey(of: pem) == publicKey else {
            throw ServerError(
                .sealedKey, of: place.id, expected: "the private key of the public key beside it",
                found: "that of another")
        }
        return pem
    }

    /// Says whether a secret opens the key. What it gives is not compared with the public key, which takes longer: that is
    /// done whenever it is opened.
    /// - Throws: ``ServerError`` `sealedKey` for another secret, and for a row that was changed or moved.
    func require(_ secret: SigningSecret) throws(ServerError) { _ = try unsealed(with: secret) }

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
    public func resealed(from old: SigningSecret, to new: SigningSecret) throws(ServerError) -> SealedKey {
        try SealedKey(sealing: opened(with: old), at: place, with: new)
    }

    /// What is authenticated and not encrypted: one line for each, so that no two places have the same bytes.
    static func associated(_ place: Place, _ publicKey: [UInt8]) -> [UInt8] {
        let lines = [
            "holdfast-sealed-key-v1", "\(place.server)", "\(place.app)", place.id, place.purpose.rawValue,
            Base64.encode(publicKey),
        ]
        return Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    /// The DER of the SubjectPublicKeyInfo of a private key.
    static func publicKey(of pem: String) throws(ServerError) -> [UInt8] {
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
