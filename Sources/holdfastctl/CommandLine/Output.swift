import Foundation
import Holdfast

/// Standard output and standard error, the only way by which anything is printed.
///
/// Whatever is printed is made safe for a terminal first; colours are added after that, and only where they are wanted.
struct Output: Sendable {
    /// What a piece of a line means.
    enum Style: Sendable {
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
    struct Piece: Sendable {
        let text: String
        let style: Style

        init(_ text: String, _ style: Style = .plain) {
            self.text = text
            self.style = style
        }
    }

    static let standard = Output(
        usesColour: wantsColour(
            isTerminal: isatty(STDOUT_FILENO) == 1, environment: ProcessInfo.processInfo.environment))

    let usesColour: Bool
    /// Whether everything goes to standard error.
    var isForErrors = false

    /// Colours are for terminals that can show them, and for people who have not said no (https://no-color.org).
    static func wantsColour(isTerminal: Bool, environment: [String: String]) -> Bool {
        isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    func rendered(_ pieces: [Piece]) -> String {
        pieces.map { piece in
            let text = SafeText.escaped(piece.text)
            guard usesColour, let code = piece.style.code, !text.isEmpty else { return text }
            return "\u{1B}[\(code)m\(text)\u{1B}[0m"
        }.joined()
    }

    func line(_ first: Piece, _ rest: Piece...) { printAsIs(rendered([first] + rest)) }

    func line(_ text: String = "", _ style: Style = .plain) { printAsIs(rendered([Piece(text, style)])) }

    func heading(_ text: String) { line(text, .heading) }

    /// One JSON object, keys in order, on standard output.
    func json(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        printAsIs(SafeText.escapedInJSON(String(decoding: try encoder.encode(value), as: UTF8.self)))
    }

    /// One JSON object in one line, keys in order, on standard output.
    func jsonLine(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        printAsIs(SafeText.escapedInJSON(String(decoding: try encoder.encode(value), as: UTF8.self)))
    }

    /// Takes what would be printed, on either of the two, where a test runs the command inside its own process.
    @TaskLocal static var listener: (@Sendable (String) -> Void)?

    /// Text of the program's own.
    func printAsIs(_ text: String) {
        if let listener = Self.listener { return listener(text + "\n") }
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

    /// Whether the program ends when nobody reads what it prints. One that publishes again and again does not.
    static let endsWithReader = Lock(true)

    /// By the signal that ends other programs then, which the event loops have switched off: `| head -1` is no error.
    private static func endAsReaderDid() {
        _ = signal(SIGPIPE, SIG_DFL)
        kill(getpid(), SIGPIPE)
        // Some other thread may get it, a moment later.
        _ = poll(nil, 0, 5_000)
        exit(128 + SIGPIPE)
    }

    /// Why standard output took less than was printed; nil while it took everything.
    static var whatWasLost: String? { failure.withLock { $0 }.map(KeyFile.reason) }

    private static let failure = Lock<Int32?>(nil)

    /// Straight to the descriptor: what a buffer of the C library cannot write when the program ends, nobody is told.
    /// - Returns: the number of the error; nil where all was written.
    private static func write(_ octets: [UInt8], to descriptor: Int32) -> Int32? {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // A pipe that somebody else has set up not to block.
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&wait, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }

    /// An error or a warning, on standard error.
    func complain(_ message: String) { complainAsIs("holdfastctl: " + message) }

    /// On standard error, without the name of the program.
    func complainAsIs(_ message: String) {
        if let listener = Self.listener { return listener(SafeText.escaped(message) + "\n") }
        // Where it cannot be said there is nobody to tell.
        _ = Self.write(Array((SafeText.escaped(message) + "\n").utf8), to: STDERR_FILENO)
    }
}

extension String {
    /// Filled up with spaces; a longer text stays whole.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
