import Crypto
import CryptoExtras
import Foundation
import Holdfast
import NIOSSL

/// Gets a private key of Ed25519 (RFC 8410) out of NIOSSL.
///
/// `NIOSSLPrivateKey.derBytes` throws for such a key: the format that it writes exists for RSA and ECDSA only. PKCS #12
/// (RFC 7292) takes every key, and NIOSSL writes that with PBES2 (RFC 8018 6.2), PBKDF2 with HMAC-SHA-256, and AES-256
/// in CBC mode. Anything else does not decrypt to a key of Ed25519, so algorithm identifiers are not compared.
enum Ed25519KeyExport {
    /// PrivateKeyInfo of Ed25519 before the 32 bytes of the key (RFC 8410 7).
    private static let prefix: [UInt8] = [
        0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
    ]
    private static let (octetString, objectIdentifier): (UInt8, UInt8) = (0x04, 0x06)
    /// NIOSSL uses 2,048.
    private static let maximumRounds = 100_000

    /// - Parameters:
    ///   - key: one that NIOSSL has read; for a custom key, NIOSSL ends the process.
    ///   - certificate: any certificate, because PKCS #12 contains one.
    /// - Returns: nil for a key of another kind.
    static func key(in key: NIOSSLPrivateKey, with certificate: NIOSSLCertificate) -> Curve25519.Signing.PrivateKey? {
        // Used for this call only. In hexadecimal, because a zero byte would end it.
        var random = SystemRandomNumberGenerator()
        let password = Array(Hexadecimal.encode((0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }).utf8)
        let bundle = NIOSSLPKCS12Bundle(certificateChain: [certificate], privateKey: key)
        guard let file = try? bundle.serialize(passphrase: password),
            let plain = try? encryptedKey(in: file)?.decrypted(with: password), plain.starts(with: prefix)
        else { return nil }
        return try? Curve25519.Signing.PrivateKey(rawRepresentation: plain.dropFirst(prefix.count))
    }

    /// Reads PFX, AuthenticatedSafe and SafeContents (RFC 7292 4), one of which contains the key.
    private static func encryptedKey(in file: [UInt8]) throws -> EncryptedKeyInfo? {
        var outer = try DERReader(sequence: file)
        _ = try outer.next(DERTag.integer)
        guard let safes = try value(of: try outer.next(DERTag.sequence), octetString, outer) else { return nil }
        var reader = try DERReader(sequence: file, in: safes.content)
        while let safe = try reader.nextIfPresent(DERTag.sequence) {
            // The certificate is in EncryptedData, which is a SEQUENCE.
            guard let bags = try value(of: safe, octetString, reader) else { continue }
            var bag = try DERReader(sequence: file, in: bags.content)
            let key = try value(of: try bag.next(DERTag.sequence), DERTag.sequence, bag)
            return try key.map { try EncryptedKeyInfo(bag.inside($0), of: file) }
        }
        return nil
    }

    /// The value of a ContentInfo or a SafeBag, `[0] EXPLICIT` after its type; nil for one with another identifier.
    private static func value(
        of element: DERReader.Element, _ tag: UInt8, _ reader: DERReader
    ) throws -> DERReader.Element? {
        var fields = reader.inside(element)
        _ = try fields.next(objectIdentifier)
        let explicit = try fields.next(DERTag.contextConstructed(0))
        var inner = fields.inside(explicit)
        return try inner.nextIfPresent(tag)
    }

    /// EncryptedPrivateKeyInfo (RFC 5958 3).
    private struct EncryptedKeyInfo {
        let salt: [UInt8]
        let rounds: Int
        let initializationVector: [UInt8]
        let ciphertext: [UInt8]

        init(_ reader: DERReader, of file: [UInt8]) throws {
            var fields = reader
            var algorithm = try Self.algorithm(&fields)
            ciphertext = Array(file[try fields.next(octetString).content])
            let parameters = try algorithm.next(DERTag.sequence)
            var functions = algorithm.inside(parameters)
            var derivation = try Self.algorithm(&functions)
            var encryption = try Self.algorithm(&functions)
            initializationVector = Array(file[try encryption.next(octetString).content])
            let settings = try derivation.next(DERTag.sequence)
            var values = derivation.inside(settings)
            salt = Array(file[try values.next(octetString).content])
            let count = file[try values.next(DERTag.integer).content]
            guard count.count <= 4 else { throw DERError(.lengthTooLarge, at: count.startIndex) }
            rounds = count.reduce(0) { $0 << 8 | Int($1) }
        }

        /// The parameters of the next AlgorithmIdentifier.
        private static func algorithm(_ reader: inout DERReader) throws -> DERReader {
            let identifier = try reader.next(DERTag.sequence)
            var fields = reader.inside(identifier)
            _ = try fields.next(objectIdentifier)
            return fields
        }

        /// PrivateKeyInfo.
        func decrypted(with password: [UInt8]) throws -> [UInt8]? {
            guard (1...maximumRounds).contains(rounds) else { return nil }
            let key = try KDF.Insecure.PBKDF2.deriveKey(
                from: password, salt: salt, using: .sha256, outputByteCount: 32, unsafeUncheckedRounds: rounds)
            let vector = try AES._CBC.IV(ivBytes: initializationVector)
            return Array(try AES._CBC.decrypt(ciphertext, using: key, iv: vector))
        }
    }
}
