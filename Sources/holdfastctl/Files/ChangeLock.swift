import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// Lets one command at a time change a file; others wait, up to a limit.
enum ChangeLock {
    /// The lock file next to a file. Only its owner can open it, because anyone who can open a file can lock it. A
    /// symbolic link shares the lock of its target.
    static func file(for link: URL) -> URL {
        let file = link.resolvingSymlinksInPath()
        return file.deletingLastPathComponent().appending(path: ".\(file.lastPathComponent).lock")
    }

    /// Waits for the lock, and reports it if that takes longer than a moment.
    /// - Parameters:
    ///   - url: the file to change. Its folder must exist.
    ///   - path: the file's name for messages.
    static func on(
        _ url: URL, for path: String, limit: Duration = FileLock.usualLimit
    ) throws(CommandFailure) -> FileLock {
        let lock = file(for: url)
        do throws(FileLock.Failure) {
            return try FileLock(lock, limit: limit) {
                Output.standard.remark(
                    "waiting for another process that changes \(path) and holds \(lock.path), for at most "
                        + SpanText.text(limit.components.seconds))
            }
        } catch {
            throw CommandFailure(
                .unwritableFile,
                "\(path) cannot be written: expected the lock \(lock.path) within "
                    + "\(SpanText.text(limit.components.seconds)), found that \(error.found)")
        }
    }
}
