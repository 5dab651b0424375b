import Holdfast

/// A conversation in plaintext before TLS, as a pure state machine: the peer's bytes go in, and actions come out.
///
/// An attacker on the network may have written anything that the peer seems to say. Nothing of it is believed, except
/// how to begin with TLS.
protocol ConnectionDialogue: Sendable {
    /// What the client sends first; nil if the peer speaks first.
    var opening: [UInt8]? { get }

    /// Takes from the input what it understands, and says what to do.
    mutating func hear(_ input: inout PlaintextInput) throws(DialogueFailure) -> DialogueAction
}

/// What a dialogue wants next.
enum DialogueAction: Equatable {
    /// Wait for more input.
    case wait
    case say([UInt8])
    /// Send this and end. What follows is TLS, or another dialogue.
    case finish(saying: [UInt8])

    static func say(line: String) -> DialogueAction { .say(Array("\(line)\r\n".utf8)) }
}

/// Why there is no TLS after a dialogue.
struct DialogueFailure: Error, Equatable {
    enum Kind: Equatable {
        /// The peer refused.
        case refused
        /// The peer sent something that the protocol does not allow.
        case malformed
        case tooLong
        /// The peer sent more than it was asked for. If that were kept, it would pass for protected (CVE-2011-0411).
        case extraBytes
        case ended, timedOut
    }

    let kind: Kind
    let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// What a peer said, shortened and made safe to repeat in one line.
    static func quoted(_ text: some StringProtocol) -> String {
        // Of ASCII, each scalar is a character; others are escaped.
        let limit = 200
        var shown: [Character] = []
        for scalar in text.unicodeScalars {
            shown += scalar.escaped(asASCII: true)
            guard shown.count <= limit else { return "'\(String(shown.prefix(limit)))…'" }
        }
        return "'\(String(shown))'"
    }
}

/// The peer's input that was not consumed yet.
struct PlaintextInput {
    /// The most bytes: more than any server sends before TLS, and little enough to be kept in memory.
    static let limit = 16_384

    private(set) var pending: ArraySlice<UInt8> = []
    private var received = 0

    mutating func append(_ bytes: [UInt8]) throws(DialogueFailure) {
        guard bytes.count <= Self.limit - received else {
            throw DialogueFailure(.tooLong, "more than \(Self.limit) bytes came before TLS")
        }
        received += bytes.count
        pending += bytes
    }

    mutating func drop(_ count: Int) { pending = pending.dropFirst(count) }

    /// The next line without its CR LF; nil while it is incomplete. Octets that are not ASCII become question marks: no
    /// keyword of these protocols has any, and comparing them as text may take long.
    mutating func line() throws(DialogueFailure) -> String? {
        guard let end = pending.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = pending[pending.startIndex..<end]
        pending = pending[(end + 1)...]
        guard line.last == UInt8(ascii: "\r") else {
            throw DialogueFailure(.malformed, "a line does not end in CR LF")
        }
        return String(decoding: line.dropLast().map { $0 < 0x80 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
