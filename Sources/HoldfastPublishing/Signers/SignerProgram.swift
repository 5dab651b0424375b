#if os(macOS) || os(Linux)
import Foundation
public import Holdfast

/// An operator's program that signs with a key outside this process: in a token, a hardware security module or a key
/// service. It reads the bytes from standard input and prints the signature on standard output.
///
/// It keeps standard error and the terminal, so that it can ask for a PIN, or for a touch of the token.
public struct SignerProgram: Sendable {
    /// Why there is no signature. It never contains the program's arguments, because a PIN may be among them.
    public struct Failure: HoldfastError {
        /// The reasons, a set that may grow.
        public typealias Code = OpenCode<Failure>

        /// The reason.
        public let code: Code
        /// The expected value, the value that was found, and the fix.
        public let facts: ErrorFacts

        /// `code: expected …, found …. Remedy.`
        public var description: String { "\(code.rawValue): expected \(expected), found \(found). \(remedy)" }
    }

    /// The program and its arguments; never empty.
    public let words: [String]
    /// Maximum time for one signature.
    public let limit: Duration

    /// The longest accepted output, in bytes: a signature by an RSA key with 8192 bits. Anything longer is text.
    static let maximumOctets = 1_024

    /// Names a program; it is not started yet.
    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - limit: maximum time for one signature.
    /// - Throws: ``PublishingError`` `invalidInput` if the program is missing.
    public init(_ words: [String], limit: Duration = .seconds(120)) throws(PublishingError) {
        guard let program = words.first, !program.isEmpty else {
            throw PublishingError(.invalidInput, of: "signer", expected: "a program", found: "none")
        }
        self.words = words
        self.limit = limit
    }

    private var name: String { (words.first ?? "").quoted }

    /// Splits the value of an option. Blanks separate words, and quotes of either kind keep them together. Nothing else
    /// has a special meaning, because no shell reads it.
    /// - Returns: the words; nil if a quote is not closed, or if there is no word.
    public static func words(_ text: String) -> [String]? {
        var words: [String] = []
        var word: String?
        var quote: Character?
        for character in text {
            if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character == " " || character == "\t" || character.isNewline {
                if let done = word { words.append(done) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        if let word { words.append(word) }
        return quote == nil && !(words.first ?? "").isEmpty ? words : nil
    }

    /// Runs the program until it ends. It blocks the thread.
    /// - Parameter message: the bytes to sign; the program hashes them itself.
    /// - Returns: the output. The signature is not verified yet; `TUFSigningKey(publicKey:signing:)` does that.
    public func signature(for message: [UInt8]) throws(Failure) -> [UInt8] {
        let process: SignerProcess
        do {
            process = try SignerProcess(words, input: message)
        } catch {
            throw Failure(
                .notStarted, expected: "the program \(name)", found: "that it cannot be started: \(error.reason)",
                remedy: "Give the path of a program that can be run, with its arguments after it.")
        }
        let seconds = Int(limit.inSeconds)
        switch process.finish(within: limit, atMost: Self.maximumOctets) {
        case .printed(let octets) where octets.isEmpty:
            throw Failure(
                .silent, expected: "a signature on the standard output of \(name)", found: "nothing",
                remedy: "Let it print the signature there, not into a file.")
        case .printed(let octets): return octets
        case .printedTooMuch:
            throw Failure(
                .talkative, expected: "a signature, at most \(Self.maximumOctets) octets", found: "more from \(name)",
                remedy: "Let it print the octets of the signature and nothing else.")
        case .ended(let how):
            throw Failure(
                .failed, expected: "that \(name) ends with exit code 0", found: how,
                remedy: "Read what it said, and run it by hand; nothing was changed here.")
        case .timedOut:
            throw Failure(
                .timedOut, expected: "a signature by \(name) within \(SpanText.text(Int64(seconds)))", found: "none",
                remedy: "Unlock or touch the token in time, or give the program more time (--signer-timeout).")
        }
    }
}

extension SignerProgram.Failure {
    fileprivate init(_ code: Code, expected: String, found: String, remedy: String) {
        self.code = code
        facts = ErrorFacts(expected: expected, found: found, remedy: remedy)
    }
}

extension SignerProgram.Failure.Code {
    /// The program cannot be started.
    public static var notStarted: Self { Self() }
    /// The program ended with an error.
    public static var failed: Self { Self() }
    /// The program took too long, and was stopped.
    public static var timedOut: Self { Self() }
    /// The program printed nothing.
    public static var silent: Self { Self() }
    /// The program printed more than a signature.
    public static var talkative: Self { Self() }
}
#endif
