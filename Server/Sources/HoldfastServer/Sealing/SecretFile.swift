public import Foundation

/// The file of a ``SigningSecret``: mode 0600, outside the data folder, so that neither another user nor a copy of the
/// folder has it.
public struct SecretFile: Sendable {
    /// The file.
    public let url: URL

    private static let maximumSize = 256

    /// Names a file.
    public init(_ url: URL) { self.url = url }

    /// Where the next secret waits until all keys are sealed with it: beside this file, so that one rename puts it in place.
    var next: SecretFile {
        SecretFile(url.deletingLastPathComponent().appending(path: "\(url.lastPathComponent).next"))
    }

    /// Whether there is something.
    var exists: Bool { FileManager.default.fileExists(atPath: url.path) }

    /// Writes a secret as a whole, over an earlier one.
    /// - Throws: ``ServerError`` `secretFile` or `file`.
    func replace(_ secret: SigningSecret, outside folder: URL) throws(ServerError) {
        try requireOutside(folder)
        try WholeFile.replace(url, with: secret.fileContent)
    }

    /// Puts the ``next`` secret in the place of this one; a crash leaves the one or the other.
    /// - Throws: ``ServerError`` `file`.
    func takeNext() throws(ServerError) {
        try WholeFile.move(next.url, to: url)
    }

    /// Writes a new secret. An existing file is never overwritten.
    /// - Parameter folder: the data folder.
    /// - Throws: ``ServerError`` `secretFile` or `file`.
    public func create(_ secret: SigningSecret, outside folder: URL) throws(ServerError) {
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
    /// - Throws: ``ServerError`` `secretFile` if others can read or write it, if it is in the folder, or if it has
    ///   another content; `file` if it cannot be read.
    public func read(outside folder: URL) throws(ServerError) -> SigningSecret {
        try requireOutside(folder)
        return try SigningSecret(fileContent: try bytes())
    }

    /// Reads a file that nobody else may read.
    /// - Throws: ``ServerError`` `secretFile` if others can read or write it; `file` if it cannot be read.
    func bytes() throws(ServerError) -> [UInt8] {
        // The mode is that of what was opened, not of what has the name a moment later.
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
        // systemd hands over a file of root, mode 0440, that an entry of its access list opens for the service.
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

    /// Whoever copies or serves the folder would have the secret as well. Links are followed first.
    func requireOutside(_ folder: URL) throws(ServerError) {
        guard !WholeFile.isInside(url, folder) else {
            throw ServerError(
                .secretFile, of: url.path, expected: "a file outside the data folder", found: "one inside",
                remedy: "Keep the secret elsewhere, such as in /etc/holdfast, so that no backup of the folder has it.")
        }
    }
}
