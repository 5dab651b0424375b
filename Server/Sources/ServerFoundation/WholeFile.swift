package import Foundation

/// Reads and replaces whole files: a reader, or a program after a crash, finds either the old content or the new one.
package enum WholeFile {
    /// The content of a file; nil if it does not exist.
    /// - Parameters:
    ///   - url: the file.
    ///   - limit: the maximum number of bytes.
    ///   - followsLinks: whether it may be a link to a file, as ACME clients make them.
    /// - Throws: ``ServerError`` `file` if it cannot be read, is not a regular file, or exceeds the limit.
    package static func read(_ url: URL, limit: Int, followingLinks followsLinks: Bool = false) throws(ServerError)
        -> [UInt8]?
    {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW)
        let descriptor = unsafe open(url.path, flags)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw ServerError(
                .file, of: url.path, expected: "a file that can be read", found: SystemText.of(errno))
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit,
            let content = try? handle.readToEnd() ?? Data(), content.count <= limit
        else {
            throw ServerError(
                .file, of: url.path, expected: "a regular file of at most \(limit) bytes", found: "another")
        }
        return Array(content)
    }

    /// Replaces the content of a file. It is synced to disk when this returns.
    /// - Parameter mode: the permissions; only for the server's user by default.
    /// - Throws: ``ServerError`` `file`; the file is unchanged then.
    package static func replace(_ url: URL, with bytes: [UInt8], mode: mode_t = 0o600) throws(ServerError) {
        let temporary = url.deletingLastPathComponent().appending(path: ".\(url.lastPathComponent).new").path
        func failure() -> ServerError {
            let error = unwritable(url)
            unsafe unlink(temporary)
            return error
        }
        unsafe unlink(temporary)
        let descriptor = unsafe open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0o600 as mode_t)
        guard descriptor >= 0 else { throw failure() }
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            guard written > 0 else { break }
            rest = rest.dropFirst(written)
        }
        let isOnDisk = rest.isEmpty && fchmod(descriptor, mode) == 0 && fsync(descriptor) == 0
        close(descriptor)
        guard isOnDisk else { throw failure() }
        do throws(ServerError) {
            try move(URL(filePath: temporary), to: url)
        } catch {
            unsafe unlink(temporary)
            throw error
        }
    }

    /// Renames a file, replacing the target. This is synced to disk when it returns.
    /// - Throws: ``ServerError`` `file`.
    package static func move(_ file: URL, to url: URL) throws(ServerError) {
        guard unsafe rename(file.path, url.path) == 0 else { throw unwritable(url) }
        try sync(url.deletingLastPathComponent())
    }

    /// Removes a file if it exists. This is synced to disk when it returns.
    /// - Throws: ``ServerError`` `file`.
    package static func remove(_ url: URL) throws(ServerError) {
        guard unsafe unlink(url.path) == 0 else {
            if errno == ENOENT { return }
            throw unwritable(url)
        }
        try sync(url.deletingLastPathComponent())
    }

    private static func sync(_ url: URL) throws(ServerError) {
        let folder = unsafe open(url.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw unwritable(url) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw unwritable(url) }
    }

    private static func unwritable(_ url: URL) -> ServerError {
        ServerError(.file, of: url.path, expected: "a file that can be written", found: SystemText.of(errno))
    }

    /// Whether a file is in a folder, or would be, after resolving symbolic links.
    package static func isInside(_ url: URL, _ folder: URL) -> Bool {
        let file = url.deletingLastPathComponent().resolvingSymlinksInPath().appending(path: url.lastPathComponent)
            .resolvingSymlinksInPath().standardizedFileURL.pathComponents
        let inside = folder.resolvingSymlinksInPath().standardizedFileURL.pathComponents.filter { $0 != "" }
        return file.count > inside.count && file.starts(with: inside)
    }
}
