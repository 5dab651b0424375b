import Crypto
import CryptoExtras
import Foundation
import SwiftASN1

/// EncryptedPrivateKeyInfo (RFC 5958 3) with PBES2 (RFC 8018 6.2): PBKDF2 and AES-CBC.
struct EncryptedPrivateKey {
    private enum Identifier {
        static let pbes2: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 5, 13]
        static let pbkdf2: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 5, 12]
        static let hmacSHA1: ASN1ObjectIdentifier = [1, 2, 840, 113549, 2, 7]
        static let hmacSHA256: ASN1ObjectIdentifier = [1, 2, 840, 113549, 2, 9]
        static let aes128CBC: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 1, 2]
        static let aes256CBC: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 1, 42]
    }

    /// More rounds than any tool uses. They take about four seconds.
    static let maximumRounds = 10_000_000

    private let salt: [UInt8]
    private let rounds: Int
    private let isSHA1: Bool
    private let keyLength: Int
    private let initializationVector: [UInt8]
    private let ciphertext: [UInt8]

    init(der: [UInt8]) throws(SigningError) {
        let read: (EncryptedPrivateKey?)
        do {
            read = try DER.sequence(try DER.parse(der), identifier: .sequence) { outer in
                let algorithm = try Self.next(&outer)
                let ciphertext = try ASN1OctetString(derEncoded: &outer)
                return try Self.read(algorithm, Array(ciphertext.bytes))
            }
        } catch {
            throw SigningError(.notAKeyFile, expected: "an EncryptedPrivateKeyInfo (RFC 5958 3)", found: "other DER")
        }
        guard let read else {
            throw SigningError(
                .unsupportedEncryption,
                expected: "PBES2 with AES-128 or AES-256 in CBC and PBKDF2 with HMAC-SHA-256 or HMAC-SHA-1, "
                    + "at most \(Self.maximumRounds) rounds",
                found: "another encryption")
        }
        self = read
    }

    private init(
        salt: [UInt8], rounds: Int, isSHA1: Bool, keyLength: Int, initializationVector: [UInt8], ciphertext: [UInt8]
    ) {
        self.salt = salt
        self.rounds = rounds
        self.isSHA1 = isSHA1
        self.keyLength = keyLength
        self.initializationVector = initializationVector
        self.ciphertext = ciphertext
    }

    /// Reads the parameters; nil if an algorithm is not supported.
    private static func read(_ algorithm: ASN1Node, _ ciphertext: [UInt8]) throws -> EncryptedPrivateKey? {
        try pair(algorithm) { identifier, scheme in
            guard identifier == Identifier.pbes2 else { return nil }
            return try DER.sequence(scheme, identifier: .sequence) { parameters in
                let derivation = try next(&parameters)
                let encryption = try next(&parameters)
                guard let derived = try pair(derivation, Self.derivation) else { return nil }
                return try pair(encryption) { identifier, vector in
                    guard let length = [Identifier.aes128CBC: 16, Identifier.aes256CBC: 32][identifier],
                        derived.keyLength.map({ $0 == length }) ?? true
                    else { return nil }
                    let vector = try ASN1OctetString(derEncoded: vector)
                    guard vector.bytes.count == 16 else { return nil }
                    return EncryptedPrivateKey(
                        salt: derived.salt, rounds: derived.rounds, isSHA1: derived.isSHA1, keyLength: length,
                        initializationVector: Array(vector.bytes), ciphertext: ciphertext)
                }
            }
        }
    }

    private static func derivation(
        _ identifier: ASN1ObjectIdentifier, _ parameters: ASN1Node
    ) throws -> (salt: [UInt8], rounds: Int, keyLength: Int?, isSHA1: Bool)? {
        guard identifier == Identifier.pbkdf2 else { return nil }
        return try DER.sequence(parameters, identifier: .sequence) { fields in
            let salt = try ASN1OctetString(derEncoded: &fields)
            let rounds = try Int(derEncoded: &fields)
            var keyLength: Int?
            // HMAC-SHA-1 is the default, and DER omits defaults.
            var isSHA1 = true
            while let field = fields.next() {
                if field.identifier == .integer {
                    keyLength = try Int(derEncoded: field)
                } else {
                    let function = try DER.sequence(field, identifier: .sequence) { parts in
                        let identifier = try ASN1ObjectIdentifier(derEncoded: &parts)
                        _ = parts.next()
                        return identifier
                    }
                    guard function == Identifier.hmacSHA256 || function == Identifier.hmacSHA1 else { return nil }
                    isSHA1 = function == Identifier.hmacSHA1
                }
            }
            guard (1...maximumRounds).contains(rounds), salt.bytes.count <= 1_024 else { return nil }
            return (Array(salt.bytes), rounds, keyLength, isSHA1)
        }
    }

    /// Reads an AlgorithmIdentifier that has parameters.
    private static func pair<Value>(
        _ node: ASN1Node, _ body: (ASN1ObjectIdentifier, ASN1Node) throws -> Value?
    ) throws -> Value? {
        try DER.sequence(node, identifier: .sequence) { parts in
            let identifier = try ASN1ObjectIdentifier(derEncoded: &parts)
            guard let parameters = parts.next() else { return nil }
            return try body(identifier, parameters)
        }
    }

    private static func next(_ nodes: inout ASN1NodeCollection.Iterator) throws -> ASN1Node {
        guard let node = nodes.next() else {
            throw SigningError(.notAKeyFile, expected: "another element", found: "the end")
        }
        return node
    }

    // MARK: Cryptography

    /// Decrypts the key; returns the DER of a PrivateKeyInfo.
    func decrypted(with password: [UInt8]) throws(SigningError) -> [UInt8] {
        do {
            let key = try Self.key(
                from: password, salt: salt, rounds: rounds, isSHA1: isSHA1, length: keyLength)
            let vector = try AES._CBC.IV(ivBytes: initializationVector)
            return Array(try AES._CBC.decrypt(ciphertext, using: key, iv: vector))
        } catch {
            throw SigningError(.wrongPassword, expected: "the password of the key", found: "another")
        }
    }

    /// Encrypts a PrivateKeyInfo; returns the DER of an EncryptedPrivateKeyInfo.
    static func encrypting(
        _ plain: [UInt8], with password: [UInt8], rounds: Int
    ) throws(SigningError) -> [UInt8] {
        guard (1...maximumRounds).contains(rounds) else {
            throw SigningError(
                .unsupportedEncryption, expected: "1 to \(maximumRounds) rounds", found: "\(rounds)")
        }
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let vector = AES._CBC.IV()
        do {
            let key = try key(from: password, salt: salt, rounds: rounds, isSHA1: false, length: 16)
            let ciphertext = Array(try AES._CBC.encrypt(plain, using: key, iv: vector))
            return try write(salt: salt, rounds: rounds, vector: Array(vector), ciphertext: ciphertext)
        } catch {
            throw SigningError(.cryptographyFailed, expected: "an encrypted key", found: "none")
        }
    }

    private static func key(
        from password: [UInt8], salt: [UInt8], rounds: Int, isSHA1: Bool, length: Int
    ) throws -> SymmetricKey {
        // Other programs use few rounds. Such files are accepted, because reading one makes it no weaker.
        try KDF.Insecure.PBKDF2.deriveKey(
            from: password, salt: salt, using: isSHA1 ? .insecureSHA1 : .sha256, outputByteCount: length,
            unsafeUncheckedRounds: rounds)
    }

    private static func write(salt: [UInt8], rounds: Int, vector: [UInt8], ciphertext: [UInt8]) throws -> [UInt8] {
        func octets(_ bytes: [UInt8]) -> ASN1OctetString { ASN1OctetString(contentBytes: bytes[...]) }
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { outer in
            try outer.appendConstructedNode(identifier: .sequence) { algorithm in
                try algorithm.serialize(Identifier.pbes2)
                try algorithm.appendConstructedNode(identifier: .sequence) { parameters in
                    try parameters.appendConstructedNode(identifier: .sequence) { derivation in
                        try derivation.serialize(Identifier.pbkdf2)
                        try derivation.appendConstructedNode(identifier: .sequence) { fields in
                            try fields.serialize(octets(salt))
                            try fields.serialize(rounds)
                            try fields.appendConstructedNode(identifier: .sequence) { function in
                                try function.serialize(Identifier.hmacSHA256)
                                try function.serialize(ASN1Null())
                            }
                        }
                    }
                    try parameters.appendConstructedNode(identifier: .sequence) { encryption in
                        try encryption.serialize(Identifier.aes128CBC)
                        try encryption.serialize(octets(vector))
                    }
                }
            }
            try outer.serialize(octets(ciphertext))
        }
        return serializer.serializedBytes
    }
}
