import Foundation

/// Lets one command at a time change the files of a folder; others wait.
///
/// The folder itself is locked, so that no file is left behind. The lock ends with the process, however that ends.
struct FolderLock {
    private let descriptor: Int32

    /// Waits for the lock, which is held until it is released.
    /// - Parameter path: the file that it is for, as messages name it.
    init(on folder: URL, for path: String) throws(CommandFailure) {
        let descriptor = unsafe open(folder.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(.unwritableFile, "\(path) cannot be written: \(KeyFile.reason(errno))")
        }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else {
                let reason = KeyFile.reason(errno)
                close(descriptor)
                throw CommandFailure(.unwritableFile, "\(path) cannot be locked: \(reason)")
            }
        }
        self.descriptor = descriptor
    }

    /// Once only. Said to the lock itself: to close it would not do while a process that is just being started has a copy.
    func release() {
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
