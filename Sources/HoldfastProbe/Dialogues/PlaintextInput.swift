import Holdfast

/// Why TLS did not begin after the dialogue with a proxy.
struct DialogueFailure: Error, Equatable {
    enum Kind: Equatable {
        /// The peer refused.
        case refused
        /// The peer sent something that HTTP does not allow.
        case malformed
        case tooLong
        /// The peer sent more bytes than the protocol allows at this point. If they were kept, they would pass for
        /// protected data (CVE-2011-0411).
        case extraBytes
        case ended, timedOut
    }

    let kind: Kind
    let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The text that a peer sent, shortened and escaped so that it is safe to print on one line.
    static func quoted(_ text: some StringProtocol) -> String {
        // An ASCII scalar is one character; others are escaped.
        let limit = 200
        var shown: [Character] = []
        for scalar in text.unicodeScalars {
            shown += scalar.escaped(asASCII: true)
            guard shown.count <= limit else { return "'\(String(shown.prefix(limit)))…'" }
        }
        return "'\(String(shown))'"
    }
}

/// The peer's input that is not consumed yet.
struct PlaintextInput {
    /// Maximum number of bytes: more than any proxy sends before TLS, and small enough to keep in memory.
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

    /// The next line without its CR LF; nil while it is incomplete. Bytes that are not ASCII become question marks,
    /// because no keyword of the protocol contains them, and comparing them as text may take long.
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
