import Crypto
package import Foundation
package import PinPublication
package import ServerFoundation
import ServerModel
import ServerStore

package import struct ServerFoundation.Digest

extension ServerFolder {
    /// Writes a backup, encrypted to a recipient: a consistent copy of the database with the head of its audit, and the
    /// configuration, but not the secret. Servers and commands continue to run.
    /// - Parameters:
    ///   - open: this server.
    ///   - file: the file to write, outside the folder; it must not exist. It appears once it is complete.
    ///   - recipient: the key that opens the backup, together with the secret.
    /// - Returns: the manifest of the backup.
    /// - Throws: ``ServerError``: `secretFile` without the secret, because a backup without it could be forged;
    ///   `brokenChain` for a database that does not match the head; `invalidValue` for a file in the folder.
    @discardableResult
    package func backUp(
        _ open: Open, to file: URL, for recipient: BackupRecipient
    ) async throws(ServerError) -> BackupManifest {
        guard !WholeFile.isInside(file, url) else {
            throw ServerError(
                .invalidValue, of: file.path, expected: "a file outside the data folder", found: "one inside",
                remedy: "Write it to another disk or machine; what is in the folder is lost with the folder.")
        }
        guard let secret = open.publisher.secret else {
            throw open.secretProblem
                ?? ServerError(.secretFile, expected: "the secret", found: "none", remedy: "Put it back first.")
        }
        let lock = try FolderLock.waiting(for: url.appending(path: ".backup.lock"), protecting: database)
        defer { withExtendedLifetime(lock) {} }
        let copy = url.appending(path: ".backup.db")
        try WholeFile.remove(copy)
        defer { try? WholeFile.remove(copy) }
        let (head, now) = try await open.catalog.look { session, ledger throws(ServerError) in
            try session.copy(to: copy)
            return (ledger.chain.head, try session.now())
        }
        var hash = SHA256()
        var size: Int64 = 0
        try StreamedFile.forEachPart(of: copy) { part in
            hash.update(data: part)
            size += Int64(part.count)
        }
        guard let digest = Digest(bytes: Array(hash.finalize())) else {
            throw ServerError(.database, expected: "a digest of the copy", found: "none")
        }
        let manifest = BackupManifest(
            created: now, head: head, configuration: open.configuration, size: size, digest: digest)
        try StreamedFile.create(file) { write throws(ServerError) in
            var writer = try BackupSeal.Writer(for: recipient, secret)
            try write(writer.header)
            try write(try writer.seal(manifest.bytes))
            try StreamedFile.forEachPart(of: copy) { part throws(ServerError) in try write(try writer.seal(part)) }
            try write(try writer.finish())
        }
        try await open.catalog.transact { step throws(ServerError) in
            try step.record(.backup, by: "operator", ["head": "\(head)", "recipient": "\(recipient.identity)"])
        }
        return manifest
    }
}
