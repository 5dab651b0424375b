import Crypto
public import Foundation

extension ServerFolder {
    /// Writes a backup: the database as it is at one instant with the end of its audit, and the configuration, encrypted
    /// to a recipient. The secret is not in it. Servers and commands go on meanwhile.
    /// - Parameters:
    ///   - open: this server.
    ///   - file: the file to write, outside the folder; there must be none yet. It appears once it is complete.
    ///   - recipient: whose key opens it, together with the secret.
    /// - Returns: what the backup says about itself.
    /// - Throws: ``ServerError``: `secretFile` without the secret, without which nobody could tell a backup from a
    ///   forgery; `brokenChain` for a database that is not the one of the head; `invalidValue` for a file in the folder.
    @discardableResult
    public func backUp(
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
