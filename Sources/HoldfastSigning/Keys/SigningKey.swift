import Crypto
public import Holdfast
import SwiftASN1

/// The private key that signs pin documents: ECDSA on P-256 with SHA-256. A backup key of a server also signs its
/// ``CertificateRequestDraft``.
///
/// ```swift
/// let key = SigningKey()
/// let file = try key.pem(password: password)
/// ```
/// This value contains a secret: keep its texts in files of mode 0600.
public struct SigningKey: Sendable {
    private let key: P256.Signing.PrivateKey

    /// Makes a new key.
    public init() { key = P256.Signing.PrivateKey() }

    /// Reads a key file: PKCS #8 (RFC 5958), encrypted (RFC 8018 PBES2) or not, or SEC 1, in PEM.
    /// - Parameters:
    ///   - pem: the content of the file.
    ///   - password: the password of an encrypted key, in UTF-8; ignored if the key is not encrypted.
    /// - Throws: ``SigningError``.
    public init(pem: String, password: [UInt8]? = nil) throws(SigningError) {
        let block = try PrivateKeyPEM(pem)
        switch block.kind {
        case .encryptedPrivateKey:
            guard let password else {
                throw SigningError(.passwordNeeded, expected: "a password", found: "an encrypted key without one")
            }
            let plain = try EncryptedPrivateKey(der: block.der).decrypted(with: password)
            // A wrong password may leave well-formed padding by chance, but no key.
            guard let key = try? P256.Signing.PrivateKey(derRepresentation: plain) else {
                throw SigningError(
                    .wrongPassword, expected: "the password of a P-256 key", found: "another, or another key")
            }
            self.key = key
        case .privateKey:
            guard let key = try? P256.Signing.PrivateKey(derRepresentation: block.der) else {
                throw SigningError(.unsupportedKey, expected: "a P-256 private key", found: "another, or a damaged one")
            }
            self.key = key
        default:
            throw PrivateKeyPEM.otherLabel
        }
    }

    /// Reads the number of a private key as ``exportedPrivateKey`` writes it: the Base64 of a big-endian integer. It
    /// usually has 31 to 33 bytes, because a zero byte may be added and leading zeros may be left out.
    /// - Throws: ``SigningError`` `invalidNumber`.
    public init(exportedPrivateKey text: String) throws(SigningError) {
        guard let octets = CanonicalBase64.decode(text.utf8) else {
            throw SigningError(.invalidNumber, expected: "canonical Base64 of a number", found: "other text")
        }
        let significant = octets.drop { $0 == 0 }
        // Java writes at most one leading zero byte. A text with more was not written by Java.
        guard octets.count <= 33, significant.count <= 32, (octets.first ?? 0x80) < 0x80 || octets.count == 32,
            let key = try? P256.Signing.PrivateKey(
                rawRepresentation: [UInt8](repeating: 0, count: 32 - significant.count) + significant)
        else {
            throw SigningError(
                .invalidNumber, expected: "the number of a P-256 private key in 31 to 33 octets",
                found: "\(octets.count) octets")
        }
        self.key = key
    }

    /// The public key. Stores are configured with its `base64`.
    public var publicKey: DocumentPublicKey {
        get throws(SigningError) {
            do throws(DocumentError) {
                return try DocumentPublicKey(x963: Array(key.publicKey.x963Representation))
            } catch {
                throw SigningError(.cryptographyFailed, expected: "a public key", found: "none")
            }
        }
    }

    /// The pin of the public key, for a key that a server uses.
    public var pin: Pin {
        get throws(SigningError) {
            guard let pin = try? Pin.publicKey(spkiDER: subjectPublicKeyInfo) else {
                throw SigningError(.cryptographyFailed, expected: "a public key", found: "none")
            }
            return pin
        }
    }

    /// The text of the pin.
    package var pinText: String {
        get throws(SigningError) { try pin.description }
    }

    /// The DER of the SubjectPublicKeyInfo, as certificates and requests contain it.
    var subjectPublicKeyInfo: [UInt8] { Array(key.publicKey.derRepresentation) }

    /// The private key as the reference tool's `export-private` prints it: the Base64 of Java's signed big-endian
    /// integer.
    /// It has 33 bytes if the first bit of the number is set, and fewer than 32 if the number begins with zeros.
    public var exportedPrivateKey: String {
        var octets = Array(key.rawRepresentation.drop { $0 == 0 })
        if octets.first.map({ $0 >= 0x80 }) ?? true { octets.insert(0, at: 0) }
        return CanonicalBase64.encode(octets)
    }

    /// The private key in unencrypted PKCS #8, in PEM.
    public var pem: String { PEMDocument(type: "PRIVATE KEY", derBytes: Array(key.derRepresentation)).pemString + "\n" }

    /// The private key in encrypted PKCS #8, in PEM: PBES2, AES-128-CBC, PBKDF2 with HMAC-SHA-256, like the reference
    /// tool.
    /// - Parameters:
    ///   - password: the password, in UTF-8; not empty.
    ///   - rounds: the rounds of PBKDF2; 600,000 take about a quarter of a second (OWASP's figure for HMAC-SHA-256).
    /// - Throws: ``SigningError``.
    public func pem(password: [UInt8], rounds: Int = 600_000) throws(SigningError) -> String {
        guard !password.isEmpty else {
            throw SigningError(.passwordNeeded, expected: "a password", found: "an empty one")
        }
        let der = try EncryptedPrivateKey.encrypting(Array(key.derRepresentation), with: password, rounds: rounds)
        return PEMDocument(type: "ENCRYPTED PRIVATE KEY", derBytes: der).pemString + "\n"
    }

    /// Signs bytes with ECDSA and SHA-256.
    /// - Returns: the DER of the signature (RFC 3279 2.2.3).
    /// - Throws: ``SigningError`` `cryptographyFailed`.
    public func signature(for message: [UInt8]) throws(SigningError) -> [UInt8] {
        do {
            return ECDSASignatureValue(Array(try key.signature(for: message).rawRepresentation)).der
        } catch {
            throw SigningError(.cryptographyFailed, expected: "a signature", found: "none")
        }
    }
}

extension SigningKey: CustomStringConvertible {
    /// A fixed text, so that logs never contain the key.
    public var description: String { "a private key" }
}
