import Foundation

/// Tells a program of the operator: the notice is its standard input, one line of JSON, and exit code 0 says that it was
/// taken. It gets no variables of the server's environment but the search path, and nothing that it prints is read.
struct NoticeProgram: NoticeTarget {
    let name = "program"
    /// The program, by its whole path.
    let path: String
    /// How long it may run.
    var limit: Duration = .seconds(30)

    func deliver(_ notice: Notice) async -> String? {
        // None of Swift's threads waits for the program.
        await withCheckedContinuation { continuation in
            ProgramRun.onThread { continuation.resume(returning: run(notice)) }
        }
    }

    private func run(_ notice: Notice) -> String? {
        do throws(ProgramFailure) {
            let input = try Self.file(with: notice.octets + [0x0A])
            defer { close(input) }
            let output = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
            defer { close(output) }
            return finish(try start(notice, input, output))
        } catch {
            return error.words
        }
    }

    /// A file and no pipe: a program that reads nothing does not stop whoever writes.
    private static func file(with octets: [UInt8]) throws(ProgramFailure) -> Int32 {
        let url = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
        let descriptor = unsafe open(url.path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600 as mode_t)
        guard descriptor >= 0 else { throw ProgramFailure(errno) }
        // The file exists as long as somebody has it open.
        _ = unsafe unlink(url.path)
        let count = unsafe octets.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        guard count == octets.count else {
            close(descriptor)
            throw ProgramFailure(ENOSPC)
        }
        _ = lseek(descriptor, 0, SEEK_SET)
        return descriptor
    }

    /// Starts it in a process group of its own, so that what it starts ends with it, and with the signals that programs
    /// expect: event loops block and ignore some.
    private func start(_ notice: Notice, _ input: Int32, _ output: Int32) throws(ProgramFailure) -> pid_t {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #else
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #endif
        try Self.check(unsafe posix_spawn_file_actions_init(&actions))
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        try Self.check(unsafe posix_spawnattr_init(&attributes))
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        try Self.check(unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO))
        try Self.check(unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO))
        try Self.check(unsafe posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO))
        var signals = sigset_t()
        _ = unsafe sigemptyset(&signals)
        try Self.check(unsafe posix_spawnattr_setsigmask(&attributes, &signals))
        _ = unsafe sigaddset(&signals, SIGPIPE)
        try Self.check(unsafe posix_spawnattr_setsigdefault(&attributes, &signals))
        try Self.check(unsafe posix_spawnattr_setpgroup(&attributes, 0))
        try Self.check(
            unsafe posix_spawnattr_setflags(
                &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP)))
        let search = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        var arguments = unsafe Self.copies([path])
        var environment = unsafe Self.copies([
            "PATH=\(search)", "HOLDFAST_NOTICE=\(notice.kind.rawValue)", "HOLDFAST_NOTICE_ID=\(notice.id)",
        ])
        defer { unsafe (arguments + environment).forEach { unsafe free($0) } }
        var program: pid_t = 0
        try Self.check(unsafe posix_spawn(&program, path, &actions, &attributes, &arguments, &environment))
        return program
    }

    private static func copies(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe texts.map { unsafe strdup($0) } + [nil]
    }

    private static func check(_ number: Int32) throws(ProgramFailure) {
        guard number == 0 else { throw ProgramFailure(number) }
    }

    /// Waits until it ends, and ends it if that takes too long. What it left behind in its group ends as well.
    private func finish(_ program: pid_t) -> String? {
        let end = ContinuousClock.now + limit
        var isLate = false
        while !Self.hasEnded(program) {
            if ContinuousClock.now >= end {
                isLate = true
                break
            }
            _ = poll(nil, 0, 20)
        }
        // Until it is waited for, nobody else has its number.
        kill(-program, SIGKILL)
        kill(program, SIGKILL)
        var status: Int32 = 0
        while unsafe waitpid(program, &status, 0) < 0, errno == EINTR {}
        if isLate { return "it did not end within \(limit)" }
        let signal = status & 0x7F
        guard signal == 0 else { return "signal \(signal) ended it" }
        let code = status >> 8 & 0xFF
        return code == 0 ? nil : "it ended with exit code \(code)"
    }

    /// Whether it has ended; it can be waited for all the same.
    private static func hasEnded(_ program: pid_t) -> Bool {
        var found = unsafe siginfo_t()
        let options = WEXITED | WNOHANG | WNOWAIT
        guard unsafe waitid(P_PID, id_t(program), &found, options) == 0 else { return true }
        return unsafe found.si_signo != 0
    }
}

/// Why a program could not be started.
private struct ProgramFailure: Error {
    let words: String

    init(_ number: Int32) { words = "it could not be started: \(SystemText.of(number))" }
}
