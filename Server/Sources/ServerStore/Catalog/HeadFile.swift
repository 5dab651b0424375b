package import Foundation
package import ServerFoundation
package import ServerModel

/// The head of the audit in a file next to the database: `holdfast-head-v1`, a line with the head, and while a
/// transaction commits a second line with the head after it.
///
/// A database whose audit ends anywhere else was rewritten, truncated, continued by another program, or is an older
/// copy. Processes that write take ``lock()`` for the whole transaction, so the file never falls behind the database.
///
/// On a database that several machines write to, the file contains the newest head that this machine has seen, and the
/// audit continues from there: ``SignedHead``.
package struct HeadFile: Sendable {
    /// The file.
    package let url: URL

    private static let header = "holdfast-head-v1"

    /// Names a file.
    package init(_ url: URL) { self.url = url }

    /// Waits until no other process writes.
    package func lock() throws(ServerError) -> FolderLock { try FolderLock.waiting(for: lockFile, protecting: url) }

    /// Takes the lock, if no other process writes.
    /// - Throws: ``ServerError`` `folderInUse` if one does; `file`.
    func lockAtOnce() throws(ServerError) -> FolderLock { try FolderLock.atOnce(lockFile, protecting: url) }

    private var lockFile: URL {
        url.deletingLastPathComponent().appending(path: ".\(url.lastPathComponent).lock")
    }

    /// The heads that the database may have: one, or two after a crash.
    /// - Throws: ``ServerError`` `file` or `malformed`.
    func heads() throws(ServerError) -> [AuditHead] {
        guard let heads = try headsIfThere() else { throw isMissing }
        return heads
    }

    /// The error for a missing file.
    package var isMissing: ServerError {
        ServerError(
            .file, of: url.path, expected: "the file with the head of the audit", found: "none",
            remedy: "Restore the file from a backup. Without it, the server cannot check whether the database is the "
                + "newest.")
    }

    /// The same as ``heads()``; nil if there is no file.
    func headsIfThere() throws(ServerError) -> [AuditHead]? {
        guard let content = try WholeFile.read(url, limit: 512) else { return nil }
        var reader = try LineReader(content, "head of the audit", limit: 512)
        try reader.line("header", equalTo: Self.header)
        var heads = [try reader.line("head", "a count and a digest") { AuditHead($0) }]
        if (try? reader.finish()) == nil {
            heads.append(try reader.line("next head", "a count and a digest") { AuditHead($0) })
            try reader.finish()
        }
        return heads
    }

    /// Writes the head, and the head after a transaction that is about to commit.
    /// - Throws: ``ServerError`` `file`; the file is unchanged then.
    package func write(_ head: AuditHead, next: AuditHead? = nil) throws(ServerError) {
        let lines = [Self.header, "\(head)"] + (next.map { ["\($0)"] } ?? [])
        try WholeFile.replace(url, with: Array(lines.map { $0 + "\n" }.joined().utf8))
    }
}
