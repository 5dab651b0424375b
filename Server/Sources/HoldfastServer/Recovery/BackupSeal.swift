import Crypto
import Foundation
import ServerFoundation
import ServerStore

import struct ServerFoundation.Digest

/// The encryption of a backup (`holdfast-backup-v1`): HPKE (RFC 9180) to a recipient in the mode with a pre-shared key,
/// which is derived from the server's secret. Reading a backup takes the recipient's key and the secret. An attacker
/// with only the public key cannot forge one.
///
/// A file is a header of four lines (the name of the format, the recipient, the id of the secret, and the Base64 of the
/// encapsulated key), then messages of the HPKE context: 16 KiB each but for the last, and each with a tag of 16 bytes.
/// The number of a message is in its nonce, and the authenticated data marks the last message. So moving, removing or
/// adding a message is detected.
enum BackupSeal {
    static let name = "holdfast-backup-v1"
    /// The size of the plaintext of each message but the last.
    static let messageBytes = 16 << 10
    static let tagBytes = 16
    static let maximumHeader = 512
    private static let suite = HPKE.Ciphersuite.P256_SHA256_AES_GCM_256

    /// The context of all messages before the encapsulated key is known, and the beginning of the file.
    private static func info(_ recipient: BackupRecipient, _ secret: SigningSecret) -> [UInt8] {
        Array("\(name)\n\(recipient.identity)\n\(Hex.encode(secret.id))\n".utf8)
    }

    /// The authenticated data of a message.
    private static func mark(isLast: Bool) -> Data { Data((isLast ? "last" : "more").utf8) }

    /// Writes a backup.
    struct Writer {
        /// The first bytes of the file.
        let header: [UInt8]
        private var context: HPKE.Sender
        private var waiting: [UInt8] = []

        init(for recipient: BackupRecipient, _ secret: SigningSecret) throws(ServerError) {
            let info = BackupSeal.info(recipient, secret)
            guard
                let context = try? HPKE.Sender(
                    recipientKey: recipient.key, ciphersuite: suite, info: Data(info), presharedKey: secret.backupKey,
                    presharedKeyIdentifier: Data(secret.id))
            else { throw BackupSeal.failure("a key to seal a backup with") }
            self.context = context
            header = info + Array("\(Base64.encode(context.encapsulatedKey))\n".utf8)
        }

        /// Encrypts the next part of the file.
        mutating func seal(_ bytes: [UInt8]) throws(ServerError) -> [UInt8] {
            waiting += bytes
            var sealed: [UInt8] = []
            // The last message is empty only if the backup is empty. A full message may be the last, so hold it back.
            while waiting.count > messageBytes {
                sealed += try message(Array(waiting.prefix(messageBytes)), isLast: false)
                waiting.removeFirst(messageBytes)
            }
            return sealed
        }

        /// The end of the file.
        mutating func finish() throws(ServerError) -> [UInt8] { try message(waiting, isLast: true) }

        private mutating func message(_ bytes: [UInt8], isLast: Bool) throws(ServerError) -> [UInt8] {
            guard let sealed = try? context.seal(Data(bytes), authenticating: mark(isLast: isLast)) else {
                throw BackupSeal.failure("a message that can be sealed")
            }
            return Array(sealed)
        }
    }

    /// Reads a backup.
    struct Reader {
        private var context: HPKE.Recipient
        /// The number of messages that were tried.
        private(set) var effort = 0

        /// - Parameter header: the four lines, without anything after them.
        /// - Throws: ``ServerError`` `malformed`; `notForThis` for another recipient; `secretFile` for another secret.
        init(_ header: [UInt8], _ key: BackupPrivateKey, _ secret: SigningSecret) throws(ServerError) {
            var lines = try LineReader(header, "backup", limit: maximumHeader)
            try lines.line("header", equalTo: name)
            let recipient = try lines.line("recipient", "64 hexadecimal digits") { Digest(hex: $0) }
            let secretID = try lines.line("secret", "16 hexadecimal digits") { Hex.decode($0, count: 8) }
            let encapsulated = try lines.line("encapsulated key", "Base64 of 65 bytes") { line in
                Base64.decode(line).flatMap { $0.count == 65 ? $0 : nil }
            }
            try lines.finish()
            guard recipient == key.recipient.identity else {
                throw ServerError(
                    .notForThis, of: "backup", expected: "the private key of \(recipient)",
                    found: "that of \(key.recipient.identity)", remedy: "Give the key that the backup was made for.")
            }
            guard secretID == secret.id else {
                throw ServerError(
                    .secretFile, of: "backup", expected: "the secret \(Hex.encode(secretID))",
                    found: "the secret \(Hex.encode(secret.id))",
                    remedy: "Give the secret of the time of the backup; reseal makes another.")
            }
            guard
                let context = try? HPKE.Recipient(
                    privateKey: key.key, ciphersuite: suite, info: Data(info(key.recipient, secret)),
                    encapsulatedKey: Data(encapsulated), presharedKey: secret.backupKey,
                    presharedKeyIdentifier: Data(secret.id))
            else { throw BackupSeal.damaged }
            self.context = context
        }

        /// The plaintext of the next message.
        mutating func open(_ message: [UInt8], isLast: Bool) throws(ServerError) -> [UInt8] {
            effort += 1
            guard let opened = try? context.open(Data(message), authenticating: mark(isLast: isLast)) else {
                throw BackupSeal.damaged
            }
            return Array(opened)
        }
    }

    static var damaged: ServerError {
        ServerError(
            .malformed, of: "backup", expected: "the backup as it was written",
            found: "one that was changed or cut off",
            remedy: "Take another copy of it, or another backup.")
    }

    private static func failure(_ expected: String) -> ServerError {
        ServerError(.file, of: "backup", expected: expected, found: "none")
    }
}
