package import Foundation

/// Replaces files as a whole: a reader, or a program after a crash, finds either the old or the new content.
package enum AtomicFile {
    /// Replaces the content of a file.
    ///
    /// The content is on the disk before its name is, and the name is there before this returns.
    /// - Parameters:
    ///   - url: the file, in an existing folder.
    ///   - temporaryName: the name of the temporary file that becomes this file; an existing one is replaced. Two
    ///     concurrent writers need two names.
    ///   - permissions: the mode of the new file; by default it is readable by its owner only.
    ///   - owner: the user and the group of the new file, as far as the process may give it to them; nil for its own.
    package static func replace(
        _ url: URL, with data: Data, temporaryName: String, permissions: Int = 0o600,
        owner: (user: UInt32, group: UInt32)? = nil
    ) throws {
        let folder = url.deletingLastPathComponent()
        // In the same folder, so that it is the same file system and renaming is one step.
        let temporary = folder.appending(path: temporaryName)
        try? FileManager.default.removeItem(at: temporary)
        do {
            // Setting the mode later would leave a moment without it. The name is not used again: anyone who may write
            // to the folder could have put a link to another file there.
            let descriptor = unsafe open(
                temporary.path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0o600 as mode_t)
            guard descriptor >= 0 else { throw failure(errno) }
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
            defer { try? handle.close() }
            try handle.write(contentsOf: data)
            if let owner, fchown(descriptor, owner.user, owner.group) != 0 {
                // Only root can change the owner of a file, but every user can set the group to one of their own.
                _ = fchown(descriptor, UInt32.max, owner.group)
            }
            // Write everything before any other user may read it.
            guard fchmod(descriptor, mode_t(permissions & 0o7777)) == 0 else { throw failure(errno) }
            try synchronize(handle)
            guard unsafe rename(temporary.path, url.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            try? FileManager.default.removeItem(at: temporary)
            throw error
        }
        synchronize(folder)
    }

    private static func failure(_ number: Int32) -> CocoaError {
        switch number {
        case EACCES, EPERM: CocoaError(.fileWriteNoPermission)
        case ENOENT: CocoaError(.fileNoSuchFile)
        case ENOSPC: CocoaError(.fileWriteOutOfSpace)
        default: CocoaError(.fileWriteUnknown)
        }
    }

    /// The new name is on the disk only when its folder is. On file systems that cannot sync a folder, the content is
    /// safe.
    private static func synchronize(_ folder: URL) {
        guard let handle = try? FileHandle(forReadingFrom: folder) else { return }
        try? synchronize(handle)
        try? handle.close()
    }

    /// Returns when the content is on the disk. On Apple's systems `fsync` leaves it in the disk's own memory, which
    /// loses it if the power fails; some file systems there support only that.
    private static func synchronize(_ handle: FileHandle) throws {
        #if canImport(Darwin)
        if fcntl(handle.fileDescriptor, F_FULLFSYNC) != -1 { return }
        #endif
        try handle.synchronize()
    }

    /// Reads a file of at most so many bytes.
    /// - Parameter isOwn: whether only a regular file is accepted. Another user may have put a pipe or a device in its
    ///   place, and opening a pipe would wait for a writer.
    /// - Throws: `CocoaError` `fileReadTooLarge` past the limit, `fileReadUnsupportedScheme` if it is no regular file.
    package static func read(_ url: URL, maximumBytes: Int, isOwn: Bool = false) throws -> Data {
        let handle = try isOwn ? regularFile(url) : FileHandle(forReadingFrom: url)
        defer { try? handle.close() }
        let data = try handle.read(upToCount: maximumBytes < .max ? maximumBytes + 1 : .max) ?? Data()
        guard data.count <= maximumBytes else { throw CocoaError(.fileReadTooLarge) }
        return data
    }

    private static func regularFile(_ url: URL) throws -> FileHandle {
        let descriptor = unsafe open(url.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT, ENOTDIR, ELOOP: throw CocoaError(.fileReadNoSuchFile)
            case EACCES, EPERM: throw CocoaError(.fileReadNoPermission)
            default: throw CocoaError(.fileReadUnknown)
            }
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            try? handle.close()
            throw CocoaError(.fileReadUnsupportedScheme)
        }
        return handle
    }

    /// The reason why a file could not be read or written, in the system's own text, because Foundation's is longer
    /// and says less.
    package static func reason(_ error: any Error, at path: String) -> String {
        var isFolder: ObjCBool = false
        if unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
            return "it is a folder"
        }
        switch error {
        case CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile: return "no such file"
        case CocoaError.fileReadNoPermission, CocoaError.fileWriteNoPermission: return "no permission"
        case CocoaError.fileReadUnsupportedScheme: return "it is no regular file"
        case CocoaError.fileWriteOutOfSpace: return "no space left"
        default: return ForeignErrorText.found(error)
        }
    }
}
