#if os(macOS) || os(Linux)
import Foundation
import Holdfast

/// A running program.
///
/// Foundation's `Process` is not used, because it runs the program in a separate process group. The terminal stops a
/// program in such a group when it asks for a PIN.
struct SignerProcess: ~Copyable {
    struct Failure: Error {
        let reason: String

        init(_ number: Int32) { reason = unsafe String(cString: strerror(number)) }
    }

    enum End {
        case printed([UInt8])
        case printedTooMuch
        /// It failed; the text describes how.
        case ended(String)
        case timedOut
    }

    private let identifier: pid_t
    private let output: Int32

    /// Starts a program. A name without a slash is looked up on the search path.
    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - input: its standard input.
    init(_ words: [String], input: [UInt8]) throws(Failure) {
        let inputFile = try Self.file(with: input)
        defer { close(inputFile) }
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw Failure(errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let (reading, writing) = (ends[0], ends[1])
        defer { close(writing) }
        do throws(Failure) {
            identifier = try Self.start(words, input: inputFile, output: writing)
        } catch {
            close(reading)
            throw error
        }
        output = reading
    }

    deinit { close(output) }

    /// Makes a file for standard input. A pipe is not enough: some programs, such as openssl for Ed25519, query the
    /// length of their input, and the caller would have to write while they read.
    private static func file(with octets: [UInt8]) throws(Failure) -> Int32 {
        let url = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
        let descriptor = unsafe open(url.path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(errno) }
        // The file exists as long as a process has it open.
        _ = unsafe unlink(url.path)
        do {
            try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).write(contentsOf: Data(octets))
        } catch {
            close(descriptor)
            throw Failure(ENOSPC)
        }
        _ = lseek(descriptor, 0, SEEK_SET)
        return descriptor
    }

    private static func start(_ words: [String], input: Int32, output: Int32) throws(Failure) -> pid_t {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        try check(unsafe posix_spawn_file_actions_init(&actions))
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        try check(unsafe posix_spawnattr_init(&attributes))
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        try check(unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO))
        try check(unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO))
        try check(unsafe InheritedDescriptors.restrict(&actions))
        // Event loops make this process ignore SIGPIPE. A child, and the pipes of a shell, would inherit that.
        var signals = sigset_t()
        _ = unsafe sigemptyset(&signals)
        try check(unsafe posix_spawnattr_setsigmask(&attributes, &signals))
        _ = unsafe sigaddset(&signals, SIGPIPE)
        try check(unsafe posix_spawnattr_setsigdefault(&attributes, &signals))
        let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | InheritedDescriptors.flags
        try check(unsafe posix_spawnattr_setflags(&attributes, Int16(flags)))
        var arguments = unsafe copies(words)
        var environment = unsafe copies(ProcessInfo.processInfo.environment.map { "\($0)=\($1)" })
        defer { unsafe (arguments + environment).forEach { unsafe free($0) } }
        var identifier: pid_t = 0
        try check(unsafe posix_spawnp(&identifier, words[0], &actions, &attributes, &arguments, &environment))
        return identifier
    }

    private static func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe texts.map { unsafe strdup($0) } + [nil]
    }

    private static func check(_ number: Int32) throws(Failure) {
        guard number == 0 else { throw Failure(number) }
    }

    // MARK: End

    /// Waits until the program ends, and stops it after the limit. Blocks the thread.
    consuming func finish(within limit: Duration, atMost maximum: Int) -> End {
        let end = ContinuousClock.now + limit
        var octets: [UInt8] = []
        var isAtEnd = false
        while true {
            guard ContinuousClock.now < end else {
                stop()
                return .timedOut
            }
            var wait = pollfd(fd: isAtEnd ? -1 : output, events: Int16(POLLIN), revents: 0)
            // The poll has a timeout, because a child of the program may hold the pipe open forever.
            _ = unsafe poll(&wait, 1, 20)
            // The order matters: after the program has ended, all of its output can be read.
            let status = status()
            isAtEnd = drain(into: &octets, atMost: maximum) || isAtEnd
            guard octets.count <= maximum else {
                if status == nil { stop() }
                return .printedTooMuch
            }
            guard let status else { continue }
            let signal = status & 0x7F
            guard signal == 0 else { return .ended("that signal \(signal) ended it") }
            let code = status >> 8 & 0xFF
            return code == 0 ? .printed(octets) : .ended("exit code \(code)")
        }
    }

    /// - Returns: whether the output is complete.
    private func drain(into octets: inout [UInt8], atMost maximum: Int) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while octets.count <= maximum {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(output, $0.baseAddress, $0.count) }
            guard count > 0 else { return count == 0 || errno != EAGAIN && errno != EINTR }
            octets += buffer[..<count]
        }
        return false
    }

    /// The wait status; nil while the program runs.
    private func status() -> Int32? {
        var status: Int32 = 0
        return unsafe waitpid(identifier, &status, WNOHANG) == 0 ? nil : status
    }

    /// Ends the program, but gives it time to release the token first.
    private func stop() {
        kill(identifier, SIGTERM)
        for _ in 0..<100 {
            guard status() == nil else { return }
            _ = poll(nil, 0, 20)
        }
        kill(identifier, SIGKILL)
        var status: Int32 = 0
        while unsafe waitpid(identifier, &status, 0) < 0, errno == EINTR {}
    }
}
#endif
