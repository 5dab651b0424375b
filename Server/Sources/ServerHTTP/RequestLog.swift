package import Logging
import NIOCore
import NIOHTTP1
import ServerFoundation

/// Writes a line for each request of a listener: its id, the request and the result. It omits queries, headers, bodies
/// and addresses of clients.
package struct RequestLog: Sendable {
    /// A request and its response.
    package struct Entry {
        let id: RequestID
        let head: HTTPRequestHead
        let answer: ListenerAnswer
        /// The time at which its head was read.
        let began: NIODeadline
    }

    /// The destination of the lines.
    package let logger: Logger
    /// The name of the listener: `apps` or `administration`.
    package let listener: String

    package init(logger: Logger, listener: String) {
        self.logger = logger
        self.listener = listener
    }

    /// Maximum length of a path; longer ones are cut.
    private static let maximumPath = 128

    /// The level of a line: changes by known callers are logged by default. Anonymous clients cannot fill the log.
    private func level(_ method: HTTPMethod, _ answer: ListenerAnswer) -> Logger.Level {
        answer.caller != nil && method != .GET && method != .HEAD ? .info : .debug
    }

    /// Whether a response is logged.
    func writes(_ method: HTTPMethod, _ answer: ListenerAnswer) -> Bool {
        logger.logLevel <= level(method, answer)
    }

    /// Writes a line.
    package func write(_ entry: Entry) {
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

    /// Text from a client, cut and replaced by "-" if it is not printable.
    private static func text(_ text: String) -> String {
        let bytes = text.utf8.prefix(maximumPath).prefix { $0 != UInt8(ascii: "?") }
        return ASCIIText.isPrintable(bytes, 1...maximumPath) ? String(decoding: bytes, as: UTF8.self) : "-"
    }
}
