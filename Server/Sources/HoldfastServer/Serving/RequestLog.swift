import Logging
import NIOCore
import NIOHTTP1

/// Writes a line for each request of a listener: its id, what was asked, and what came of it. Queries, headers, bodies and
/// addresses of clients are not in it.
struct RequestLog: Sendable {
    /// A request whose answer is written.
    struct Entry {
        let id: RequestID
        let head: HTTPRequestHead
        let answer: ListenerAnswer
        /// When its head was read.
        let began: NIODeadline
    }

    /// Where lines go.
    let logger: Logger
    /// Which listener it is: `apps` or `administration`.
    let listener: String

    /// Longer paths are cut.
    private static let maximumPath = 128

    /// How much an answer matters: what somebody with a token changed is in the log by default. Strangers cannot fill it.
    private func level(_ method: HTTPMethod, _ answer: ListenerAnswer) -> Logger.Level {
        answer.caller != nil && method != .GET && method != .HEAD ? .info : .debug
    }

    /// Whether there is a line for an answer.
    func writes(_ method: HTTPMethod, _ answer: ListenerAnswer) -> Bool {
        logger.logLevel <= level(method, answer)
    }

    /// Writes a line.
    func write(_ entry: Entry) {
        let microseconds = (NIODeadline.now() - entry.began).nanoseconds / 1_000
        var metadata: Logger.Metadata = [
            "request": "\(entry.id.text)", "listener": "\(listener)",
            "method": "\(Self.text(entry.head.method.rawValue))",
            "path": "\(Self.text(entry.head.uri))", "status": "\(entry.answer.status.code)",
            "octets": "\(entry.answer.body.readableBytes)", "microseconds": "\(microseconds)",
        ]
        if let caller = entry.answer.caller { metadata["caller"] = "\(caller)" }
        logger.log(level: level(entry.head.method, entry.answer), "answered", metadata: metadata)
    }

    /// What a client wrote, as far as it can stand in a line.
    private static func text(_ text: String) -> String {
        let bytes = text.utf8.prefix(maximumPath).prefix { $0 != UInt8(ascii: "?") }
        return ASCIIText.isPrintable(bytes, 1...maximumPath) ? String(decoding: bytes, as: UTF8.self) : "-"
    }
}
