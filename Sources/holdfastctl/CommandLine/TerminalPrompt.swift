import Foundation
import HoldfastOutput

/// Asks for secrets on the terminal itself, even if standard input or output is redirected.
enum TerminalPrompt {
    /// Asks for a password without echo.
    static func password(_ prompt: String, repeating: Bool) throws(CommandFailure) -> [UInt8] {
        let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else {
            throw CommandFailure(
                .wrongUsage, "a password is needed and there is no terminal: give --password-file or --password-fd")
        }
        defer { close(terminal) }
        let first = try line(prompt, on: terminal)
        guard repeating else { return first }
        guard try line("Once more: ", on: terminal) == first else {
            throw CommandFailure(.wrongUsage, "the two passwords differ")
        }
        return first
    }

    /// Allows a secret to be printed: into a pipe or a file without asking, on a terminal only after the user confirms.
    static func confirmPrinting(_ what: String) throws(CommandFailure) {
        guard isatty(STDOUT_FILENO) == 1 else { return }
        let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC)
        defer { if terminal >= 0 { close(terminal) } }
        let question = "Standard output is a terminal. Show \(what) on it? [yes/no] "
        guard terminal >= 0,
            try String(decoding: line(question, on: terminal, showing: true), as: UTF8.self).lowercased() == "yes"
        else {
            throw CommandFailure(
                .wrongUsage, "\(what) was not printed: send it into a pipe or a file, or answer yes")
        }
    }

    /// Asks again after the program was stopped and continued. Any other signal ends the program as usual.
    private static func line(
        _ prompt: String, on terminal: Int32, showing isShown: Bool = false
    ) throws(CommandFailure) -> [UInt8] {
        let missing = CommandFailure(.unreadableFile, isShown ? "no answer was given" : "no password was given")
        while true {
            let answer: Answer
            do {
                let signals = try PromptSignals()
                // The order matters: when a signal takes effect, the echo is on again.
                defer { signals.restore() }
                let echo = isShown ? nil : try TerminalEcho(off: terminal)
                defer { echo?.restore() }
                try write(prompt, to: terminal)
                answer = try read(from: terminal, until: signals)
                if !isShown { try write("\n", to: terminal) }
            } catch {
                throw missing
            }
            switch answer {
            case .line(let octets): return octets
            case .signal(let number):
                guard PromptSignals.deliver(number) else { throw missing }
            }
        }
    }

    private enum Answer {
        case line([UInt8])
        case signal(Int32)
    }

    private static func write(_ text: String, to terminal: Int32) throws {
        try FileHandle(fileDescriptor: terminal, closeOnDealloc: false)
            .write(contentsOf: Data(text == "\n" ? text.utf8 : SafeText.escapedLine(text).utf8))
    }

    private static func read(from terminal: Int32, until signals: PromptSignals) throws -> Answer {
        var line: [UInt8] = []
        while true {
            if let number = try signals.next(before: terminal) { return .signal(number) }
            var octet: UInt8 = 0
            let count = unsafe Foundation.read(terminal, &octet, 1)
            guard count >= 0 || errno == EINTR else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
            guard count >= 0 else { continue }
            guard count == 1, octet != 0x0A else { return .line(line) }
            line.append(octet)
        }
    }
}

/// Switches the terminal's echo off until it is restored.
private struct TerminalEcho {
    private let terminal: Int32
    private let settings: termios

    init(off terminal: Int32) throws {
        var settings = termios()
        guard unsafe tcgetattr(terminal, &settings) == 0 else { throw POSIXError(.ENOTTY) }
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO)
        guard unsafe tcsetattr(terminal, TCSANOW, &silent) == 0 else { throw POSIXError(.ENOTTY) }
        self.terminal = terminal
        self.settings = settings
    }

    func restore() {
        var settings = settings
        _ = unsafe tcsetattr(terminal, TCSANOW, &settings)
    }
}
