import Foundation
package import Holdfast

/// Standard output and standard error of the package's commands. They print in no other way.
///
/// All text is first made safe for a terminal. Colors are added after that, and only if they are wanted.
package struct Output: Sendable {
    /// The meaning of a piece of a line.
    package enum Style: Sendable {
        case plain, heading, good, bad, faint

        fileprivate var code: String? {
            switch self {
            case .plain: nil
            case .heading: "1"
            case .good: "32"
            case .bad: "1;31"
            case .faint: "2"
            }
        }
    }

    /// A piece of a line.
    package struct Piece: Sendable {
        package let text: String
        package let style: Style

        package init(_ text: String, _ style: Style = .plain) {
            self.text = text
            self.style = style
        }
    }

    package static let standard = Output(usesColor: isColorWanted)

    private static let isColorWanted = wantsColor(
        isTerminal: isatty(STDOUT_FILENO) == 1, environment: ProcessInfo.processInfo.environment)

    package let usesColor: Bool
    /// Whether everything goes to standard error.
    package let isForErrors: Bool

    package init(usesColor: Bool, isForErrors: Bool = false) {
        self.usesColor = usesColor
        self.isForErrors = isForErrors
    }

    /// Whether to use colors: on terminals that support them, unless the user has disabled them (https://no-color.org).
    package static func wantsColor(isTerminal: Bool, environment: [String: String]) -> Bool {
        isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    package func rendered(_ pieces: [Piece]) -> String {
        pieces.map { piece in
            let text = SafeText.escaped(piece.text)
            guard usesColor, let code = piece.style.code, !text.isEmpty else { return text }
            return "\u{1B}[\(code)m\(text)\u{1B}[0m"
        }.joined()
    }

    package func line(_ first: Piece, _ rest: Piece...) { printAsIs(rendered([first] + rest)) }

    package func line(_ text: String = "", _ style: Style = .plain) { printAsIs(rendered([Piece(text, style)])) }

    package func heading(_ text: String) { line(text, .heading) }

    /// Prints one JSON object in one line, with its keys sorted, and with the version of the fields (docs/formats.md).
    package func json(_ value: some Encodable) throws { printAsIs(try Self.jsonText(value)) }

    /// The output of ``json(_:)``, without the line feed.
    package static func jsonText(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(JSONAnswer(value))
        return SafeText.escapedInJSON(String(decoding: data, as: UTF8.self))
    }

    /// Receives printed text, and whether it is for standard error, if a test runs the command in its own process.
    @TaskLocal package static var listener: (@Sendable (_ text: String, _ isForErrors: Bool) -> Void)?

    /// Prints the program's own text, without escaping it.
    package func printAsIs(_ text: String) {
        if let listener = Self.listener { return listener(text + "\n", isForErrors) }
        let octets = Array((text + "\n").utf8)
        guard !isForErrors else {
            _ = Self.write(octets, to: STDERR_FILENO)
            return
        }
        let failure = Self.failure.withLock { failure in
            if failure == nil { failure = Self.write(octets, to: STDOUT_FILENO) }
            return failure
        }
        if failure == EPIPE, Self.endsWithReader.withLock({ $0 }) { Self.endAsReaderDid() }
    }

    /// Whether the program ends when its output has no reader anymore. A program that publishes repeatedly does not.
    package static let endsWithReader = Lock(true)

    /// Ends the program with SIGPIPE, as other programs end, so that `| head -1` is not an error. The event loops have
    /// disabled that signal.
    private static func endAsReaderDid() {
        _ = signal(SIGPIPE, SIG_DFL)
        kill(getpid(), SIGPIPE)
        // Another thread may receive the signal, a moment later.
        _ = poll(nil, 0, 5_000)
        exit(128 + SIGPIPE)
    }

    /// The error of standard output; nil if it accepted everything.
    package static var whatWasLost: String? {
        failure.withLock { $0 }.map { unsafe String(cString: strerror($0)) }
    }

    private static let failure = Lock<Int32?>(nil)

    /// Writes directly to the descriptor: the C library reports no error if its buffer cannot be written at the
    /// program's end.
    /// - Returns: the number of the error; nil if everything was written.
    private static func write(_ octets: [UInt8], to descriptor: Int32) -> Int32? {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // Another program has set this pipe to non-blocking.
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&wait, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }

    /// Prints on standard error, without the name of the program.
    package func complainAsIs(_ message: String) {
        let text = SafeText.escaped(message) + "\n"
        if let listener = Self.listener { return listener(text, true) }
        // If this fails, no output is left for an error.
        _ = Self.write(Array(text.utf8), to: STDERR_FILENO)
    }
}

extension String {
    /// The text, padded with spaces. A longer text is not cut.
    package func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
