#if Services
import Foundation

/// A port of 127.0.0.1 for a program that cannot choose a free port itself. It stays reserved for the program while
/// this object exists, however often the program restarts. No other program gets it for a connection or as a free port.
/// Nothing listens on it here.
public final class HeldPort: Sendable {
    /// The TCP port, in the host's byte order. A program that listens on it must set `SO_REUSEADDR`, on Apple's platforms
    /// `SO_REUSEPORT`, as servers do.
    public let number: Int
    private let descriptor: Int32

    /// Takes a free port, and holds it until this object is released.
    /// - Throws: `POSIXError`, with `EMFILE` if the process has no descriptor left, `EADDRINUSE` if no port is free.
    public init() throws {
        #if canImport(Darwin)
        let kind = SOCK_STREAM
        #else
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        #endif
        let descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
        var isReused: Int32 = 1
        // A listener with the same option may also have the port.
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
        #if canImport(Darwin)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &isReused, socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        self.descriptor = descriptor
        number = Int(UInt16(bigEndian: address.sin_port))
        guard isBound else {
            close(descriptor)
            throw POSIXError(.EADDRINUSE)
        }
    }

    deinit { close(descriptor) }
}
#endif
