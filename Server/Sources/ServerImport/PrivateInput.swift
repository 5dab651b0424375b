package import Foundation
package import ServerFoundation

/// Reads input with private keys in plain text: standard input, or files that no other user can read.
package enum PrivateInput {
    private static let mode: mode_t = 0o600

    /// The content of a file of mode 0600 or stricter, which belongs to this user and is not a link.
    /// - Parameter limit: the maximum number of bytes.
    /// - Throws: ``ServerError`` `file`.
    package static func file(_ url: URL, limit: Int) throws(ServerError) -> [UInt8] {
        let descriptor = unsafe open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else {
            let isLink = errno == ELOOP
            throw ServerError(
                .file, of: url.path, expected: isLink ? "a file, and no link to one" : "a file that can be read",
                found: isLink ? "a symbolic link" : SystemText.of(errno),
                remedy: "Name the file itself; what a link leads to may change while it is read.")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        // Check the mode of the open file: another file may have the name a moment later.
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ServerError(
                .file, of: url.path, expected: "a regular file", found: "something else",
                remedy: "Name a file, or - for standard input.")
        }
        guard status.st_mode & 0o177 == 0 else {
            throw ServerError(
                .file, of: url.path, expected: "mode 0600",
                found: "mode 0\(String(status.st_mode & 0o777, radix: 8))",
                remedy: "It has private keys: chmod 600 it, and replace them soon if others may have read it.")
        }
        guard status.st_uid == geteuid() || geteuid() == 0 else {
            throw ServerError(
                .file, of: url.path, expected: "a file of this user", found: "one of user \(status.st_uid)",
                remedy: "Run this as the user who exported it.")
        }
        return try content(of: handle, url.path, limit: limit)
    }

    /// The whole content of standard input, or of another descriptor.
    /// - Throws: ``ServerError`` `file` for more bytes than the limit.
    package static func stream(_ handle: FileHandle, limit: Int) throws(ServerError) -> [UInt8] {
        try content(of: handle, "standard input", limit: limit)
    }

    private static func content(
        of handle: FileHandle, _ name: String, limit: Int
    ) throws(ServerError) -> [UInt8] {
        var content: [UInt8] = []
        while content.count <= limit {
            let part: Data?
            do { part = try handle.read(upToCount: 1 << 20) } catch {
                throw ServerError(.file, of: name, expected: "bytes that can be read", found: "a failure")
            }
            guard let part, !part.isEmpty else { return content }
            content += part
        }
        throw ServerError(
            .file, of: name, expected: "at most \(limit) bytes", found: "more",
            remedy: "Export one application at a time.")
    }
}
