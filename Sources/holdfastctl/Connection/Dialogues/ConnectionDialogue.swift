/// A conversation in plaintext that comes before TLS, as a pure state machine: bytes of the peer in, actions out.
///
/// Whoever listens on the wire may have written what the peer seems to say; nothing of it is believed beyond the
/// question of how to begin with TLS.
protocol ConnectionDialogue: Sendable {
    /// What the client says before it has heard anything; nil where the peer speaks first.
    var opening: [UInt8]? { get }

    /// Takes from the input what it understands.
    mutating func hear(_ input: inout PlaintextInput) throws(DialogueFailure) -> DialogueAction
}

/// What a dialogue wants next.
enum DialogueAction: Equatable {
    /// To hear more.
    case wait
    case say([UInt8])
    /// To end after having said this; what comes next is TLS, or another dialogue.
    case finish(saying: [UInt8])

    static func say(line: String) -> DialogueAction { .say(Array("\(line)\r\n".utf8)) }
}

/// Why there is no TLS after a dialogue.
struct DialogueFailure: Error, Equatable {
    enum Kind: Equatable {
        /// The peer said no.
        case refused
        /// It said something that the protocol does not know.
        case malformed
        case tooLong
        /// It said more than it was asked, which would pass for protected if it were kept (CVE-2011-0411).
        case extraBytes
        case ended, timedOut
    }

    let kind: Kind
    let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// What a peer said, fit to be repeated in one line.
    static func quoted(_ text: some StringProtocol) -> String {
        // A character may have as many marks as it likes.
        let limit = 200
        var shown = String.UnicodeScalarView()
        shown.append(contentsOf: text.unicodeScalars.prefix(limit))
        return "'\(SafeText.escapedLine(String(shown)))\(text.unicodeScalars.count > limit ? "…" : "")'"
    }
}

/// What the peer has said and nobody has understood yet.
struct PlaintextInput {
    /// More than any server says before TLS, and little enough to be held.
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

    /// The next line without its end, CR LF; nil while it is not whole. What is not ASCII is a question mark in it: no
    /// word of these protocols has any, and comparing may take long with it.
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
