import Crypto
import Foundation

/// The secret under which private keys are sealed. It is in a file outside the data folder, never in the database, a log
/// or a backup.
public struct SigningSecret: Sendable {
    private static let header = "holdfast-secret-v1 "

    private let bytes: [UInt8]

    /// Makes a secret of 256 random bits.
    public init(using generator: inout some RandomNumberGenerator) {
        bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Reads the line that ``fileContent`` writes.
    /// - Throws: ``ServerError`` `secretFile`.
    public init(fileContent: [UInt8]) throws(ServerError) {
        guard fileContent.starts(with: Self.header.utf8), fileContent.last == 0x0A,
            let bytes = Base64.decode(fileContent.dropFirst(Self.header.utf8.count).dropLast()), bytes.count == 32
        else {
            throw ServerError(
                .secretFile, expected: "one line, holdfast-secret-v1 and the Base64 of 32 bytes",
                found: "another content")
        }
        self.bytes = bytes
    }

    /// What its file has.
    public var fileContent: [UInt8] { Array("\(Self.header)\(Base64.encode(bytes))\n".utf8) }

    /// Says which secret a key was sealed with, and nothing about the secret: 8 bytes.
    public var id: [UInt8] { Array(derived("holdfast-secret-id-v1").prefix(8)) }

    /// The key for AES-256-GCM.
    var sealingKey: SymmetricKey { SymmetricKey(data: derived("holdfast-seal-v1")) }

    /// What a backup is sealed with besides the recipient's key: whoever has only that can neither read nor forge one.
    var backupKey: SymmetricKey { SymmetricKey(data: derived("holdfast-backup-v1")) }

    /// What the head of an audit is signed with that several machines write: see ``AuditSeal``.
    var headKey: SymmetricKey { SymmetricKey(data: derived("holdfast-audit-head-v1")) }

    /// The key that authenticates the challenges of sign-ins and registrations in cookies: see ``CeremonySeal``.
    var challengeKey: SymmetricKey { SymmetricKey(data: derived("holdfast-challenge-cookie-v1")) }

    private func derived(_ purpose: String) -> [UInt8] {
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: bytes), info: Data(purpose.utf8), outputByteCount: 32)
        return unsafe key.withUnsafeBytes { unsafe Array($0) }
    }
}

extension SigningSecret: CustomStringConvertible {
    /// Reveals nothing, so that no log contains it.
    public var description: String { "a secret" }
}
