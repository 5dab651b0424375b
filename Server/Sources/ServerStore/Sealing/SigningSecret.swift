package import Crypto
import Foundation
package import ServerFoundation

/// The secret with which private keys are sealed. It is in a file outside the data folder, never in the database, a log
/// or a backup.
package struct SigningSecret: Sendable {
    private static let header = "holdfast-secret-v1 "

    private let bytes: [UInt8]

    /// Makes a secret of 256 random bits.
    package init(using generator: inout some RandomNumberGenerator) {
        bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// Reads the line that ``fileContent`` writes.
    /// - Throws: ``ServerError`` `secretFile`.
    package init(fileContent: [UInt8]) throws(ServerError) {
        guard fileContent.starts(with: Self.header.utf8), fileContent.last == 0x0A,
            let bytes = Base64.decode(fileContent.dropFirst(Self.header.utf8.count).dropLast()), bytes.count == 32
        else {
            throw ServerError(
                .secretFile, expected: "one line, holdfast-secret-v1 and the Base64 of 32 bytes",
                found: "another content")
        }
        self.bytes = bytes
    }

    /// The content of its file.
    package var fileContent: [UInt8] { Array("\(Self.header)\(Base64.encode(bytes))\n".utf8) }

    /// Identifies the secret without revealing it: 8 bytes.
    package var id: [UInt8] { Array(derived("holdfast-secret-id-v1").prefix(8)) }

    /// The key for AES-256-GCM.
    var sealingKey: SymmetricKey { SymmetricKey(data: derived("holdfast-seal-v1")) }

    /// The pre-shared key of backups, in addition to the recipient's key, with which alone a backup can neither be read
    /// nor forged.
    package var backupKey: SymmetricKey { SymmetricKey(data: derived("holdfast-backup-v1")) }

    /// The key that signs the head of an audit of several machines: see ``AuditSeal``.
    var headKey: SymmetricKey { SymmetricKey(data: derived("holdfast-audit-head-v1")) }

    /// The key that authenticates the challenges of sign-ins and registrations in cookies: see ``CeremonySeal``.
    package var challengeKey: SymmetricKey { SymmetricKey(data: derived("holdfast-challenge-cookie-v1")) }

    private func derived(_ purpose: String) -> [UInt8] {
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: bytes), info: Data(purpose.utf8), outputByteCount: 32)
        return unsafe key.withUnsafeBytes { unsafe Array($0) }
    }
}

extension SigningSecret: CustomStringConvertible {
    /// Reveals nothing, so that no log contains it.
    package var description: String { "a secret" }
}
