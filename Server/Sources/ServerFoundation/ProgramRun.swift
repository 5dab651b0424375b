package import Foundation

/// A running program of the operator.
///
/// It has a separate process group, which ends at the time limit, and with the program. A watchdog outside this process
/// ensures this if this process was stopped or killed: `timeout` of coreutils ends the program a second after the
/// limit, and the shell that leads the group ends the group with the program. The program's standard error is
/// discarded, because it may contain a PIN or messages of libraries that must not be logged.
package struct ProgramRun: ~Copyable {
    /// The outcome.
    package enum End: Sendable, Hashable {
        /// It exited with a code, and printed this.
        case ended(code: Int32, output: [UInt8])
        case signaled(Int32)
        case printedTooMuch
        case timedOut
        /// The system or the watchdog could not start it.
        case notStarted(String)
    }

    /// The treatment of its output.
    package enum Output: Sendable, Hashable {
        /// The output is read; a program that prints more bytes is ended.
        case atMost(Int)
        /// The output is discarded, regardless of its size.
        case discarded
    }

    private let identifier: pid_t
    private let output: Int32
    /// A file that only the shell of the watchdog writes: the exit code of the program.
    private let report: Int32

    /// Runs the program, reports its exit code, and ends the group, including itself. It waits for a program that was
    /// asked to end, and passes it no descriptor for the report. The watchdog is this process's own child, because the
    /// first process of a container may not reap others.
    private static let watchdog = """
        trap : TERM
        timeout --foreground --signal=KILL "$@" 3>&-
        echo $? >&3
        kill -KILL 0
        """

    /// Exit codes of `timeout`, the shell and `env`: it failed, the program cannot be run, the program does not exist.
    private static let notStartedCodes: [Int32: String] = [
        125: "the watchdog could not start it", 126: "it cannot be run", 127: "there is no such program",
    ]

    /// Runs a program to its end, on a separate thread.
    /// - Parameters:
    ///   - command: the program, its arguments and its deadline.
    ///   - input: its standard input.
    ///   - folder: its working folder; nil for that of this process.
    ///   - environment: its variables; nil for those of ``ProgramEnvironment``.
    ///   - output: the treatment of its output.
    package static func run(
        _ command: ProgramCommand, input: [UInt8], in folder: URL? = nil, environment: [String: String]? = nil,
        output: Output
    ) async -> End {
        await withCheckedContinuation { done in
            onThread {
                done.resume(
                    returning: runBlocking(
                        command, input: input, in: folder, environment: environment, output: output))
            }
        }
    }

    /// Runs a program to its end, and blocks the thread.
    package static func runBlocking(
        _ command: ProgramCommand, input: [UInt8], in folder: URL? = nil, environment: [String: String]? = nil,
        output: Output
    ) -> End {
        let run: ProgramRun
        do throws(StartFailure) {
            run = try ProgramRun(command, input: input, in: folder, environment, output)
        } catch {
            return .notStarted(SystemText.of(error.number))
        }
        // Discarded output never arrives here.
        let maximum = if case .atMost(let maximum) = output { maximum } else { 0 }
        let end = run.finish(within: .seconds(command.limit), atMost: maximum)
        if case .ended(let code, _) = end, let words = notStartedCodes[code] { return .notStarted(words) }
        return end
    }

    /// Runs a closure that may block on a new thread. Threads of Swift's pool must not block: there are as many as
    /// cores, and on Linux the queues of Dispatch use the same.
    static func onThread(_ body: @escaping @Sendable () -> Void) { Thread.detachNewThread(body) }

    private struct StartFailure: Error {
        let number: Int32
    }

    /// The descriptors for the program and its watchdog.
    private struct Descriptors {
        let input: Int32
        let output: Int32
        let report: Int32
    }

    private init(
        _ command: ProgramCommand, input: [UInt8], in folder: URL?, _ environment: [String: String]?, _ output: Output
    ) throws(StartFailure) {
        let inputFile = try Self.file(with: input)
        defer { close(inputFile) }
        let reportFile = try Self.file(with: [])
        let (reading, writing): (Int32, Int32)
        do throws(StartFailure) {
            (reading, writing) = try Self.ends(output)
        } catch {
            close(reportFile)
            throw error
        }
        defer { close(writing) }
        let place = folder.map { ["env", "--chdir=\($0.path)"] } ?? []
        let words = ["/bin/sh", "-c", Self.watchdog, "sh", "\(command.limit + 1)"] + place + command.words
        do throws(StartFailure) {
            identifier = try Self.start(
                words, environment ?? ProgramEnvironment.inherited(),
                Descriptors(input: inputFile, output: writing, report: reportFile))
        } catch {
            close(reading)
            close(reportFile)
            throw error
        }
        self.output = reading
        report = reportFile
    }

    /// The ends of the output: the one to read, and the one that the program writes.
    private static func ends(_ output: Output) throws(StartFailure) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        switch output {
        case .atMost:
            guard unsafe pipe(&ends) == 0 else { throw StartFailure(number: errno) }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        case .discarded:
            ends = [unsafe open("/dev/null", O_RDONLY | O_CLOEXEC), unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)]
            guard ends.allSatisfy({ $0 >= 0 }) else {
                let number = errno
                for end in ends where end >= 0 { close(end) }
                throw StartFailure(number: number)
            }
        }
        return (ends[0], ends[1])
    }

    deinit {
        close(output)
        close(report)
    }

    /// An unlinked file, which disappears once it is closed, so that no thread has to write while the program reads its
    /// standard input.
    private static func file(with bytes: [UInt8]) throws(StartFailure) -> Int32 {
        let url = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
        let descriptor = unsafe open(url.path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600 as mode_t)
        guard descriptor >= 0 else { throw StartFailure(number: errno) }
        _ = unsafe unlink(url.path)
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
            guard written > 0 else {
                close(descriptor)
                throw StartFailure(number: ENOSPC)
            }
            rest = rest.dropFirst(written)
        }
        _ = lseek(descriptor, 0, SEEK_SET)
        return descriptor
    }

    private static func start(
        _ words: [String], _ variables: [String: String], _ descriptors: Descriptors
    ) throws(StartFailure) -> pid_t {
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
        try check(unsafe posix_spawn_file_actions_adddup2(&actions, descriptors.input, STDIN_FILENO))
        try check(unsafe posix_spawn_file_actions_adddup2(&actions, descriptors.output, STDOUT_FILENO))
        try check(unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0))
        // No descriptor that is still needed has the number 3; if the report has it already, this clears FD_CLOEXEC.
        try check(unsafe posix_spawn_file_actions_adddup2(&actions, descriptors.report, 3))
        try check(unsafe InheritedDescriptors.restrict(&actions))
        // Event loops make this process ignore SIGPIPE, and a child would inherit that.
        var signals = sigset_t()
        _ = unsafe sigemptyset(&signals)
        try check(unsafe posix_spawnattr_setsigmask(&attributes, &signals))
        _ = unsafe sigaddset(&signals, SIGPIPE)
        try check(unsafe posix_spawnattr_setsigdefault(&attributes, &signals))
        try check(unsafe posix_spawnattr_setpgroup(&attributes, 0))
        let flags =
            POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP | InheritedDescriptors.flags
        try check(unsafe posix_spawnattr_setflags(&attributes, Int16(flags)))
        var arguments = unsafe copies(words)
        var environment = unsafe copies(variables.map { "\($0)=\($1)" })
        defer { unsafe (arguments + environment).forEach { unsafe free($0) } }
        var identifier: pid_t = 0
        try check(unsafe posix_spawnp(&identifier, words[0], &actions, &attributes, &arguments, &environment))
        return identifier
    }

    private static func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe texts.map { unsafe strdup($0) } + [nil]
    }

    private static func check(_ number: Int32) throws(StartFailure) {
        guard number == 0 else { throw StartFailure(number: number) }
    }

    // MARK: The end

    private consuming func finish(within limit: Duration, atMost maximum: Int) -> End {
        let end = ContinuousClock.now + limit
        var bytes: [UInt8] = []
        var isAtEnd = false
        while true {
            guard ContinuousClock.now < end else {
                stop()
                return .timedOut
            }
            var wait = pollfd(fd: isAtEnd ? -1 : output, events: Int16(POLLIN), revents: 0)
            // The timeout is needed because a child of the program may hold the pipe open forever.
            _ = unsafe poll(&wait, 1, 20)
            // The order matters: once the program has ended, all of its output can be read.
            let hasEnded = hasEnded()
            isAtEnd = drain(into: &bytes, atMost: maximum) || isAtEnd
            guard bytes.count <= maximum else {
                stop()
                return .printedTooMuch
            }
            guard hasEnded else { continue }
            let status = stop()
            if let code = reportedCode() {
                // The shell's convention for a program ended by a signal.
                return code > 128 ? .signaled(code - 128) : .ended(code: code, output: bytes)
            }
            let signal = status & 0x7F
            // On a busy machine the watchdog may act first, a second after the limit.
            if signal == SIGKILL, ContinuousClock.now >= end { return .timedOut }
            return signal == 0 ? .ended(code: status >> 8 & 0xFF, output: bytes) : .signaled(signal)
        }
    }

    /// The exit code that the watchdog recorded; nil if it was ended before.
    private func reportedCode() -> Int32? {
        var buffer = [UInt8](repeating: 0, count: 8)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe pread(report, $0.baseAddress, $0.count, 0) }
        return Self.code(in: buffer.prefix(max(0, count)))
    }

    /// The exit code in a line; nil for anything else.
    package static func code(in line: some BidirectionalCollection<UInt8>) -> Int32? {
        guard line.last == 0x0A, line.dropLast().allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt8(String(decoding: line.dropLast(), as: UTF8.self)).map { Int32($0) }
    }

    /// - Returns: whether the output is complete.
    private func drain(into bytes: inout [UInt8], atMost maximum: Int) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while bytes.count <= maximum {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(output, $0.baseAddress, $0.count) }
            guard count > 0 else { return count == 0 || errno != EAGAIN && errno != EINTR }
            bytes += buffer[..<count]
        }
        return false
    }

    /// Whether it has ended. It is not reaped yet, so no other process gets its number.
    private func hasEnded() -> Bool {
        var information = unsafe siginfo_t()
        guard unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOHANG | WNOWAIT) == 0 else {
            return errno != EINTR
        }
        return unsafe information.si_signo != 0
    }

    /// Ends the whole group, including background processes of the program, and reaps it.
    @discardableResult
    private func stop() -> Int32 {
        if !hasEnded() {
            // SIGTERM first, so that it can release a hardware token.
            kill(-identifier, SIGTERM)
            for _ in 0..<50 {
                if hasEnded() { break }
                _ = poll(nil, 0, 20)
            }
        }
        kill(-identifier, SIGKILL)
        var status: Int32 = 0
        while unsafe waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        return status
    }
}
