package import Foundation

/// A lock between processes: an advisory lock on a file that only its owner can open, so that no other user of the
/// machine can hold it. The file stays; the lock ends with the process, however the process ends.
package final class FileLock: Sendable {
    /// The reason why a lock could not be acquired.
    package enum Failure: Error {
        /// Others held it for the whole time.
        case held
        /// The file belongs to another user, is not a regular file, or is a hard link to another file.
        case foreign
        /// The number of a system error.
        case system(Int32)

        /// The text for the found value in a message.
        package var found: String {
            switch self {
            case .held: "another process holds it"
            case .foreign: "it belongs to another user, is no file, or is another file's second name"
            case .system(let number): unsafe String(cString: strerror(number))
            }
        }
    }

    /// The maximum time that a writer waits for another: far longer than any write takes.
    package static let usualLimit = Duration.seconds(30)
    /// The time between two attempts.
    private static let pause: UInt32 = 20_000

    private let descriptor: Int32

    /// Waits for the lock, which is held as long as this value exists.
    /// - Parameters:
    ///   - file: created with mode 0600 if it does not exist.
    ///   - limit: the maximum time to wait.
    ///   - waiting: called once, a second after the wait has begun.
    package init(_ file: URL, limit: Duration = usualLimit, waiting: () -> Void = {}) throws(Failure) {
        // Closed on exec, so that no child process keeps it. Links are not followed: anyone who may write to the folder
        // could make one.
        let descriptor = unsafe open(file.path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600 as mode_t)
        guard descriptor >= 0 else { throw errno == ELOOP ? .foreign : .system(errno) }
        do throws(Failure) {
            try Self.requireOwn(descriptor)
            try Self.wait(for: descriptor, limit, waiting)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    deinit {
        // Unlock explicitly, because a child process that has not called exec yet has a copy of the descriptor.
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func requireOwn(_ descriptor: Int32) throws(Failure) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system(errno) }
        // Root may use the files of all users. A hard link would be an attempt to change the mode of another file.
        guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1, status.st_uid == geteuid() || geteuid() == 0
        else { throw .foreign }
        // An earlier version, or a copy, may have left the file readable by others.
        if status.st_mode & 0o077 != 0, fchmod(descriptor, 0o600) != 0 { throw .system(errno) }
    }

    private static func wait(for descriptor: Int32, _ limit: Duration, _ waiting: () -> Void) throws(Failure) {
        let clock = ContinuousClock()
        let start = clock.now
        var hasSaid = false
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw .system(errno) }
            let waited = clock.now - start
            guard waited < limit else { throw .held }
            if waited >= .seconds(1), !hasSaid {
                hasSaid = true
                waiting()
            }
            usleep(pause)
        }
    }
}
