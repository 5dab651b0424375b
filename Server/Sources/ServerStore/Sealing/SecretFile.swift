package import Foundation
package import ServerFoundation

/// The file of a ``SigningSecret``: mode 0600, outside the data folder, so that other users and copies of the folder do
/// not contain it.
package struct SecretFile: Sendable {
    /// The file.
    package let url: URL

    private static let maximumSize = 256

    /// Names a file.
    package init(_ url: URL) { self.url = url }

    /// The file for the next secret until all keys are sealed with it: next to this file, so that one rename replaces
    /// it.
    package var next: SecretFile {
        SecretFile(url.deletingLastPathComponent().appending(path: "\(url.lastPathComponent).next"))
    }

    /// Whether the file exists.
    package var exists: Bool { FileManager.default.fileExists(atPath: url.path) }

    /// Writes a secret atomically, over an earlier one.
    /// - Throws: ``ServerError`` `secretFile` or `file`.
    package func replace(_ secret: SigningSecret, outside folder: URL) throws(ServerError) {
        try requireOutside(folder)
        try WholeFile.replace(url, with: secret.fileContent)
    }

    /// Replaces this secret with the ``next`` one; after a crash the file has one or the other.
    /// - Throws: ``ServerError`` `file`.
    package func takeNext() throws(ServerError) {
        try WholeFile.move(next.url, to: url)
    }

    /// Writes a new secret. An existing file is never overwritten.
    /// - Parameter folder: the data folder.
    /// - Throws: ``ServerError`` `secretFile` or `file`.
    package func create(_ secret: SigningSecret, outside folder: URL) throws(ServerError) {
        try requireOutside(folder)
        let descriptor = unsafe open(url.path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0o600 as mode_t)
        guard descriptor >= 0 else {
            throw ServerError(
                .file, of: url.path, expected: "a new file", found: SystemText.of(errno),
                remedy: "Name a file that does not exist yet; a secret that is overwritten is gone.")
        }
        defer { close(descriptor) }
        let content = secret.fileContent
        let written = unsafe content.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        guard written == content.count, fchmod(descriptor, 0o600) == 0, fsync(descriptor) == 0 else {
            let reason = SystemText.of(errno)
            unsafe unlink(url.path)
            throw ServerError(.file, of: url.path, expected: "a file that can be written", found: reason)
        }
    }

    /// Reads the secret.
    /// - Parameter folder: the data folder.
    /// - Throws: ``ServerError`` `secretFile` if others can read or write it, if it is in the folder, or if its content
    ///   is invalid; `file` if it cannot be read.
    package func read(outside folder: URL) throws(ServerError) -> SigningSecret {
        try requireOutside(folder)
        return try SigningSecret(fileContent: try bytes())
    }

    /// Reads a file that no other user may read.
    /// - Throws: ``ServerError`` `secretFile` if others can read or write it; `file` if it cannot be read.
    package func bytes() throws(ServerError) -> [UInt8] {
        // Check the mode of the open file: another file may have the name a moment later.
        let descriptor = unsafe open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw ServerError(
                .file, of: url.path, expected: "a file with the secret", found: SystemText.of(errno),
                remedy: "Put the file back that init wrote, or its recovery copy.")
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ServerError(.secretFile, of: url.path, expected: "a regular file", found: "something else")
        }
        // systemd passes a credential as root's file of mode 0440, which an ACL entry makes readable for the service.
        let isCredential = status.st_uid == 0 && status.st_gid == 0 && geteuid() != 0
        guard status.st_mode & (isCredential ? 0o137 : 0o177) == 0 else {
            throw ServerError(
                .secretFile, of: url.path, expected: "mode 0600",
                found: "mode 0\(String(status.st_mode & 0o777, radix: 8))",
                remedy:
                    "Take the rights of others away: `chmod 600 \(url.path)`. If others may have read it, make a new "
                    + "secret with holdfast-server reseal.")
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw ServerError(
                .secretFile, of: url.path, expected: "a file of this user", found: "one of user \(status.st_uid)")
        }
        var content = [UInt8](repeating: 0, count: Self.maximumSize)
        let count = unsafe content.withUnsafeMutableBytes {
            unsafe Foundation.read(descriptor, $0.baseAddress, $0.count)
        }
        guard count >= 0 else {
            throw ServerError(.file, of: url.path, expected: "a file that can be read", found: SystemText.of(errno))
        }
        return Array(content.prefix(count))
    }

    /// Anyone who copies or serves the folder would get the secret as well. Links are resolved first.
    package func requireOutside(_ folder: URL) throws(ServerError) {
        guard !WholeFile.isInside(url, folder) else {
            throw ServerError(
                .secretFile, of: url.path, expected: "a file outside the data folder", found: "one inside",
                remedy: "Keep the secret elsewhere, such as in /etc/holdfast, so that no backup of the folder has it.")
        }
    }
}
