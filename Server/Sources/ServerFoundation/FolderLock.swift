package import Foundation

/// A lock, held until the value is released or the process ends, however it ends.
package final class FolderLock: Sendable {
    let descriptors: [Int32]

    /// Locks a folder without waiting. It locks the folder as well as the file, so that removing a file that looks left
    /// over does not give another process the lock.
    /// - Parameter file: the file of the lock; created if it does not exist and the folder can be written.
    /// - Throws: ``ServerError`` `folderInUse` if another process holds it; `file`.
    package convenience init(_ file: URL) throws(ServerError) {
        let (folder, operation) = (file.deletingLastPathComponent(), LOCK_EX | LOCK_NB)
        let held = try Self.locked(Self.openedAsItIs(folder), operation, in: folder)
        let descriptor = Self.opened(file)
        guard descriptor >= 0 || !Self.saysUnwritable(errno) else {
            self.init([held])
            return
        }
        let own: Int32
        do throws(ServerError) {
            own = try Self.locked(descriptor, operation, in: folder)
        } catch {
            Self.release(held)
            throw error
        }
        self.init([held, own])
    }

    /// Acquires a lock without waiting.
    /// - Parameters:
    ///   - file: the file of the lock; created if it does not exist.
    ///   - protected: the file or folder to lock instead if that file cannot be created.
    /// - Throws: ``ServerError`` `folderInUse` if another process holds it; `file`.
    package static func atOnce(_ file: URL, protecting protected: URL) throws(ServerError) -> FolderLock {
        try FolderLock(file, LOCK_EX | LOCK_NB, protecting: protected)
    }

    /// Waits for a lock.
    /// - Parameters:
    ///   - file: the file of the lock; created if it does not exist.
    ///   - protected: the file or folder to lock instead if that file cannot be created; nil for its folder.
    /// - Throws: ``ServerError`` `file`.
    package static func waiting(for file: URL, protecting protected: URL? = nil) throws(ServerError) -> FolderLock {
        try FolderLock(file, LOCK_EX, protecting: protected ?? file.deletingLastPathComponent())
    }

    private convenience init(_ file: URL, _ operation: Int32, protecting protected: URL) throws(ServerError) {
        var descriptor = Self.opened(file)
        if descriptor < 0, Self.saysUnwritable(errno) { descriptor = Self.openedAsItIs(protected) }
        self.init([try Self.locked(descriptor, operation, in: file.deletingLastPathComponent())])
    }

    private init(_ descriptors: [Int32]) { self.descriptors = descriptors }

    /// Closes the descriptor if it cannot be locked.
    private static func locked(_ descriptor: Int32, _ operation: Int32, in folder: URL) throws(ServerError) -> Int32 {
        guard descriptor >= 0 else {
            throw ServerError(
                .file, of: folder.path, expected: "a file that can be locked", found: SystemText.of(errno))
        }
        while flock(descriptor, operation) != 0 {
            guard errno != EINTR else { continue }
            let isHeld = errno == EWOULDBLOCK
            let reason = SystemText.of(errno)
            close(descriptor)
            throw ServerError(
                isHeld ? .folderInUse : .file, of: folder.path,
                expected: isHeld ? "a folder that no other server uses" : "a file that can be locked",
                found: isHeld ? "one that another process has locked" : reason)
        }
        return descriptor
    }

    /// Opens an existing file for reading if nothing can be written: a lock writes nothing.
    private static func opened(_ file: URL) -> Int32 {
        let flags = O_CLOEXEC | O_NOFOLLOW
        let descriptor = unsafe open(file.path, O_CREAT | O_RDWR | flags, 0o600 as mode_t)
        let reason = errno
        guard descriptor < 0, saysUnwritable(reason) else { return descriptor }
        let existing = unsafe open(file.path, O_RDONLY | flags)
        if existing < 0, errno == ENOENT { errno = reason }
        return existing
    }

    private static func openedAsItIs(_ url: URL) -> Int32 { unsafe open(url.path, O_RDONLY | O_CLOEXEC) }

    private static func saysUnwritable(_ reason: Int32) -> Bool { [EROFS, EACCES, EPERM, ENOSPC].contains(reason) }

    deinit { descriptors.forEach(Self.release) }

    /// Unlocks explicitly, because a child process before exec has a copy of the descriptor: until that copy is closed,
    /// the lock would block processes that do not wait for it.
    private static func release(_ descriptor: Int32) {
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
