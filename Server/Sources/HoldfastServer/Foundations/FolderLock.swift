public import Foundation

/// A lock on a file, held until the value is released or the process ends, however it ends.
public final class FolderLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock at once.
    /// - Parameter file: the file of the lock; made if it is not there.
    /// - Throws: ``ServerError`` `folderInUse` if somebody else holds it; `file`.
    public convenience init(_ file: URL) throws(ServerError) { try self.init(file, LOCK_EX | LOCK_NB) }

    /// Waits for the lock.
    /// - Throws: ``ServerError`` `file`.
    static func waiting(for file: URL) throws(ServerError) -> FolderLock { try FolderLock(file, LOCK_EX) }

    private init(_ file: URL, _ operation: Int32) throws(ServerError) {
        descriptor = Self.opened(file)
        guard descriptor >= 0 else {
            throw ServerError(
                .file, of: file.path, expected: "a file that can be locked", found: SystemText.of(errno))
        }
        while flock(descriptor, operation) != 0 {
            guard errno != EINTR else { continue }
            let isHeld = errno == EWOULDBLOCK
            let reason = SystemText.of(errno)
            close(descriptor)
            throw ServerError(
                isHeld ? .folderInUse : .file, of: file.deletingLastPathComponent().path,
                expected: isHeld ? "a folder that no other server uses" : "a file that can be locked",
                found: isHeld ? "one that another process has locked" : reason)
        }
    }

    /// A lock writes nothing, so it can be taken where nothing can be written: on the file as it is, or on the folder.
    private static func opened(_ file: URL) -> Int32 {
        let flags = O_CLOEXEC | O_NOFOLLOW
        let descriptor = unsafe open(file.path, O_CREAT | O_RDWR | flags, 0o600 as mode_t)
        let reason = errno
        guard descriptor < 0, [EROFS, EACCES, EPERM, ENOSPC].contains(reason) else { return descriptor }
        let existing = unsafe open(file.path, O_RDONLY | flags)
        guard existing < 0, errno == ENOENT else { return existing }
        let folder = unsafe open(file.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder < 0 { errno = reason }
        return folder
    }

    deinit { close(descriptor) }
}
