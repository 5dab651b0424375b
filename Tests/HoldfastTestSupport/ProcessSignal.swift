#if os(macOS) || os(Linux)
package import Foundation
import Holdfast

/// What one process tells another, once: an octet in a named pipe. Nobody looks again and again for a file, which would
/// keep a core busy for as long as the other process takes.
package final class ProcessSignal: Sendable {
    /// Why there is no pipe.
    package struct Failure: Error {
        package let number: Int32
    }

    private let descriptor: Int32

    /// - Parameter file: both processes name the same one; whoever is first makes it.
    package init(_ file: URL) throws {
        guard unsafe mkfifo(file.path, 0o600) == 0 || errno == EEXIST else { throw Failure(number: errno) }
        // Open for both, nobody waits for the other end to be opened.
        descriptor = unsafe open(file.path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(number: errno) }
    }

    deinit { close(descriptor) }

    /// Wakes one who waits, now or later, while somebody has the pipe open.
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
