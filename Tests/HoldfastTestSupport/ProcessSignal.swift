#if os(macOS) || os(Linux)
package import Foundation
import Holdfast

/// A signal from one process to another, sent once: a byte in a named pipe. Neither process polls a file, which would
/// keep a core busy for as long as the other process takes.
package final class ProcessSignal: Sendable {
    /// Why there is no pipe.
    package struct Failure: Error {
        package let number: Int32
    }

    private let descriptor: Int32

    /// - Parameter file: both processes name the same one; the first of them makes it.
    package init(_ file: URL) throws {
        guard unsafe mkfifo(file.path, 0o600) == 0 || errno == EEXIST else { throw Failure(number: errno) }
        // Opened for reading and writing: neither process waits until the other opens its end.
        descriptor = unsafe open(file.path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(number: errno) }
    }

    deinit { close(descriptor) }

    /// Wakes one process that waits, now or later, while a process has the pipe open.
    package func send() {
        var octet: UInt8 = 1
        _ = unsafe write(descriptor, &octet, 1)
    }

    /// Blocks until the other process has sent.
    package func wait() {
        var octet: UInt8 = 0
        while unsafe read(descriptor, &octet, 1) < 0, errno == EINTR {}
    }
}
#endif
