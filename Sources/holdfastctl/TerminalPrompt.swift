import Foundation

/// Asks for secrets on the terminal itself, whatever standard input and output are.
enum TerminalPrompt {
    /// Control-C, which is an octet like any other while nobody may end the program with the echo off.
    private static let interrupt: UInt8 = 3

    /// A password, without echo.
    static func password(_ prompt: String, repeating: Bool) throws(CommandFailure) -> [UInt8] {
        let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard terminal >= 0 else {
            throw CommandFailure(
                .wrongUsage, "a password is needed and there is no terminal: give --password-file or --password-fd")
        }
        defer { close(terminal) }
        var settings = termios()
        guard unsafe tcgetattr(terminal, &settings) == 0 else {
            throw CommandFailure(.unreadableFile, "the terminal cannot be set up to read a password")
        }
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO | ISIG)
        unsafe tcsetattr(terminal, TCSANOW, &silent)
        defer { unsafe tcsetattr(terminal, TCSANOW, &settings) }
        let handle = FileHandle(fileDescriptor: terminal, closeOnDealloc: false)
        let first = try line(prompt, on: handle)
        guard repeating else { return first }
        guard try line("Once more: ", on: handle) == first else {
            throw CommandFailure(.wrongUsage, "the two passwords differ")
        }
        return first
    }

    private static func line(_ prompt: String, on terminal: FileHandle) throws(CommandFailure) -> [UInt8] {
        var line: [UInt8] = []
        do {
            try terminal.write(contentsOf: Data(SafeText.escapedLine(prompt).utf8))
            while let octet = try terminal.read(upToCount: 1)?.first, octet != 0x0A {
                guard octet != interrupt else { throw CocoaError(.userCancelled) }
                line.append(octet)
            }
            try terminal.write(contentsOf: Data("\n".utf8))
        } catch {
            throw CommandFailure(.unreadableFile, "no password was given")
        }
        return line
    }
}
