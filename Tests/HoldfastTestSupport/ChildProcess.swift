#if os(macOS) || os(Linux)
package import Foundation
import Holdfast

/// A program that was started with `posix_spawn`.
///
/// Foundation's `Process` is not used: on Linux (Swift 6.3) it looks for the greatest open descriptor with copies of
/// directory entries that extend beyond their buffer. That crashes the test process when very many descriptors are
/// open.
package struct ChildProcess: Sendable {
    /// Why the program could not be started.
    package struct Failure: Error, CustomStringConvertible {
        package let call: String
        package let number: Int32
        package var description: String { "\(call): \(unsafe String(cString: strerror(number)))" }
    }

    /// The program's standard input, for writing.
    package let input: FileHandle
    /// The program's standard output and standard error, for reading.
    package let output: FileHandle
    private let identifier: pid_t

    /// Programs are started one at a time. Otherwise another program could inherit a pipe before it is marked
    /// close-on-exec, and the pipe would stay open until that program ends.
    private static let starts = Lock(0)

    /// Starts a program with the environment and the working folder of this process.
    /// - Parameter program: the path of the program; the search path is not used.
    package init(_ program: String, _ arguments: [String]) throws {
        (identifier, input, output) = try Self.starts.withLock { starts in
            // ThreadSanitizer confuses a state without bytes with the lock itself.
            starts += 1
            return try Self.start(program, arguments)
        }
    }

    private static func start(
        _ program: String, _ arguments: [String]
    ) throws -> (identifier: pid_t, input: FileHandle, output: FileHandle) {
        let (input, output) = (try pipe(), try pipe())
        defer {
            close(input.reading)
            close(output.writing)
        }
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        try check("posix_spawn_file_actions_init", unsafe posix_spawn_file_actions_init(&actions))
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (from, to) in [(input.reading, 0), (output.writing, 1), (output.writing, 2)] as [(Int32, Int32)] {
            try check("adddup2", unsafe posix_spawn_file_actions_adddup2(&actions, from, to))
        }
        try check("addclosefrom", unsafe InheritedDescriptors.restrict(&actions))
        try check("posix_spawnattr_init", unsafe posix_spawnattr_init(&attributes))
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        try check(
            "posix_spawnattr_setflags",
            unsafe posix_spawnattr_setflags(&attributes, Int16(InheritedDescriptors.flags)))
        var words = unsafe copies([program] + arguments)
        var environment = unsafe copies(ProcessInfo.processInfo.environment.map { "\($0)=\($1)" })
        defer { unsafe (words + environment).forEach { unsafe free($0) } }
        var identifier: pid_t = 0
        try check("posix_spawn", unsafe posix_spawn(&identifier, program, &actions, &attributes, &words, &environment))
        return (
            identifier, FileHandle(fileDescriptor: input.writing, closeOnDealloc: true),
            FileHandle(fileDescriptor: output.reading, closeOnDealloc: true)
        )
    }

    private static func pipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard unsafe Foundation.pipe(&ends) == 0 else { throw Failure(call: "pipe", number: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Blocks until the program has ended. Call it only once.
    /// - Returns: its exit status, or the number of the signal that ended it.
    package func wait() -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(identifier, &status, 0) < 0 {
            guard errno == EINTR else { return -1 }
        }
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : signal
    }

    /// Waits until the program has written something, and returns it; nil at the end of the output. `availableData` is
    /// not used because it crashes the test process when a signal interrupts it.
    package func octets() -> Data? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe read(output.fileDescriptor, $0.baseAddress, $0.count)
            }
            if count > 0 { return Data(buffer[..<count]) }
            guard count < 0, errno == EINTR else { return nil }
        }
    }

    private static func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe texts.map { unsafe strdup($0) } + [nil]
    }

    private static func check(_ call: String, _ number: Int32) throws {
        guard number == 0 else { throw Failure(call: call, number: number) }
    }
}
#endif
