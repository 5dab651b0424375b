import Foundation

/// Handles signals that would end or stop the program in the middle of a prompt, while echo is off. They are noted, and
/// take effect when the terminal's settings have been restored.
///
/// The handler writes the signal's number into a pipe, and the prompt waits for the pipe and the terminal together.
/// That is necessary because a signal interrupts only one thread, which need not be the one that reads.
struct PromptSignals {
    private static let numbers = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT]

    /// The end of the pipe that the handler writes to; the command asks one question at a time.
    nonisolated(unsafe) private static var pipeForHandler: Int32 = -1

    private let pipe: (reading: Int32, writing: Int32)
    private let previous: [(number: Int32, action: sigaction)]

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard unsafe Foundation.pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        pipe = (ends[0], ends[1])
        unsafe Self.pipeForHandler = ends[1]
        var previous: [(number: Int32, action: sigaction)] = []
        for number in Self.numbers {
            var old = sigaction()
            unsafe sigaction(number, nil, &old)
            // A signal that is ignored, such as SIGINT in a background program, stays ignored.
            guard !old.isIgnored else { continue }
            var new = sigaction.handling { number in
                let saved = errno
                var octet = UInt8(truncatingIfNeeded: number)
                _ = unsafe write(PromptSignals.pipeForHandler, &octet, 1)
                errno = saved
            }
            unsafe sigaction(number, &new, nil)
            previous.append((number, old))
        }
        self.previous = previous
    }

    func restore() {
        for (number, action) in previous {
            var action = action
            unsafe sigaction(number, &action, nil)
        }
        close(pipe.reading)
        close(pipe.writing)
    }

    /// Waits for a signal or for something to read.
    /// - Returns: the number of the signal; nil if there is something to read.
    func next(before terminal: Int32) throws -> Int32? {
        var waits = [
            pollfd(fd: pipe.reading, events: Int16(POLLIN), revents: 0),
            pollfd(fd: terminal, events: Int16(POLLIN), revents: 0),
        ]
        while unsafe poll(&waits, nfds_t(waits.count), -1) < 0 {
            guard errno == EINTR else { throw POSIXError(.EIO) }
        }
        guard waits[0].revents != 0 else { return nil }
        var octet: UInt8 = 0
        guard unsafe read(pipe.reading, &octet, 1) == 1 else { throw POSIXError(.EIO) }
        return Int32(octet)
    }

    /// Lets a signal have its usual effect.
    /// - Returns: whether the program continues, because it was stopped and continued.
    static func deliver(_ number: Int32) -> Bool {
        guard number != SIGCONT else { return true }
        // The handlers of Swift's runtime must not get it: they would print a backtrace with memory and registers.
        _ = signal(number, SIG_DFL)
        kill(getpid(), number)
        // Another thread may receive the signal, a moment later.
        _ = poll(nil, 0, number == SIGTSTP ? 100 : 5_000)
        return number == SIGTSTP
    }
}

extension sigaction {
    #if canImport(Darwin)
    static func handling(_ handler: @escaping @convention(c) (Int32) -> Void) -> sigaction {
        unsafe sigaction(__sigaction_u: .init(__sa_handler: handler), sa_mask: 0, sa_flags: 0)
    }

    var isIgnored: Bool { unsafe unsafeBitCast(__sigaction_u.__sa_handler, to: Int.self) == 1 }
    #else
    static func handling(_ handler: @escaping @convention(c) (Int32) -> Void) -> sigaction {
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = handler
        return action
    }

    var isIgnored: Bool { unsafe unsafeBitCast(__sigaction_handler.sa_handler, to: Int.self) == 1 }
    #endif
}
